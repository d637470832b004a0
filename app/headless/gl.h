// The functions of OpenGL that are called here beside Dear ImGui's, asked for by name once a context is
// current. Were the program linked with OpenGL, it would not start where there is none, not even to train.
#pragma once

#include <GLFW/glfw3.h>

namespace normscope::headless {

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
