// The residual stream of the diagram: one line, n of them side by side, or, where every branch keeps a stream of its own,
// one more with each branch. Each is as thick as the next sub-layer's weight for it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/diagram/diagram_sublayer.h"
#include "engine/model/residual.h"

namespace normscope::diagram {

using namespace ui;

namespace {

/// Lines of several streams.
constexpr float kThin = 1, kThick = 4;
constexpr int kMostLines = 9;  // of depth, which may have more streams than there is room for

}  // namespace

std::vector<float> SublayerPainter::read_weights(int layer, view::Sub sub, int count, int all) const {
  std::vector<float> weights;
  const std::string name =
      fmt::format("{}L{:02}.{}.read.", view::prefix_of(run, d.side), layer + 1, view::to_string(sub));
  for (int i = 1; i <= count; ++i) {
    const int stream = i == 1 ? 1 : i + all - count;
    const float weight = input.data.value(run, name + std::to_string(stream), input.step);
    if (state.pending || !std::isfinite(weight)) return {};
    weights.push_back(std::abs(weight));
  }
  return weights;
}

void SublayerPainter::lines(float from, float to, const std::vector<float>& weights, int count, Colour ink) {
  const float most = weights.empty() ? 0 : *std::ranges::max_element(weights);
  const float pitch = std::min(d.narrow ? 4.f : 5.5f, 30.f / static_cast<float>(count));
  for (int i = 0; i < count; ++i) {
    const float x = d.stream_x + (static_cast<float>(i) - static_cast<float>(count - 1) / 2) * pitch;
    const float share = most > 0 ? weights[static_cast<size_t>(i)] / most : 0.4f;
    const float width = std::min(pitch - 1, kThin + (kThick - kThin) * share);
    p.fill({x - width / 2, to, width, from - to}, ink);
  }
}

void SublayerPainter::streams(Colour ink) {
  const StreamLayout s = stream_layout(stack.wiring);
  if (s.one()) {
    p.fill({d.stream_x - line::stream / 2, d.stream_top, line::stream, d.stream_bottom - d.stream_top}, ink);
    return;
  }
  float from = d.stream_bottom;
  int branches = 0;
  std::vector<float> weights;
  const auto all = [&] { return s.over_depth() ? branches + 1 : s.count; };
  const auto until = [&](float y, int layer, view::Sub sub, int added) {
    lines(from, y, weights, std::min(all(), kMostLines), ink);
    from = y;
    branches += added;
    weights = read_weights(layer, sub, std::min(all(), kMostLines), all());
  };
  const int subs = static_cast<int>(view::subs_of(d.cross).size());
  for (const RowLayout& row : d.rows) {
    for (const SublayerLayout& sub : row.subs) until(sub.plus.y, row.row.first, sub.sub, 1);
    if (row.subs.empty())
      until(row.box.centre().y, row.row.last, view::Sub::FeedForward, subs * row.row.count());
  }
  if (!s.over_depth()) weights.clear();  // behind the last sub-layer all are added up
  until(d.stream_top, 0, view::Sub::FeedForward, 0);
}

}  // namespace normscope::diagram
