// The window where OpenGL is drawn by the processor: our own rasteriser makes the picture (a third of the
// time that Mesa's takes for the same triangles, and that time is taken from training), OpenGL only shows it.
#pragma once

#include "app/headless/raster.h"

struct ImDrawData;

namespace normscope {

class SoftwareScreen {
 public:
  SoftwareScreen() = default;
  ~SoftwareScreen();
  SoftwareScreen(const SoftwareScreen&) = delete;
  SoftwareScreen& operator=(const SoftwareScreen&) = delete;

  // Needs the current OpenGL 3 context, as the destructor does. False when it lacks what this takes: nothing
  // was drawn then, nor will be.
  bool show(const ImDrawData&, uint32_t background);

 private:
  bool prepare();
  void resize(int width, int height);

  enum class State { Fresh, Ready, Useless } state_ = State::Fresh;
  raster::Image image_;
  unsigned texture_ = 0, framebuffer_ = 0;
  int width_ = 0, height_ = 0;  // of the texture
};

}  // namespace normscope
