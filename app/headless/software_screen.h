// Draws the window where OpenGL itself runs on the CPU. Our rasteriser takes a third of Mesa's time for the same
// triangles, and every second of drawing is missing for training. It redraws only the tiles that changed; OpenGL only
// copies the picture to the window.
#pragma once

#include <GLFW/glfw3.h>

#include <cstdint>
#include <vector>

#include "app/headless/raster.h"

struct ImDrawData;

namespace normscope::headless {

// Finds the tiles that changed since the frame before. Each tile has a hash of the triangles that touch it, in their
// order, with clip rectangle and texture. Equal hashes mean equal pixels, but for one chance in 2^64.
class Damage {
 public:
  /// The tiles that changed: all of them after a change of size, of the background, or of a texture's
  /// pixels. It must be called once per frame, before textures are served (ui_driver.h).
  const Tiles& of(const ImDrawData&, uint32_t background);

 private:
  struct Box {
    float x0, y0, x1, y1;  // px
  };
  void hash(const ImDrawData&);
  void add(uint64_t hash, const Box&);

  Tiles tiles_;
  std::vector<uint64_t> before_, now_, vertices_;
  int width_ = 0, height_ = 0;
  uint32_t background_ = 0;
};

class SoftwareScreen {
 public:
  SoftwareScreen() = default;
  ~SoftwareScreen();
  SoftwareScreen(const SoftwareScreen&) = delete;
  SoftwareScreen& operator=(const SoftwareScreen&) = delete;

  // Draws a frame into the current OpenGL 3 context, which the destructor needs too. Returns false if the context lacks
  // framebuffer functions: nothing is drawn, now and in later calls.
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

// The OpenGL functions that the app calls itself, in addition to Dear ImGui's renderer, loaded by name once a context
// is current. A program linked with OpenGL would not start on a machine without it, not even to train.

struct Gl {
  decltype(&::glBindTexture) bind_texture;
  decltype(&::glClear) clear;
  decltype(&::glClearColor) clear_colour;
  decltype(&::glDeleteTextures) delete_textures;
  decltype(&::glGenTextures) generate_textures;
  decltype(&::glGetString) string;
  decltype(&::glPixelStorei) store_pixels;
  decltype(&::glTexImage2D) texture_image;
  decltype(&::glTexParameteri) texture_parameter;
  decltype(&::glTexSubImage2D) texture_part;
  decltype(&::glViewport) viewport;

  bool complete() const;  ///< false: this OpenGL lacks one of them
};

const Gl& gl();

}  // namespace normscope::headless
