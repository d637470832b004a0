#include "app/headless/software_screen.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "app/headless/frame.h"
#include "app/headless/gl.h"

namespace normscope::headless {
#ifdef __EMSCRIPTEN__  // a picture made on the page's only thread would cost more than the browser's own software

SoftwareScreen::~SoftwareScreen() = default;

bool SoftwareScreen::show(const ImDrawData&, uint32_t) { return false; }

#else
namespace {

// What OpenGL 3 has beyond OpenGL 1.1, which is all that its library exports.
constexpr GLenum kReadFramebuffer = 0x8CA8, kColourAttachment = 0x8CE0, kBgra = 0x80E1;

struct Framebuffers {
  void (*generate)(GLsizei, GLuint*) = nullptr;
  void (*remove)(GLsizei, const GLuint*) = nullptr;
  void (*bind)(GLenum, GLuint) = nullptr;
  void (*attach)(GLenum, GLenum, GLenum, GLuint, GLint) = nullptr;
  void (*blit)(GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLbitfield, GLenum) = nullptr;

  bool complete() const { return generate && remove && bind && attach && blit; }
};

template <typename F>
void load(F& function, const char* name) {
  function = reinterpret_cast<F>(glfwGetProcAddress(name));
}

const Framebuffers& framebuffers() {
  static const Framebuffers found = [] {
    Framebuffers f;
    load(f.generate, "glGenFramebuffers");
    load(f.remove, "glDeleteFramebuffers");
    load(f.bind, "glBindFramebuffer");
    load(f.attach, "glFramebufferTexture2D");
    load(f.blit, "glBlitFramebuffer");
    return f;
  }();
  return found;
}

}  // namespace

SoftwareScreen::~SoftwareScreen() {
  if (state_ != State::Ready) return;
  release_textures();
  framebuffers().remove(1, &framebuffer_);
  gl().delete_textures(1, &texture_);
}

bool SoftwareScreen::prepare() {
  if (!framebuffers().complete()) return false;
  gl().generate_textures(1, &texture_);
  framebuffers().generate(1, &framebuffer_);
  return true;
}

void SoftwareScreen::resize(int width, int height) {
  image_.width = width;
  image_.height = height;
  image_.pixels.assign(size_t(width) * height, 0);
  gl().texture_parameter(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl().texture_parameter(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  // Mesa gives the texture the requested order of colours, which its windows have too, so it can copy instead of
  // draw.
  gl().texture_image(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, kBgra, GL_UNSIGNED_BYTE, nullptr);
  framebuffers().bind(kReadFramebuffer, framebuffer_);
  framebuffers().attach(kReadFramebuffer, kColourAttachment, GL_TEXTURE_2D, texture_, 0);
  framebuffers().bind(kReadFramebuffer, 0);
}

// Sends, for every row of tiles, the tiles from the first to the last that changed.
void SoftwareScreen::upload(const Tiles& changed) {
  gl().store_pixels(GL_UNPACK_ROW_LENGTH, image_.width);
  for (int row = 0; row < changed.rows; ++row) {
    const auto begin = changed.chosen.begin() + row * changed.columns, end = begin + changed.columns;
    const auto first = std::find(begin, end, 1),
               last = std::find(std::reverse_iterator(end), std::reverse_iterator(first), 1).base();
    if (first == last) continue;
    const int x = int(first - begin) * Tiles::kWidth, y = row * Tiles::kHeight;
    gl().texture_part(GL_TEXTURE_2D, 0, x, y, std::min(int(last - begin) * Tiles::kWidth, image_.width) - x,
                      std::min(y + Tiles::kHeight, image_.height) - y, GL_RGBA, GL_UNSIGNED_BYTE,
                      &image_.pixels[size_t(y) * image_.width + x]);
  }
  gl().store_pixels(GL_UNPACK_ROW_LENGTH, 0);
}

bool SoftwareScreen::show(const ImDrawData& data, uint32_t background) {
  if (state_ == State::Fresh) state_ = prepare() ? State::Ready : State::Useless;
  if (state_ == State::Useless) return false;
  const Tiles& changed = damage_.of(data, background);
  serve_textures();
  gl().bind_texture(GL_TEXTURE_2D, texture_);
  const auto [w, h] = size_of(data);
  if (w != image_.width || h != image_.height) resize(w, h);
  rasterise(data, background, changed, image_);
  upload(changed);
  framebuffers().bind(kReadFramebuffer, framebuffer_);
  // Our first row is the uppermost, OpenGL's the lowest.
  framebuffers().blit(0, h, w, 0, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  framebuffers().bind(kReadFramebuffer, 0);
  return true;
}

#endif
}  // namespace normscope::headless
