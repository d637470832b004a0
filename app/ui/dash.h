// Cuts a line into dashes, for Painter and for the plot layout. The phase is carried along the whole
// line, so that the dashes of a growing curve do not crawl.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/theme.h"

namespace normscope::ui {

/// Holds polylines one after another: piece i is points[ends[i-1] .. ends[i]).
struct Pieces {
  std::vector<Vec> points;
  std::vector<uint32_t> ends;

  size_t size() const { return ends.size(); }
  std::span<const Vec> operator[](size_t i) const {
    uint32_t begin = i ? ends[i - 1] : 0;
    return {points.data() + begin, ends[i] - begin};
  }
};

/// What a dash is measured along. The path of a curve that swings up and down in every pixel would be
/// a fog of specks; along x its dashes stay as long as a smooth curve's.
enum class DashAlong { Path, X };

/// The distance from a to b as the dashes count it.
float dash_length(Vec a, Vec b, DashAlong along);

/// Adds the dashes of `line` to `out`. `phase` says how far into the pattern the line begins; the phase at
/// its end is returned.
float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out,
                 DashAlong along = DashAlong::Path);

}  // namespace normscope::ui
