#include "app/panels/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include "app/words/words.h"
#include "training/measure/step_metrics.h"

namespace normscope::panels {
namespace {

using namespace view;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

constexpr MetricInfo kRows[] = {
    {.metric = Metric::Gradient,
     .id = "gradient",
     .term = "gradient-norm",
     .place = MetricPlace::Matrix,
     .stat = "grad_norm",
     .log = true,
     .name = "gradient",
     .by_layer = "Gradient size by layer",
     .over_time = "Gradient size over time",
     .question = "how much of the loss reaches it?",
     .brief = "what reaches a layer?",
     .note = "‖∂L/∂W‖",
     .axis = "size of the gradient",
     .help = "The size ‖∂L/∂W‖ of the loss's gradient with respect to one matrix of each layer."},
    {.metric = Metric::UpdateRatio,
     .id = "update-ratio",
     .place = MetricPlace::Matrix,
     .stat = "update_norm",
     .log = true,
     .name = "update ratio",
     .by_layer = "Update ratio by layer",
     .over_time = "Update ratio over time",
     .question = "how far does a step move it?",
     .brief = "how far does it move?",
     .note = "‖ΔW‖ / ‖W‖",
     .axis = "size of the step over size of the weights",
     .help = "The learning rate that a matrix feels: the size of the last step over the size of the "
             "matrix. How the step spreads over singular values is what normscope measure --what "
             "spectrum prints for a saved run."},
    {.metric = Metric::SpikeRatio,
     .id = "spike-ratio",
     .place = MetricPlace::Layer,
     .stat = "spike_ratio",
     .log = true,
     .name = "spike ratio",
     .by_layer = "Spike ratio",
     .over_time = "Spike ratio over time",
     .question = "is this batch unlike the last ones?",
     .brief = "an unlike batch?",
     .note = "root mean square of g / √v",
     .axis = "root mean square of the gradient over √v",
     .help = "How large the gradients of a layer are beside those that Adam remembers, as root mean "
             "square over all its numbers: about 1 as usual. A spike says that this batch is unlike "
             "those before it: v is too small for it, and the step too long (Wortsman et al. 2023)."},
    {.metric = Metric::UpdateCosine,
     .id = "update-cosine",
     .place = MetricPlace::Layer,
     .stat = "update_cosine",
     .name = "update cosine",
     .by_layer = "Update cosine",
     .over_time = "Update cosine over time",
     .question = "does a step go straight down?",
     .brief = "straight down?",
     .note = "1: against the gradient",
     .axis = "cosine between the step and the negative gradient",
     .help = "Cosine between the step that all weights of a layer make together and the negative "
             "gradient: 1 for plain SGD. Momentum, Adam's division by √v and weight decay turn the "
             "step away."},
    {.metric = Metric::HiddenNorm,
     .id = "hidden-norm",
     .term = "hidden-state",
     .place = MetricPlace::FeedForward,
     .stat = "sum.mean_square",
     .name = "mean square of the state",
     .by_layer = "Mean square of the state",
     .over_time = "Mean square over time",
     .question = "does the signal grow with depth?",
     .brief = "does it grow?",
     .note = "of x, before the norm",
     .axis = "mean square of the hidden state",
     .help = "Mean square of the residual stream after each layer. Post-LN's line is measured before "
             "the norm on the stream: behind that norm every state has the same size."},
    {.metric = Metric::BranchVariance,
     .id = "branch-variance",
     .place = MetricPlace::Sublayer,
     .stat = "branch.variance",
     .log = true,
     .name = "branch variance",
     .by_layer = "Branch variance",
     .over_time = "Branch variance over time",
     .question = "how much does each branch add?",
     .brief = "what does it add?",
     .note = "of what is added",
     .axis = "variance of the branch as it is added",
     .help = "Variance over tokens and features of each branch as it is added, its scale included."},
    {.metric = Metric::StreamVariance,
     .id = "stream-variance",
     .place = MetricPlace::Sublayer,
     .stat = "input.variance",
     .log = true,
     .name = "stream variance",
     .by_layer = "Stream variance",
     .over_time = "Stream variance over time",
     .question = "how much flows past each branch?",
     .brief = "what flows past?",
     .note = "of the skip path",
     .axis = "variance of the skip path",
     .help = "Variance over tokens and features of the skip path that each branch is added to."},
    {.metric = Metric::TokenCosine,
     .id = "token-cosine",
     .place = MetricPlace::Sublayer,
     .stat = "token_cosine",
     .name = "token cosine",
     .by_layer = "Token cosine",
     .over_time = "Token cosine over time",
     .question = "do all tokens become alike?",
     .brief = "all alike?",
     .note = "1: all tokens alike",
     .axis = "mean cosine between tokens",
     .help = "Mean cosine between the states of different tokens: 1 when all point the same way."},
    {.metric = Metric::LayerCosine,
     .id = "layer-cosine",
     .place = MetricPlace::Sublayer,
     .stat = "layer_cosine",
     .name = "layer cosine",
     .by_layer = "Layer cosine",
     .over_time = "Layer cosine over time",
     .question = "does a layer turn its input?",
     .brief = "is it turned?",
     .note = "1: nothing turned",
     .axis = "mean cosine between input and output",
     .help = "Mean cosine between a sub-layer's input and its output: 1 when it turns nothing."},
    {.metric = Metric::Extreme,
     .id = "extreme",
     .term = "massive-activations",
     .place = MetricPlace::Sublayer,
     .stat = "extreme",
     .log = true,
     .name = "extremes",
     .by_layer = "Extremes",
     .over_time = "Extremes over time",
     .question = "does one number dwarf the others?",
     .brief = "one dwarfs all?",
     .note = "largest over median",
     .axis = "largest absolute number of a state over the median",
     .help = "The largest absolute number of the states behind a sub-layer over the median of them "
             "all: in large models a few grow to thousands of times it (massive activations)."},
    {.metric = Metric::EffectiveRank,
     .id = "effective-rank",
     .place = MetricPlace::Sublayer,
     .stat = "effective_rank",
     .name = "effective rank",
     .by_layer = "Effective rank",
     .over_time = "Effective rank over time",
     .question = "do the states still differ?",
     .brief = "do states differ?",
     .note = "1: all on one line",
     .axis = "effective rank of a sequence's states",
     .help = "In how many directions the states of a sequence spread behind a sub-layer: 1 when all "
             "of them point the same way (rank collapse), at most the number of positions or of "
             "features. It is the participation ratio of their squared singular values."},
    {.metric = Metric::Sight,
     .id = "sight",
     .place = MetricPlace::Tokens,
     .stat = "sight",
     .log = true,
     .name = "sight and hearing",
     .by_layer = "Sight and hearing",
     .over_time = "Sight over time",
     .question = "what does a layer see, what does it hear?",
     .brief = "what does it see?",
     .note = "what differs between tokens",
     .axis = "root mean square of what differs between tokens",
     .help = "Sight is the size of what differs between the tokens that a feed-forward network reads. "
             "Hearing is the size of what differs between them in the gradient that comes back to it. "
             "Only where a layer has both can its step tell tokens apart."},
    {.metric = Metric::Hearing,
     .id = "hearing",
     .term = "sight",
     .place = MetricPlace::Tokens,
     .stat = "hearing",
     .log = true,
     .name = "hearing",
     .by_layer = "Hearing",
     .over_time = "Hearing over time",
     .question = "does the loss say something to each token?",
     .brief = "is each told apart?",
     .note = "what differs in ∂L/∂y",
     .axis = "size of what differs between tokens in the gradient",
     .help = "The gradient of the loss at the output of a layer's W₂, less its mean over the tokens of "
             "the batch: what the loss asks of this token and not of all."},
    {.metric = Metric::Telling,
     .id = "telling",
     .term = "sight",
     .place = MetricPlace::Tokens,
     .stat = "w2.telling",
     .log = true,
     .name = "telling gradient",
     .by_layer = "Telling gradient",
     .over_time = "Telling gradient over time",
     .question = "how much of the gradient tells tokens apart?",
     .brief = "does it tell apart?",
     .note = "∂L/∂W₂ without the means",
     .axis = "size of the part of the gradient that tells tokens apart",
     .help = "The gradient of W₂ without the part that any other token of the batch would give as well: "
             "what a layer sees times what it hears. The rest only teaches how often each symbol comes."},
    {.metric = Metric::Identity,
     .id = "identity",
     .place = MetricPlace::Tokens,
     .stat = "identity",
     .name = "token identity",
     .by_layer = "Token identity",
     .over_time = "Token identity over time",
     .question = "does it still know which token it is?",
     .brief = "which token?",
     .note = "1: all is its own",
     .axis = "share of what differs that the token fixes",
     .help = "Of all that differs between the tokens that a layer reads, the share that the symbol at "
             "that place fixes. The rest comes from other places: attention has mixed it in. It can be "
             "read before any training, at step 1."},
    {.metric = Metric::Directions,
     .id = "directions",
     .term = "identity",
     .place = MetricPlace::Tokens,
     .stat = "directions",
     .name = "directions",
     .by_layer = "Directions",
     .over_time = "Directions over time",
     .question = "in how many ways do tokens differ?",
     .brief = "in how many ways?",
     .note = "1: all on one line",
     .axis = "number of directions in which tokens differ",
     .help = "In how many directions the tokens that a layer reads differ from their mean: the "
             "participation ratio of what differs, 1 where they differ in a single way."},
    {.metric = Metric::AttentionEntropy,
     .id = "attention-entropy",
     .place = MetricPlace::Heads,
     .stat = "attention_entropy",
     .head = "entropy",
     .name = "attention entropy",
     .by_layer = "Attention entropy",
     .over_time = "Attention entropy over time",
     .question = "how widely does it look?",
     .brief = "how widely?",
     .note = "nats, mean of heads",
     .axis = "entropy of the attention weights in nats",
     .help = "Mean over heads and queries of the attention weights' entropy: 0 looks at one token "
             "only."},
    {.metric = Metric::LargestLogit,
     .id = "largest-logit",
     .place = MetricPlace::Heads,
     .stat = "largest_logit",
     .head = "logit",
     .name = "largest logit",
     .by_layer = "Largest logit",
     .over_time = "Largest logit over time",
     .question = "does attention sharpen without end?",
     .brief = "too sharp?",
     .note = "largest of all heads",
     .axis = "largest score that goes into the softmax",
     .help = "The largest score that goes into the softmax of an attention, over heads, queries and "
             "the keys they see: where it keeps growing, attention collapses onto single tokens and "
             "training becomes unstable."},
    {.metric = Metric::FirstMass,
     .id = "first-mass",
     .term = "attention-sink",
     .place = MetricPlace::Heads,
     .stat = "first_mass",
     .head = "first_mass",
     .name = "attention sink",
     .by_layer = "Attention sink",
     .over_time = "Attention sink over time",
     .question = "is the first position a sink?",
     .brief = "a sink?",
     .note = "1: all on the first",
     .axis = "mean attention weight of the first position",
     .help = "Mean over heads and queries of the attention weight that the first position gets: heads "
             "that have nothing to find put theirs there."},
    {.metric = Metric::OwnShare,
     .id = "own-share",
     .term = "beta2",
     .place = MetricPlace::Sublayer,
     .name = "own share β²",
     .by_layer = "Own share β²",
     .over_time = "Own share β² over time",
     .question = "how much of the state is its own?",
     .brief = "its own part?",
     .note = "β²ᵢᵢ, 1: all of it",
     .axis = "share of each branch in the variance of the state behind it",
     .help = "β²ᵢᵢ: which share of the variance of the state behind a sub-layer its own branch has "
             "added. In Pre-LN it falls with depth, and the upper layers add little (dilution); in "
             "Post-LN it stays as large everywhere, and small changes are amplified (Liu et al. 2020)."},
};

/// The rows in the language of the window.
std::vector<MetricInfo> with_words() {
  std::vector<MetricInfo> all(std::begin(kRows), std::end(kRows));
  for (MetricInfo& m : all) {
    if (!m.term) m.term = m.id;
    m.of_matrix = m.place == MetricPlace::Matrix;
    for (const char** text :
         {&m.name, &m.by_layer, &m.over_time, &m.question, &m.brief, &m.note, &m.axis, &m.help})
      *text = tr(*text).c_str();
  }
  return all;
}

/// The own share of the `k`-th of a layer's `subs` sub-layers, both from 1: shares count sub-layers.
std::string share_name(std::string_view stack, int layer, int k, int subs) {
  const int i = subs * (layer - 1) + k;
  return fmt::format("{}beta2.{}.{}", stack, i, i);
}

// The part of a stat's name after the layer: "ffn.w2.grad_norm".
StatNames stat_paths(Metric metric, int matrix) {
  const MetricInfo& of = info(metric);
  const std::string path = kMatrices[matrix].path;
  if (metric == Metric::UpdateRatio) return {path + ".update_norm", path + ".weight_norm"};
  switch (of.place) {
    case MetricPlace::Matrix:
      return {path + "." + of.stat};
    case MetricPlace::Layer:
      return {of.stat};
    case MetricPlace::Heads:
      return {std::string("attn.") + of.stat};
    default:
      return {std::string("ffn.") + of.stat};
  }
}

std::vector<float> own_shares(LabData& data, const RunView& run, Sub sub, int step, Side side) {
  std::vector<float> all;
  for (int layer = 0; layer < layers_of(run, side); ++layer)
    all.push_back(own_share(data, run, layer, sub, step, side));
  return all;
}

// Interleaves of(sub), which has a value for each layer, over all sub-layers, or over all but the feed-forward ones.
template <typename Of>
DepthPoints by_sublayers(const RunView& run, Side side, bool feed_forward, const Of& of) {
  DepthPoints points;
  const auto subs = subs_of(has_both(run) && side == Side::Main);
  std::vector<std::vector<float>> values;
  for (Sub sub : subs) values.push_back(of(sub));
  for (size_t i = 0; i < values.front().size(); ++i)
    for (size_t k = 0; k < subs.size(); ++k) {
      if (!feed_forward && subs[k] == Sub::FeedForward) continue;
      points.x.push_back(static_cast<float>(i) + static_cast<float>(k + 1) / static_cast<float>(subs.size()));
      points.y.push_back(values[k][i]);
    }
  return points;
}

// The rows of stats name(i, j) for sub-layers i from 1, with j = 0 for the input and j >= 1 for branches. A row's sum
// is the stat name(i, kSum), or computed here where that name is empty.
constexpr int kSum = -1;
template <typename Name>
Dependency triangle(LabData& data, const RunView& run, int step, Side side, const Name& name) {
  Dependency result;
  std::map<std::string_view, float> whole;
  if (of_whole_batch(run, step))
    for (size_t i = 0; i < run.batch->values.size(); ++i)
      whole.emplace(run.batch->layout[i].name, run.batch->values[i]);
  const auto number = [&](const std::string& name) {
    if (whole.empty()) return data.value(run, name, step);
    const auto found = whole.find(name);
    return found == whole.end() ? kNaN : found->second;
  };
  const int sublayers =
      static_cast<int>(subs_of(has_both(run) && side == Side::Main).size()) * layers_of(run, side);
  for (int i = 1; i <= sublayers; ++i) {
    std::vector<float> row;
    for (int j = 0; j <= i; ++j) row.push_back(number(name(i, j)));
    if (!std::ranges::all_of(row, [](float v) { return std::isfinite(v); })) return {};
    const std::string sum = name(i, kSum);
    result.sums.push_back(sum.empty() ? std::accumulate(row.begin(), row.end(), 0.0f) : number(sum));
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace

std::span<const MetricInfo> metrics() {
  static const std::vector<MetricInfo> all = with_words();
  return all;
}

const MetricInfo& info(Metric metric) { return metrics()[static_cast<size_t>(metric)]; }

bool of_any_layer(Metric metric) {
  const MetricPlace place = info(metric).place;
  return place == MetricPlace::Matrix || place == MetricPlace::Layer || place == MetricPlace::FeedForward;
}

bool of_heads(Metric metric) { return info(metric).place == MetricPlace::Heads; }

const char* matrix_label(const LabView& view, int matrix) {
  return any_stream(view) ? kMatrices[matrix].label : "W";
}

std::string stream_path(int stream) { return fmt::format("ffn.stream.{}.gradient_square", stream); }

StatNames stat_names(Metric metric, int matrix, int layer, std::string_view stack) {
  const int subs = static_cast<int>(subs_of(stack == "dec.").size());
  if (metric == Metric::OwnShare) return {share_name(stack, layer, subs, subs)};
  const std::string place = fmt::format("{}L{:02}.", stack, layer);
  const StatNames paths = stat_paths(metric, matrix);
  return {place + paths.value, paths.over.empty() ? "" : place + paths.over};
}

bool of_map(Metric metric) { return metric == Metric::BranchVariance || metric == Metric::StreamVariance; }

std::vector<std::string> sublayer_stats(const RunView& run, Metric metric, Side side) {
  std::vector<std::string> stats;
  const bool crosses = has_both(run) && side == Side::Main;
  for (int layer = 1; has_stream(run) && layer <= layers_of(run, side); ++layer)
    for (Sub sub : subs_of(crosses))
      stats.push_back(layer_stat(run, side, layer, fmt::format("{}.{}", to_string(sub), info(metric).stat)));
  return stats;
}

std::string head_stat(Metric metric, int layer, int head, std::string_view stack) {
  return fmt::format("{}L{:02}.attn.head.{}.{}", stack, layer, head, info(metric).head);
}

bool DepthPoints::measured() const {
  return std::ranges::any_of(y, [](float v) { return std::isfinite(v); });
}

std::optional<TokenShares> token_shares(LabData& data, const RunView& run, int step, Side side) {
  const auto along = [&](const char* number) {
    return by_sublayers(run, side, true, [&](Sub sub) {
      return data.by_layer(run, fmt::format("{}.{}", to_string(sub), number), step, side);
    });
  };
  TokenShares shares;
  for (const float longest : along("longest").y)
    if (longest > shares.longest) shares.longest = longest;
  if (!(shares.longest >= static_cast<float>(kDominates))) return std::nullopt;
  shares.medians = along("token_share");
  return shares;
}

DepthPoints along_depth(LabData& data, const RunView& run, Metric metric, int matrix, int step, Side side) {
  const MetricPlace place = info(metric).place;
  if (place == MetricPlace::Sublayer || (place == MetricPlace::Heads && has_both(run) && side == Side::Main))
    return by_sublayers(run, side, place == MetricPlace::Sublayer, [&](Sub sub) {
      return metric == Metric::OwnShare
                 ? own_shares(data, run, sub, step, side)
                 : data.by_layer(run, fmt::format("{}.{}", to_string(sub), info(metric).stat), step, side);
    });
  const StatNames paths = stat_paths(metric, matrix);
  DepthPoints points{{}, data.by_layer(run, paths.value, step, side)};
  if (!paths.over.empty()) {
    const std::vector<float> over = data.by_layer(run, paths.over, step, side);
    for (size_t i = 0; i < over.size(); ++i) points.y[i] = over[i] > 0 ? points.y[i] / over[i] : kNaN;
  }
  for (size_t i = 0; i < points.y.size(); ++i) points.x.push_back(static_cast<float>(i + 1));
  return points;
}

std::shared_ptr<const Line> over_time(LabData& data, const RunView& run, Metric metric, int matrix, int layer,
                                      Side side) {
  if (metric == Metric::OwnShare)
    return data.stat(run, stat_names(metric, matrix, layer + 1, prefix_of(run, side)).value);
  const StatNames paths = stat_paths(metric, matrix);
  const std::string value = layer_stat(run, side, layer + 1, paths.value);
  return paths.over.empty() ? data.stat(run, value)
                            : data.quotient(run, value, layer_stat(run, side, layer + 1, paths.over));
}

double Dependency::parts() const {
  double sum = 0, squares = 0;
  for (float share : rows.back()) {
    sum += std::abs(share);  // only a weight can be negative
    squares += static_cast<double>(share) * share;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

double Dependency::newest() const {
  double sum = 0;
  for (float share : rows.back()) sum += share;
  return sum > 0 ? rows.back().back() / sum : 0;
}

bool of_whole_batch(const RunView& run, int step) { return run.batch && run.batch->step == step; }

Dependency dependency(LabData& data, const RunView& run, int step, Side side) {
  return triangle(data, run, step, side, [prefix = prefix_of(run, side)](int i, int j) {
    return j == kSum ? fmt::format("{}beta2.{}.sum", prefix, i) : fmt::format("{}beta2.{}.{}", prefix, i, j);
  });
}

Dependency depth_weights(LabData& data, const RunView& run, int step, Side side) {
  if (!over_depth(run, side)) return {};
  const auto subs = subs_of(has_both(run) && side == Side::Main);
  return triangle(data, run, step, side, [&, prefix = prefix_of(run, side)](int i, int j) {
    const size_t place = static_cast<size_t>(i - 1);
    return j == kSum ? std::string{}
                     : fmt::format("{}L{:02}.{}.read.{}", prefix, place / subs.size() + 1,
                                   to_string(subs[place % subs.size()]), j + 1);
  });
}

float own_share(LabData& data, const RunView& run, int layer, Sub sub, int step, Side side) {
  const auto subs = subs_of(has_both(run) && side == Side::Main);
  const auto at = std::ranges::find(subs, sub) - subs.begin();
  return data.value(
      run,
      share_name(prefix_of(run, side), layer + 1, static_cast<int>(at) + 1, static_cast<int>(subs.size())),
      step);
}

}  // namespace normscope::panels
