// How little a sub-layer's branch changes when the sub-layer before it is left out: equation 4 of Su 2022, by which a
// late layer of Pre-LN is worth no more than a wider one beside its predecessor.
#include <algorithm>

#include "engine/cpu/measure_rows.h"
#include "training/experiments/probes.h"
#include "training/experiments/run_numbers.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/look.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kBranchSequences = 2;

/// The wiring of a sub-layer of a stack without cross-attention, counted from the bottom: attention, feed-forward
/// network, attention ...
Wiring& sublayer_of(StackWiring& stack, size_t place) {
  LayerWiring& layer = stack.layers[place / 2];
  return place % 2 == 0 ? layer.attention : layer.feed_forward;
}

/// The mean over tokens of the cosine between rows.
double mean_cosine(const std::vector<float>& a, const std::vector<float>& b, size_t width) {
  double sum = 0;
  for (size_t row = 0; row < a.size(); row += width) {
    const cpu::Dots d = cpu::dots(&a[row], &b[row], static_cast<int64_t>(width));
    sum += d.ab / std::sqrt(d.aa * d.bb);
  }
  return sum / static_cast<double>(a.size() / width);
}

/// Whether each sub-layer adds its branch to a single stream, from which it can be left out by a factor of 0.
bool has_plain_branches(const ModelConfig& model) {
  if (!is_transformer(model.architecture) || has_both(model) || !model.stack().slots.empty()) return false;
  return std::ranges::all_of(model.stack().layers, [](const LayerWiring& layer) {
    return layer.attention.added == 0 && layer.feed_forward.added == 0 && !layer.feed_forward.parallel;
  });
}

/// For each sub-layer from the second on, one less the cosine between its branch and its branch where it reads what the
/// sub-layer before it has read. Empty for a model whose branches cannot be left out.
std::vector<double> distances(Run& run) {
  const ModelConfig& model = run.spec().model;
  if (!has_plain_branches(model)) return {};
  const Batch batch = validation_batch(run.task(), run.spec(), kBranchSequences);
  Look whole(run.store(), model, batch);
  whole.replay();
  std::vector<double> all;
  for (size_t place = 1; place < whole.values().sublayers.size(); ++place) {
    ModelConfig without = model;
    sublayer_of(without.stack(), place - 1).branch = {Scale::Kind::Constant, 0.0f};
    Look other(run.store(), without, batch);
    other.replay();
    all.push_back(1 - mean_cosine(whole.read(whole.values().sublayers[place].branch),
                                  other.read(other.values().sublayers[place].branch),
                                  static_cast<size_t>(model.d_model)));
  }
  return all;
}

/// The mean over the last quarter of the sub-layers.
double of_late_layers(Run& run) {
  const std::vector<double> all = distances(run);
  if (all.empty()) return kUnknown;
  const auto late = all.end() - std::max<std::ptrdiff_t>(1, std::ssize(all) / 4);
  return std::accumulate(late, all.end(), 0.0) / static_cast<double>(all.end() - late);
}

/// The power of the number t of sub-layers below with which the distance goes, fitted over the logarithms of both from
/// layer 3 on: -1 where it is proportional to 1/t.
double power_of(Run& run) {
  const std::vector<double> all = distances(run);
  std::vector<double> x, y;
  for (size_t i = 3; i < all.size(); ++i) {
    x.push_back(std::log(static_cast<double>(i + 1)));
    y.push_back(std::log(all[i]));
  }
  return x.size() > 1 ? linear_fit(x, y).slope : kUnknown;
}

}  // namespace

constinit const EndNumber kNextBranchNumber{
    "next_branch", "change of the next branch",
    "How far a branch changes where the branch below is left out, over the last quarter of the sub-layers.",
    of_late_layers};
constinit const EndNumber kNextBranchPowerNumber{"next_branch_power", "power of the change with depth",
                                                 "The power of the depth with which that change goes.",
                                                 power_of};

}  // namespace normscope::experiments
