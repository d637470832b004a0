#include "app/headless/gl.h"

// A browser's OpenGL is part of the program there.
#ifdef __EMSCRIPTEN__
#define NORMSCOPE_GL(name) &::name
#else
#define NORMSCOPE_GL(name) reinterpret_cast<decltype(&::name)>(glfwGetProcAddress(#name))
#endif

namespace normscope::headless {

const Gl& gl() {
  static const Gl found{.bind_texture = NORMSCOPE_GL(glBindTexture),
                        .clear = NORMSCOPE_GL(glClear),
                        .clear_colour = NORMSCOPE_GL(glClearColor),
                        .delete_textures = NORMSCOPE_GL(glDeleteTextures),
                        .generate_textures = NORMSCOPE_GL(glGenTextures),
                        .string = NORMSCOPE_GL(glGetString),
                        .store_pixels = NORMSCOPE_GL(glPixelStorei),
                        .texture_image = NORMSCOPE_GL(glTexImage2D),
                        .texture_parameter = NORMSCOPE_GL(glTexParameteri),
                        .texture_part = NORMSCOPE_GL(glTexSubImage2D),
                        .viewport = NORMSCOPE_GL(glViewport)};
  return found;
}

bool Gl::complete() const {
  return bind_texture && clear && clear_colour && delete_textures && generate_textures && string &&
         store_pixels && texture_image && texture_parameter && texture_part && viewport;
}

}  // namespace normscope::headless

#undef NORMSCOPE_GL
