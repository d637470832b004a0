#include "training/measure/theory/theory_states.h"

#include <algorithm>

#include "training/measure/theory/theory_curves.h"

namespace normscope::theory {

EvenAttention even_attention(int32_t tokens, bool causal) {
  const double T = tokens;
  if (!causal) return {1 / T, 1 / T, (T - 1) / T};
  // Query t weighs each of its keys 1/t (mean: harmonic / T), and two queries s, t share 1/max(s, t) of their keys.
  double harmonic = 0;
  for (int32_t t = 1; t <= tokens; ++t) harmonic += 1.0 / t;
  return {harmonic / T, (2 * T - harmonic) / (T * T), 2 - 2 * harmonic / T};
}

const char* objection_to_parts(const ModelConfig& c) {
  if (!(c.attention == AttentionConfig{}))
    return "attention's heads have another width, number, reach or scale";
  if (c.transfer != Transfer::None) return "start and rates follow the size of the model (model.transfer)";
  if (c.gated) return "the feed-forward network is a product of two";
  if (!has_plain_embedding(c)) return "the embedding is of another kind";
  if (c.dropout_residual != 0 || c.dropout_attention != 0 || c.dropout_activation != 0)
    return "dropout adds variance";
  return nullptr;
}

Placement placement_of_stack(const ModelConfig& config, bool decoder) {
  return placement_of(decoder ? config.decoder : config.encoder, context_of(config, decoder));
}

double start_square(const ModelConfig& config, bool decoder) {
  const StackWiring& stack = decoder ? config.decoder : config.encoder;
  if (config.gaussian_input || stack.embedding != NormKind::None) return 1;
  return config.positions == Positions::Learned ? 2 : config.positions == Positions::Sinusoidal ? 1.5 : 1;
}

States::States(const ModelConfig& config, bool decoder, double same_token)
    : post_(placement_of_stack(config, decoder) == Placement::Post),
      gain_(feed_forward_gain(static_cast<double>(config.feed_forward) / config.d_model)),
      same_token_(config.gaussian_input ? 0 : same_token) {
  const double position = config.positions == Positions::Learned && !config.gaussian_input ? 1 : 0;
  square_ = 1 + position;
  covariance_ = {{{1, 0}, {1 + position, position}, {1, 0}}};
  const StackWiring& stack = decoder ? config.decoder : config.encoder;
  if (stack.embedding != NormKind::None) divide(square_);
  const EvenAttention even = even_attention(config.sequence, decoder);
  own_key_ = even.own_key;
  common_key_ = even.common_key;
}

void States::attend() {
  const double scale = post_ ? 1 : square_, within = mean(kSequence), apart = mean(kApart);
  const double common = within + (square_ - within) * common_key_,
               own = within + (square_ - within) * own_key_,
               other = apart + (mean(kColumn) - apart) * common_key_;
  square_ += own / scale;
  for (size_t place = 0; place < kPairPlaces; ++place)
    for (double& c : covariance_[place]) c += (place == kSequence ? common : other) / scale;
  last_sum_ = square_;
  if (post_) divide(square_);
}

void States::feed_forward(Pairs<double>& hidden) {
  const double added = gain_ * (post_ ? square_ : 1);
  for (size_t place = 0; place < kPairPlaces; ++place)
    for (size_t other = 0; other < 2; ++other) {
      hidden[place][other] = relu_correlation(cosine(place, other));
      covariance_[place][other] += added * hidden[place][other];
    }
  square_ += added;
  last_sum_ = square_;
  if (post_) divide(square_);
}

double States::cosine(size_t place, size_t other) const {
  return std::min(1.0, covariance_[place][other] / square_);
}

void States::divide(double by) {
  for (auto& pair : covariance_)
    for (double& c : pair) c /= by;
  own_ /= by;
  square_ /= by;
}

}  // namespace normscope::theory
