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

std::map<Metric, Number> in_language(const words::Language& language) {
  std::map<Metric, Number> all;
  for (const Number* row : numbers()) {
    if (!row->id) continue;
    Number& m = all.emplace(row, *row).first->second;
    if (!m.term) m.term = m.id;
    for (const char** text :
         {&m.label, &m.by_layer, &m.over_time, &m.question, &m.brief, &m.note, &m.axis, &m.help})
      *text = language.tr(*text).c_str();
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
  const std::string name = metric->path();
  switch (metric->of) {
    case Number::Of::Parameter: {
      const std::string path = std::string(kMatrices[matrix].path) + '.';
      return {path + name, metric->over ? path + metric->over : ""};
    }
    case Number::Of::Group:
      return {name};
    case Number::Of::State:
      return {"ffn.sum." + name};
    case Number::Of::Attention:
      return {"attn." + name};
    default:
      return {"ffn." + name};
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

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> plotted;
    std::ranges::copy_if(numbers(), std::back_inserter(plotted), [](Metric row) { return row->id; });
    return plotted;
  }();
  return all;
}

const Number& info(Metric metric) {
  static words::Table<std::map<Metric, Number>> all(in_language);
  return all.in().at(metric);
}

bool of_any_layer(Metric metric) {
  return metric->of_matrix() || metric->of == Number::Of::Group || metric->of == Number::Of::State;
}

bool of_heads(Metric metric) { return metric->of == Number::Of::Attention; }

const char* matrix_label(const LabView& view, int matrix) {
  return any_stream(view) ? kMatrices[matrix].label : "W";
}

std::string stream_path(int stream) { return fmt::format("ffn.stream.{}.gradient_square", stream); }

StatNames stat_names(Metric metric, int matrix, int layer, std::string_view stack) {
  const int subs = static_cast<int>(subs_of(stack == "dec.").size());
  if (metric == &kOwnShare) return {share_name(stack, layer, subs, subs)};
  const std::string place = fmt::format("{}L{:02}.", stack, layer);
  const StatNames paths = stat_paths(metric, matrix);
  return {place + paths.value, paths.over.empty() ? "" : place + paths.over};
}

bool of_map(Metric metric) { return metric == &kBranchVariance || metric == &kInputVariance; }

std::vector<std::string> sublayer_stats(const RunView& run, Metric metric, Side side) {
  std::vector<std::string> stats;
  const bool crosses = has_both(run) && side == Side::Main;
  for (int layer = 1; has_stream(run) && layer <= layers_of(run, side); ++layer)
    for (Sub sub : subs_of(crosses))
      stats.push_back(layer_stat(run, side, layer, fmt::format("{}.{}", to_string(sub), metric->path())));
  return stats;
}

std::string head_stat(Metric metric, int layer, int head, std::string_view stack) {
  return fmt::format("{}L{:02}.attn.head.{}.{}", stack, layer, head, metric->head);
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
  const bool sublayers = metric->of == Number::Of::Sublayer || metric == &kOwnShare;
  if (sublayers || (of_heads(metric) && has_both(run) && side == Side::Main))
    return by_sublayers(run, side, sublayers, [&](Sub sub) {
      return metric == &kOwnShare
                 ? own_shares(data, run, sub, step, side)
                 : data.by_layer(run, fmt::format("{}.{}", to_string(sub), metric->path()), step, side);
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
  if (metric == &kOwnShare)
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
