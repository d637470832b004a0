#include "training/measure/skip_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/model/residual.h"

namespace normscope {
namespace {

/// A constant, times the numbers of a step at some places, over the roots of those at others.
struct Factor {
  double constant = 1.0;
  std::vector<int32_t> scales, squares;  ///< places in the layout; -1: the history has no such number
  bool joined = false;                   ///< one is added: the layer's input joins the sum once more
  bool known() const {
    const auto there = [](int32_t place) { return place >= 0; };
    return std::ranges::all_of(scales, there) && std::ranges::all_of(squares, there) && !std::isnan(constant);
  }
  double at(const std::vector<float>& stats) const {
    const auto number = [&](int32_t place) { return static_cast<double>(stats[static_cast<size_t>(place)]); };
    double value = constant;
    for (const int32_t place : scales) value *= number(place);
    for (const int32_t place : squares) value /= std::sqrt(number(place));
    return joined ? value + 1.0 : value;
  }
};

/// The way down a stack as factors, whose numbers are looked up once for all steps.
class Way {
 public:
  Way(const History& history, const StackWiring& stack, int64_t width, std::string_view prefix)
      : history_(history), width_(width), prefix_(prefix) {
    leave(factors_.emplace_back(), 1, "ffn", stack.layers.front().feed_forward);
    for (size_t layer = 2; layer <= stack.layers.size(); ++layer) {
      const LayerWiring& of = stack.layers[layer - 1];
      Factor& through = factors_.emplace_back();
      enter(through, layer, "attn", place(layer - 1, "ffn", "out.mean_square"), of.attention);
      leave(through, layer, "attn", of.attention);
      const char* before = "attn";
      if (place(layer, "cross", "sum.mean_square") >= 0) {
        enter(through, layer, "cross", place(layer, "attn", "out.mean_square"), of.cross);
        leave(through, layer, "cross", of.cross);
        before = "cross";
      }
      enter(through, layer, "ffn", place(layer, before, "out.mean_square"), of.feed_forward);
      through.joined = of.feed_forward.bottom;
      if (layer < stack.layers.size()) leave(factors_.emplace_back(), layer, "ffn", of.feed_forward);
    }
  }
  bool known() const { return std::ranges::all_of(factors_, &Factor::known); }
  double at(const std::vector<float>& stats) const {
    double product = 1.0;
    for (const Factor& factor : factors_) product *= factor.at(stats);
    return product;
  }

 private:
  int32_t place(size_t layer, const char* sublayer, const char* what) const {
    return history_.find(fmt::format("{}L{:02}.{}.{}", prefix_, layer, sublayer, what));
  }
  /// The factor of a sub-layer's skip, and of the norm where the sub-layer begins, which reads `input`.
  void enter(Factor& by, size_t layer, const char* name, int32_t input, const Wiring& w) const {
    using Kind = Scale::Kind;
    if (w.branch.kind == Kind::Toward) {
      by.constant *= 1.0 - static_cast<double>(w.branch.value);
    } else if (w.skip.kind == Kind::Constant) {
      by.constant *= static_cast<double>(w.skip.value);
    } else if (w.skip.kind == Kind::LearnedScalar || w.skip.kind == Kind::LearnedVector) {
      by.scales.push_back(place(layer, name, "skip.weight_norm"));
      if (w.skip.kind == Kind::LearnedVector) by.constant /= std::sqrt(static_cast<double>(width_));
    }
    if (w.enter != NormKind::None) by.squares.push_back(input);
  }
  /// The norm on the stream behind a sub-layer.
  void leave(Factor& by, size_t layer, const char* name, const Wiring& w) const {
    if (w.stream == NormKind::None) return;
    if (!traits_of(w.stream).has_statistics) by.constant = std::nan("");
    by.squares.push_back(place(layer, name, "sum.mean_square"));
  }

  const History& history_;
  int64_t width_;
  std::string_view prefix_;
  std::vector<Factor> factors_;
};

}  // namespace

Series skip_product(const History& history, const StackWiring& stack, int64_t width,
                    std::string_view prefix) {
  Series series;
  const int32_t stat = history.find(fmt::format("{}L01.ffn.sum.mean_square", prefix));
  if (stat < 0 || stack.layers.size() < 2 || !stream_layout(stack).one()) return series;
  const Way way(history, stack, width, prefix);
  if (!way.known()) return series;
  std::vector<float> stats;
  int32_t found = 0;
  for (const int32_t step : history.series(stat).steps) {
    if (!history.frame(step, stats, found) || found != step) continue;
    const auto product = static_cast<float>(way.at(stats));
    if (std::isnan(product)) return {};
    series.steps.push_back(step);
    series.values.push_back(product);
  }
  return series;
}

}  // namespace normscope
