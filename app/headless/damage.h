// Finds what changed since the frame before. Every tile of the picture has a hash of the triangles that touch
// it, in their order, with clip rectangle and texture; where the hash is as before, so are the pixels (but for one
// chance in 2^64).
#pragma once

#include <cstdint>
#include <vector>

#include "app/headless/raster.h"

struct ImDrawData;

namespace normscope::headless {

class Damage {
 public:
  /// The tiles that changed: all of them after a change of size, of the background, or of a texture's
  /// pixels. It must be called once per frame, before textures are served (frame.h).
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

}  // namespace normscope::headless
