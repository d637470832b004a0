#include "app/ui/dash.h"

#include <cmath>

namespace normscope::ui {

float dash_length(Vec a, Vec b, DashAlong along) {
  return along == DashAlong::X ? std::fabs(b.x - a.x) : std::hypot(b.x - a.x, b.y - a.y);
}

float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out, DashAlong along) {
  if (line.size() < 2) return phase;
  const float period = dash.on + dash.off;
  if (dash.solid() || dash.off <= 0 || period <= 0) {
    out.points.insert(out.points.end(), line.begin(), line.end());
    out.ends.push_back(uint32_t(out.points.size()));
    return phase;
  }
  phase = std::fmod(phase, period);
  bool drawing = phase < dash.on;
  auto close = [&] {
    uint32_t begin = out.ends.empty() ? 0 : out.ends.back();
    uint32_t count = uint32_t(out.points.size()) - begin;
    if (count >= 2) out.ends.push_back(uint32_t(out.points.size()));
    if (count == 1) out.points.pop_back();
  };
  if (drawing) out.points.push_back(line[0]);
  for (size_t i = 1; i < line.size(); ++i) {
    Vec a = line[i - 1], d = line[i] - a;
    float length = dash_length(a, line[i], along), done = 0;
    while (length > 0) {
      float left = (drawing ? dash.on : period) - phase;  // to the next switch
      if (done + left > length) break;
      done += left;
      Vec at = a + d * (done / length);
      out.points.push_back(at);
      if (drawing) close();
      phase = drawing ? dash.on : 0;
      drawing = !drawing;
    }
    phase += length - done;
    if (drawing) out.points.push_back(line[i]);
  }
  if (drawing) close();
  return phase;
}

}  // namespace normscope::ui
