// Shows the window where OpenGL is drawn by the processor. Our own rasteriser takes a third of the
// time that Mesa takes for the same triangles, and that time is taken from training. It draws only the tiles that
// changed; OpenGL only shows the picture.
#pragma once

#include "app/headless/damage.h"
#include "app/headless/raster.h"

struct ImDrawData;

namespace normscope::headless {

class SoftwareScreen {
 public:
  SoftwareScreen() = default;
  ~SoftwareScreen();
  SoftwareScreen(const SoftwareScreen&) = delete;
  SoftwareScreen& operator=(const SoftwareScreen&) = delete;

  // Needs the current OpenGL 3 context, as the destructor does. It returns false when the context lacks what it
  // takes: nothing was drawn then, and nothing will be.
  bool show(const ImDrawData&, uint32_t background);

 private:
  bool prepare();
  void resize(int width, int height);
  void upload(const Tiles& changed);

  enum class State { Fresh, Ready, Useless } state_ = State::Fresh;
  Damage damage_;
  Image image_;  // as large as the texture
  unsigned texture_ = 0, framebuffer_ = 0;
};

}  // namespace normscope::headless
