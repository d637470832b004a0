// Cuts a line into dashes. Used by Painter and by the plot layout (the phase is carried along the whole line,
// so a curve that grows does not make its dashes crawl).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/theme.h"

namespace normscope::ui {

// Polylines one after another: piece i is points[ends[i-1] .. ends[i]).
struct Pieces {
  std::vector<Vec> points;
  std::vector<uint32_t> ends;

  size_t size() const { return ends.size(); }
  std::span<const Vec> operator[](size_t i) const {
    uint32_t begin = i ? ends[i - 1] : 0;
    return {points.data() + begin, ends[i] - begin};
  }
};

// What a dash is measured along. A curve that swings up and down in every pixel is a fog of specks along its
// path; along x its dashes stay as long as those of a smooth one.
enum class DashAlong { Path, X };

// How far a pen gets from a to b, as the dashes count it.
float dash_length(Vec a, Vec b, DashAlong along);

// phase: how far into the pattern the line begins. Returns the phase at its end.
float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out,
                 DashAlong along = DashAlong::Path);

}  // namespace normscope::ui
