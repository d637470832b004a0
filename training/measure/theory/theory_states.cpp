#include "training/measure/theory/theory_states.h"

#include <algorithm>

#include "training/measure/theory/theory_curves.h"

namespace normscope::theory {

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
  // Query t sees the T or t positions 1..t, each with the weight 1/t: a query's own key is one of 1/t (mean:
  // harmonic / T), and two queries s, t share 1/max(s, t) of their keys.
  const double T = config.sequence;
  const bool causal = decoder;
  double harmonic = 0;
  for (int32_t t = 1; t <= config.sequence; ++t) harmonic += 1.0 / t;
  own_key_ = causal ? harmonic / T : 1 / T;
  common_key_ = causal ? (2 * T - harmonic) / (T * T) : 1 / T;
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
