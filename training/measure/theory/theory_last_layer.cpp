// "last layer": the gradient of the last layer's W2 at initialisation on real text. See theory.h.
//
// With h_i = relu(z_i W1) and d_i the loss gradient of token i at the last residual sum,
//   |dL/dW2|^2 = 1/n^2 sum_ij <h_i, h_j> <d_i, d_j>
//   <h_i, h_j> = D r/(1+r) kappa(cos of z_i, z_j)
//   <d_i, d_j> = <g_i, g_j> / q    behind the last norm, which also removes what points along the state
//   g_i        = sum_v (p_iv - [v = y_i]) e_v
// The output rows e_v are nearly orthogonal, so that <g_i, g_j> counts how often p_i, p_j and the labels meet.
// docs/theory.md derives this and says what it assumes.
#include <algorithm>
#include <array>
#include <cmath>

#include "training/data/task.h"
#include "training/measure/theory/theory.h"
#include "training/measure/theory/theory_states.h"

namespace normscope::theory {
namespace {

// V sum_v p_v p'_v for softmax of V Gaussian logits of this variance and covariance, to first order in
// 1/V.
double overlap(double variance, double covariance, double V) {
  const double together = std::exp(covariance), spread = std::exp(variance);
  return std::max(1.0, together / (1 + (2 * spread * (together - 1) - together + 1) / V));
}

// Inner products of two tokens' loss gradients at the last norm's input, times q.
class OutputGradients {
 public:
  OutputGradients(const ModelConfig& config, const Agreement& data, double own_symbol)
      : data_(data), V_(data.vocabulary), own_(config.tied_output ? own_symbol : 0) {
    if (config.tied_output) {
      const double logit = std::sqrt(config.d_model * own_), others = (V_ - 1) * std::exp((1 - own_) / 2);
      p_ = std::exp(logit) / (std::exp(logit) + others);
    }
  }
  double of_one() const {
    return p_ * p_ * (1 - own_) + (1 - p_) * (1 - p_) / V_ * overlap(1 - own_, 1 - own_, V_) -
           2 * (p_ * data_.repeat * (1 - own_) + (1 - p_) / V_) + 1;
  }
  double of_pair(bool same_token, double cosine) const {
    const double other = 1 - data_.token;
    const double labels_meet = same_token ? data_.pair / data_.token : (data_.token - data_.pair) / other;
    const double label_is_token = same_token ? data_.repeat : data_.token * (1 - data_.repeat) / other;
    const double tokens_meet = same_token ? p_ * p_ * (1 - 2 * own_ + own_ * cosine) : 0;
    return tokens_meet + (2 * p_ + (1 - p_) * overlap(1 - own_, cosine * (1 - own_), V_)) * (1 - p_) / V_ -
           2 * (p_ * label_is_token * (1 - own_) + (1 - p_) / V_) + labels_meet;
  }

 private:
  const Agreement& data_;
  double V_, own_;  // own_: the token's own symbol's share of the state, if tables are tied
  double p_ = 0;    // the probability that it gives to its own symbol for that
};

// Excludes relative positions because States takes attention for even over the positions that a query sees:
// no sum of its has a term of distance in the logits. Sinusoidal positions are correlated with each other.
bool applies(const ModelConfig& config) {
  const bool even = config.positions == Positions::Learned || config.positions == Positions::None;
  const Placement placement = placement_of_stack(config, true);
  return config.architecture == Architecture::Decoder && config.classes == 0 && !config.gaussian_input &&
         config.output_projection && (placement == Placement::Post || placement == Placement::Pre) &&
         config.init == InitRule::Xavier && config.init_scale == 1 && config.transfer == Transfer::None &&
         config.activation == Activation::Relu && is_plain(config.norm) && even &&
         config.attention == AttentionConfig{} && !config.gated && has_plain_embedding(config) &&
         config.logit_cap == 0 && config.dropout_residual == 0 && config.dropout_attention == 0 &&
         config.dropout_activation == 0;
}

}  // namespace

Agreement agreement_of(const Task& task, int32_t length) {
  constexpr int32_t kRows = 16, kBatches = 32;
  if (task.form() != TaskForm::NextSymbol) return {};
  const auto V = static_cast<size_t>(task.vocabulary());
  std::vector<double> count(V);
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (uint64_t step = 1; step <= kBatches; ++step) {
    const Batch batch = task.draw(1, step, Split::Train, kRows, length);
    for (size_t i = 0; i < batch.tokens.size(); ++i) {
      if (batch.targets[i] < 0) return {};
      ++count[static_cast<size_t>(batch.tokens[i])];
      pairs.emplace_back(batch.tokens[i], batch.targets[i]);
    }
  }
  Agreement result{.vocabulary = task.vocabulary()};
  const double n = static_cast<double>(pairs.size());
  for (double c : count) result.token += c * c / (n * n);
  std::sort(pairs.begin(), pairs.end());
  for (auto at = pairs.begin(); at != pairs.end();) {
    const auto end = std::upper_bound(at, pairs.end(), *at);
    const double c = static_cast<double>(end - at);
    result.pair += c * c / (n * n);
    if (at->first == at->second) result.repeat += c / n;
    at = end;
  }
  return result;
}

std::optional<LastLayer> last_layer_start(const ModelConfig& config, int32_t batch, const Agreement& data) {
  if (!applies(config) || data.vocabulary < 2 || data.token <= 0 || data.token >= 1) return {};
  States states(config, true, data.token);
  Pairs<double> hidden{};
  for (int32_t l = 0; l < config.layers; ++l) {
    states.attend();
    states.feed_forward(hidden);
  }

  const OutputGradients gradients(config, data, states.own_symbol());
  const double T = config.sequence, B = batch, n = B * T;
  const std::array<double, kPairPlaces> count = {T - 1, B - 1, (B - 1) * (T - 1)};
  double sum = 0;
  for (size_t place = 0; place < kPairPlaces; ++place)
    for (size_t other = 0; other < 2; ++other)
      sum += count[place] * (other ? 1 - data.token : data.token) * hidden[place][other] *
             gradients.of_pair(other == 0, states.cosine(place, other));
  LastLayer result{.square = states.last_sum(), .token_gradient = gradients.of_one()};
  if (n > 1) result.alignment = sum / (n - 1) / result.token_gradient;
  result.gradient =
      last_layer_gradient(config.d_model, n, result.square, result.token_gradient, result.alignment,
                          static_cast<double>(config.feed_forward) / config.d_model);
  return result;
}

}  // namespace normscope::theory
