#include "app/headless/software_screen.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cstring>

#include "app/headless/ui_driver.h"

namespace normscope::headless {
#ifdef __EMSCRIPTEN__  // drawing on the page's only thread would cost more than the browser's own software renderer

SoftwareScreen::~SoftwareScreen() = default;

bool SoftwareScreen::show(const ImDrawData&, uint32_t) { return false; }

#else
namespace {

// OpenGL 3 constants and functions: the library exports only OpenGL 1.1.
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

// Folds a 128-bit product into 64 bits; each input bit changes about half of the bits.
uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide(a ^ 0x9E3779B97F4A7C15) * (b ^ 0xD1B54A32D192ED03);
  return uint64_t(product) ^ uint64_t(product >> 64);
}

uint64_t hash_of(const ImDrawVert& v) {
  uint64_t place, texel;
  std::memcpy(&place, &v.pos, sizeof place);
  std::memcpy(&texel, &v.uv, sizeof texel);
  return mix(mix(place, texel), v.col);
}

uint64_t hash_of(const ImDrawCmd& command) {
  uint64_t low, high;
  std::memcpy(&low, &command.ClipRect.x, sizeof low);
  std::memcpy(&high, &command.ClipRect.z, sizeof high);
  const ImTextureData* texture = command.TexRef._TexData;
  return mix(mix(low, high), texture ? uint64_t(texture->UniqueID) + 1 : 0);
}

bool textures_change() {
  const auto& textures = ImGui::GetPlatformIO().Textures;
  return std::ranges::any_of(
      textures, [](const ImTextureData* texture) { return texture->Status != ImTextureStatus_OK; });
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
  // BGRA is also the order of colours in Mesa's windows, so that Mesa can copy instead of draw.
  gl().texture_image(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, kBgra, GL_UNSIGNED_BYTE, nullptr);
  framebuffers().bind(kReadFramebuffer, framebuffer_);
  framebuffers().attach(kReadFramebuffer, kColourAttachment, GL_TEXTURE_2D, texture_, 0);
  framebuffers().bind(kReadFramebuffer, 0);
}

// Copies to the texture, for every row of tiles, the tiles from the first to the last that changed.
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

const Tiles& Damage::of(const ImDrawData& data, uint32_t background) {
  const auto [width, height] = size_of(data);
  const bool all = width != width_ || height != height_ || background != background_ || textures_change();
  width_ = width;
  height_ = height;
  background_ = background;
  tiles_.columns = (width + Tiles::kWidth - 1) / Tiles::kWidth;
  tiles_.rows = (height + Tiles::kHeight - 1) / Tiles::kHeight;
  before_.swap(now_);
  hash(data);
  tiles_.chosen.assign(now_.size(), 1);
  if (!all)
    std::transform(now_.begin(), now_.end(), before_.begin(), tiles_.chosen.begin(), std::not_equal_to<>());
  return tiles_;
}

void Damage::hash(const ImDrawData& data) {
  now_.assign(size_t(tiles_.columns) * tiles_.rows, 0);
  const ImVec2 origin = data.DisplayPos, scale = data.FramebufferScale;
  const auto x = [&](float p) { return (p - origin.x) * scale.x; };
  const auto y = [&](float p) { return (p - origin.y) * scale.y; };
  for (const ImDrawList* list : data.CmdLists) {
    vertices_.resize(size_t(list->VtxBuffer.Size));
    std::transform(list->VtxBuffer.begin(), list->VtxBuffer.end(), vertices_.begin(),
                   [](const ImDrawVert& v) { return hash_of(v); });
    for (const ImDrawCmd& command : list->CmdBuffer) {
      if (command.UserCallback) continue;
      const ImVec4& r = command.ClipRect;
      const Box clip{std::max(x(r.x), 0.f), std::max(y(r.y), 0.f), std::min(x(r.z), float(width_)),
                     std::min(y(r.w), float(height_))};
      const uint64_t here = hash_of(command);
      const ImDrawIdx* index = list->IdxBuffer.Data + command.IdxOffset;
      const ImDrawVert* vertex = list->VtxBuffer.Data + command.VtxOffset;
      const uint64_t* hashes = vertices_.data() + command.VtxOffset;
      for (unsigned i = 0; i + 3 <= command.ElemCount; i += 3) {
        const ImDrawIdx a = index[i], b = index[i + 1], c = index[i + 2];
        const ImVec2 p = vertex[a].pos, q = vertex[b].pos, s = vertex[c].pos;
        // The box is a pixel larger on every side, because the rasteriser rounds.
        add(mix(here ^ hashes[a], std::rotl(hashes[b], 21) ^ std::rotl(hashes[c], 42)),
            {std::max(x(std::min({p.x, q.x, s.x})) - 1, clip.x0),
             std::max(y(std::min({p.y, q.y, s.y})) - 1, clip.y0),
             std::min(x(std::max({p.x, q.x, s.x})) + 1, clip.x1),
             std::min(y(std::max({p.y, q.y, s.y})) + 1, clip.y1)});
      }
    }
  }
}

void Damage::add(uint64_t hash, const Box& box) {
  if (!(box.x0 < box.x1 && box.y0 < box.y1)) return;
  const int left = int(box.x0) / Tiles::kWidth,
            right = std::min(int(box.x1) / Tiles::kWidth, tiles_.columns - 1);
  const int bottom = std::min(int(box.y1) / Tiles::kHeight, tiles_.rows - 1);
  for (int line = int(box.y0) / Tiles::kHeight; line <= bottom; ++line) {
    uint64_t* tiles = now_.data() + size_t(line) * tiles_.columns;
    for (int i = left; i <= right; ++i) tiles[i] = mix(tiles[i], hash);
  }
}

#endif

// In a browser, OpenGL is linked into the program.
#ifdef __EMSCRIPTEN__
#define NORMSCOPE_GL(name) &::name
#else
#define NORMSCOPE_GL(name) reinterpret_cast<decltype(&::name)>(glfwGetProcAddress(#name))
#endif

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
#undef NORMSCOPE_GL

bool Gl::complete() const {
  return bind_texture && clear && clear_colour && delete_textures && generate_textures && string &&
         store_pixels && texture_image && texture_parameter && texture_part && viewport;
}

}  // namespace normscope::headless
