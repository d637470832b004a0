#include "training/measure/skip_product.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/model/residual.h"

namespace normscope {
namespace {

/// The numbers of a history at one of its steps, by name.
class Frame {
 public:
  Frame(const History& history, int64_t width, std::string_view prefix)
      : history_(history), width_(width), prefix_(prefix) {}
  bool at(int32_t step) {
    int32_t found = 0;
    return history_.frame(step, stats_, found) && found == step;
  }
  /// NaN where there is no such number.
  double number(size_t layer, const char* sublayer, const char* what) const {
    const int32_t stat = history_.find(fmt::format("{}L{:02}.{}.{}", prefix_, layer, sublayer, what));
    return stat < 0 ? std::nan("") : static_cast<double>(stats_[static_cast<size_t>(stat)]);
  }
  /// The root of the mean square of a learned scale of as many numbers; NaN where its norm is not in the history.
  double scale(size_t layer, const char* sublayer, const Scale& of) const {
    const double numbers = of.kind == Scale::Kind::LearnedVector ? static_cast<double>(width_) : 1.0;
    return number(layer, sublayer, "skip.weight_norm") / std::sqrt(numbers);
  }
  double sigma(size_t layer, const char* sublayer, const char* of) const {
    return std::sqrt(number(layer, sublayer, of));
  }

 private:
  const History& history_;
  int64_t width_;
  std::string_view prefix_;
  std::vector<float> stats_;
};

/// What the skip of a sub-layer multiplies by, and the norm where the sub-layer begins.
double enters(const Frame& at, size_t layer, const char* name, const char* before, const Wiring& w) {
  double by = w.skip.kind == Scale::Kind::Constant ? static_cast<double>(w.skip.value) : 1.0;
  if (w.skip.kind == Scale::Kind::LearnedScalar || w.skip.kind == Scale::Kind::LearnedVector)
    by = at.scale(layer, name, w.skip);
  if (w.branch.kind == Scale::Kind::Toward) by = 1.0 - static_cast<double>(w.branch.value);
  if (w.enter != NormKind::None)
    by /= at.sigma(before == std::string_view("ffn") ? layer - 1 : layer, before, "out.mean_square");
  return by;
}

double leaves(const Frame& at, size_t layer, const char* name, const Wiring& w) {
  if (w.stream == NormKind::None) return 1.0;
  return traits_of(w.stream).has_statistics ? 1.0 / at.sigma(layer, name, "sum.mean_square") : std::nan("");
}

double product_at(const Frame& at, const StackWiring& stack) {
  double product = leaves(at, 1, "ffn", stack.layers.front().feed_forward);
  for (size_t layer = 2; layer <= stack.layers.size(); ++layer) {
    const LayerWiring& of = stack.layers[layer - 1];
    double through = enters(at, layer, "attn", "ffn", of.attention) * leaves(at, layer, "attn", of.attention);
    const char* before = "attn";
    if (!std::isnan(at.number(layer, "cross", "sum.mean_square"))) {
      through *= enters(at, layer, "cross", "attn", of.cross) * leaves(at, layer, "cross", of.cross);
      before = "cross";
    }
    through *= enters(at, layer, "ffn", before, of.feed_forward);
    if (of.feed_forward.bottom) through += 1.0;
    product *= through;
    if (layer < stack.layers.size()) product *= leaves(at, layer, "ffn", of.feed_forward);
  }
  return product;
}

}  // namespace

Series skip_product(const History& history, const StackWiring& stack, int64_t width,
                    std::string_view prefix) {
  Series series;
  const int32_t stat = history.find(fmt::format("{}L01.ffn.sum.mean_square", prefix));
  if (stat < 0 || stack.layers.size() < 2 || !stream_layout(stack).one()) return series;
  Frame at(history, width, prefix);
  for (const int32_t step : history.series(stat).steps) {
    if (!at.at(step)) continue;
    const auto product = static_cast<float>(product_at(at, stack));
    if (std::isnan(product)) return {};
    series.steps.push_back(step);
    series.values.push_back(product);
  }
  return series;
}

}  // namespace normscope
