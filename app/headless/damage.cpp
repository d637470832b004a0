#include "app/headless/damage.h"

#include <imgui.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace normscope::headless {
namespace {

// Combines both halves of the product of two large words: each bit of either changes about half of the result's.
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

}  // namespace normscope::headless
