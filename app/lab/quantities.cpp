#include "app/lab/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "measure/theory.h"

namespace normscope::lab {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

constexpr std::array<QuantityInfo, 8> kQuantities{{
    {Quantity::gradient, "gradient", "gradient", "Gradient by layer", "Gradient norm over time",
     "norm of ∂L/∂W", "norm of the gradient",
     "Norm of the loss's gradient with respect to one matrix of each layer.", true, true},
    {Quantity::update_ratio, "update-ratio", "update ratio", "Update by layer", "Update ratio over time",
     "‖ΔW‖ / ‖W‖", "norm of the step over norm of the weights",
     "The learning rate that a matrix feels: norm of the last step over norm of the matrix.", true, true},
    {Quantity::hidden_norm, "hidden-norm", "hidden-state norm", "Hidden-state norm", "Hidden norm over time",
     "mean square of x, before the norm", "mean square of the hidden state",
     "Mean square of the residual stream after each layer, before the norm."},
    {Quantity::branch_variance, "branch-variance", "branch variance", "Branch variance",
     "Branch variance over time", "of what is added", "variance of the branch as it is added",
     "Variance over tokens and features of each branch as it is added, its scale included.", false, true},
    {Quantity::trunk_variance, "trunk-variance", "trunk variance", "Trunk variance",
     "Trunk variance over time", "of the skip path", "variance of the skip path",
     "Variance over tokens and features of the skip path that each branch is added to.", false, true},
    {Quantity::token_cosine, "token-cosine", "token cosine", "Token cosine", "Token cosine over time",
     "1: all tokens alike", "mean cosine between tokens",
     "Mean cosine between the states of different tokens: 1 when all point the same way."},
    {Quantity::layer_cosine, "layer-cosine", "layer cosine", "Layer cosine", "Layer cosine over time",
     "1: nothing turned", "mean cosine between input and output",
     "Mean cosine between a sub-layer's input and its output: 1 when it turns nothing."},
    {Quantity::attention_entropy, "attention-entropy", "attention entropy", "Attention entropy",
     "Attention entropy over time", "nats, mean of heads", "entropy of the attention weights, nats",
     "Mean over heads and queries of the attention weights' entropy: 0 looks at one token only."},
}};

const char* suffix_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::branch_variance:
      return "branch.variance";
    case Quantity::trunk_variance:
      return "input.variance";
    case Quantity::token_cosine:
      return "token_cosine";
    case Quantity::layer_cosine:
      return "layer_cosine";
    case Quantity::attention_entropy:
      return "attention_entropy";
    case Quantity::gradient:
      return "grad_norm";
    case Quantity::hidden_norm:
      return "sum.mean_square";
    case Quantity::update_ratio:
      return "update_norm";
  }
  return "";
}

bool by_sublayer(Quantity quantity) {
  return quantity == Quantity::branch_variance || quantity == Quantity::trunk_variance ||
         quantity == Quantity::token_cosine || quantity == Quantity::layer_cosine;
}

float ratio_of(float update, float weight) { return weight > 0 ? update / weight : kNaN; }

}  // namespace

std::span<const QuantityInfo> quantities() { return kQuantities; }

const QuantityInfo& info(Quantity quantity) { return kQuantities[static_cast<size_t>(quantity)]; }

bool DepthPoints::measured() const {
  return std::any_of(y.begin(), y.end(), [](float v) { return std::isfinite(v); });
}

DepthPoints along_depth(LabData& data, const RunView& run, Quantity quantity, int matrix, int step) {
  DepthPoints points;
  const std::string suffix = suffix_of(quantity);
  const auto put = [&](const std::vector<float>& values, float offset) {
    for (size_t i = 0; i < values.size(); ++i)
      points.x.push_back(static_cast<float>(i + 1) - offset), points.y.push_back(values[i]);
  };
  if (by_sublayer(quantity)) {
    const std::vector<float> attention = data.by_layer(run, "attn." + suffix, step);
    const std::vector<float> feed_forward = data.by_layer(run, "ffn." + suffix, step);
    for (size_t i = 0; i < feed_forward.size(); ++i) {
      points.x.push_back(static_cast<float>(i) + 0.5f), points.y.push_back(attention[i]);
      points.x.push_back(static_cast<float>(i) + 1), points.y.push_back(feed_forward[i]);
    }
    return points;
  }
  const std::string path = kMatrices[matrix].path;
  switch (quantity) {
    case Quantity::update_ratio: {
      std::vector<float> values = data.by_layer(run, path + ".update_norm", step);
      const std::vector<float> weights = data.by_layer(run, path + ".weight_norm", step);
      for (size_t i = 0; i < values.size(); ++i) values[i] = ratio_of(values[i], weights[i]);
      put(values, 0);
      break;
    }
    case Quantity::gradient:
      put(data.by_layer(run, path + ".grad_norm", step), 0);
      break;
    case Quantity::attention_entropy:
      put(data.by_layer(run, "attn." + suffix, step), 0);
      break;
    default:
      put(data.by_layer(run, "ffn." + suffix, step), 0);
  }
  return points;
}

std::shared_ptr<const Line> over_time(LabData& data, const RunView& run, Quantity quantity, int matrix,
                                      int layer) {
  const std::string place = fmt::format("L{:02}.", layer + 1), path = kMatrices[matrix].path;
  if (quantity == Quantity::update_ratio)
    return data.quotient(run, place + path + ".update_norm", place + path + ".weight_norm");
  if (quantity == Quantity::gradient) return data.stat(run, place + path + ".grad_norm");
  const char* sub = quantity == Quantity::attention_entropy ? "attn." : "ffn.";
  return data.stat(run, place + sub + suffix_of(quantity));
}

double Dependency::parts() const {
  double sum = 0, squares = 0;
  for (float share : rows.back()) sum += share, squares += static_cast<double>(share) * share;
  return squares > 0 ? sum * sum / squares : 0;
}

double Dependency::newest() const {
  double sum = 0;
  for (float share : rows.back()) sum += share;
  return sum > 0 ? rows.back().back() / sum : 0;
}

Dependency dependency(LabData& data, const RunView& run, int step) {
  Dependency result;
  const int sublayers = 2 * layers_of(run);
  for (int i = 1; i <= sublayers; ++i) {
    std::vector<float> row;
    for (int j = 0; j <= i; ++j) row.push_back(data.value(run, fmt::format("beta2.{}.{}", i, j), step));
    if (!std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); })) return {};
    result.sums.push_back(data.value(run, fmt::format("beta2.{}.sum", i), step));
    result.rows.push_back(std::move(row));
  }
  return result;
}

float own_share(LabData& data, const RunView& run, int layer, Sub sub, int step) {
  const int i = 2 * layer + (sub == Sub::feed_forward ? 2 : 1);
  return data.value(run, fmt::format("beta2.{}.{}", i, i), step);
}

NormBand pre_ln_band(const ModelConfig& model) {
  if (model.init != InitRule::Xavier || model.activation != Activation::Relu) return {};
  // x_0: the token table has unit variance, positions add theirs.
  double q = 1;
  if (model.stack().embedding == NormKind::None)
    q += model.positions == Positions::Learned ? 1 : model.positions == Positions::Sinusoidal ? 0.5 : 0;
  NormBand band;
  const double r = static_cast<double>(model.feed_forward) / model.width;
  for (int layer = 1; layer <= model.layers; ++layer) {
    const theory::Bounds bounds = theory::pre_stream_square(layer, r, q);
    band.lo.push_back(static_cast<float>(bounds.low)), band.hi.push_back(static_cast<float>(bounds.high));
  }
  return band;
}

}  // namespace normscope::lab
