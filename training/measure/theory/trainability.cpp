// The mean field of trainability.h. A layer is two passes, each with the numbers that its way back needs:
//
//   up    q: mean square of a state; C: covariance of two tokens' states of a sequence; c = C/q
//         attention     q_f = k (c + (1-c) a),  C_f = k (c + (1-c) b),  logits of variance v (1-c) among a query's keys
//         feed-forward  q_f = k,                C_f = k kappa(c)
//         both times q, or once the norm before the branch has made it one
//   down  p, P: the same of the loss gradient
//         attention     p_f = k (a p + m v (1-c)(2-c) p + w P),  what is left over of the sum over all pairs is P_f
//         feed-forward  p_f = k p,                               P_f = k kappa_0(c) P
//         a norm divides both by the mean square that it read
//
// a, m: KeyShares; b: two queries' common keys; w: weight of other queries' gradients; kappa, kappa_0: Cho and Saul
// 2009. docs/theory.md derives this and compares it with networks.
#include "training/measure/theory/trainability.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/model/residual.h"
#include "training/measure/theory/theory.h"

namespace normscope::theory {
namespace {

/// The x below which a normal variable is with probability p, by Newton's method.
double normal_quantile(double p) {
  double x = 0;
  for (int i = 0; i < 60; ++i) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (std::erfc(-x / std::numbers::sqrt2) / 2 - p) / std::max(density, 1e-12);
    x -= std::clamp(step, -0.5, 0.5);
    if (std::fabs(step) < 1e-12) break;
  }
  return x;
}

/// The token moments of states or gradients: mean square of one token, covariance of two tokens of a sequence.
struct TokenMoments {
  double square = 0, covariance = 0;
  double cosine() const { return square > 0 ? std::clamp(covariance / square, 0.0, 1.0) : 0; }
  void scale(double by) {
    square *= by;
    covariance *= by;
  }
};

/// A sub-layer on the way up, with what its way back needs.
struct Pass {
  bool attends = false;
  double enter = 1, before = 1, after = 1, stream = 1;  ///< divisor of each norm; 1: there is none
  double gain = 0;              ///< variance that the branch's matrices give a unit input
  double skip = 1, branch = 1;  ///< squared scales
  SublayerAtStart joined = {};
  double logits = 0;  ///< variance of the logits among a query's keys
  double cosine = 0;  ///< of what the branch reads
  KeyShares::Shares keys = {};
};

class Walk {
 public:
  Walk(const ModelConfig& config, double same_token);

  AtStart run() {
    for (const LayerWiring& layer : stack_.layers) {
      pass(layer.attention, true);
      pass(layer.feed_forward, false);
    }
    // Two tokens' loss gradients agree where their labels do.
    TokenMoments gradient{1, same_token_};
    for (auto of = passes_.rbegin(); of != passes_.rend(); ++of) {
      gradient.scale(1 / of->stream);
      TokenMoments branch = gradient;
      branch.scale(of->branch / of->after);
      branch = back_through(*of, branch);
      branch.scale(1 / of->before);
      gradient.scale(of->skip);
      gradient.square += branch.square;
      gradient.covariance += branch.covariance;
      gradient.scale(1 / of->enter);
    }
    double logits = 0;
    for (const Pass& of : passes_) logits = std::max(logits, of.logits);
    AtStart result{state_.cosine(), state_.square, std::sqrt(gradient.square), logits};
    for (const Pass& of : passes_) result.sublayers.push_back(of.joined);
    return result;
  }

 private:
  /// The factor by which a matrix of the sub-layers multiplies the mean square of its input.
  double matrix(double gain, int32_t in, int32_t out) const {
    const double deviation = gains_.deviation > 0 ? gains_.deviation : gain * std::sqrt(2.0 / (in + out));
    return in * deviation * deviation * config_.init_scale * config_.init_scale;
  }

  void pass(const Wiring& wiring, bool attends) {
    Pass to{.attends = attends};
    const auto divide = [](TokenMoments& moments, const WiredNorm& norm) {
      const double by = norm == NormKind::None ? 1 : moments.square;
      moments.scale(1 / by);
      return by;
    };
    to.enter = divide(state_, wiring.enter);
    TokenMoments read = state_;
    to.before = divide(read, wiring.before) / (wiring.pre_scale * wiring.pre_scale);
    read.scale(wiring.pre_scale * wiring.pre_scale);
    TokenMoments branch = branch_of(to, wiring, read);
    to.skip = wiring.skip.profile == Scale::Profile::None ? wiring.skip.value * wiring.skip.value : admin_;
    admin_ = to.skip * state_.square + branch.square;
    // A branch that starts at zero has no norm to speak of: nothing is divided by nothing.
    to.after = wiring.after == NormKind::None || branch.square == 0 ? 1 : divide(branch, wiring.after);
    to.branch = wiring.branch.value * wiring.branch.value;
    state_.scale(to.skip);
    to.joined = {state_.square, to.branch * branch.square};
    state_.square += to.branch * branch.square;
    state_.covariance += to.branch * branch.covariance;
    to.stream = divide(state_, wiring.stream);
    passes_.push_back(to);
  }

  TokenMoments branch_of(Pass& to, const Wiring& wiring, TokenMoments read) const {
    const int32_t D = config_.d_model, F = config_.feed_forward;
    const double own_gain = std::pow(wiring.init_gain, 4), c = read.cosine();
    to.cosine = c;
    if (!to.attends) {
      to.gain = own_gain * matrix(gains_.first, D, F) / 2 * matrix(gains_.second, F, D);
      return {to.gain * read.square, to.gain * read.square * relu_correlation(c)};
    }
    const double output = config_.output_projection ? matrix(gains_.output, D, D) : 1;
    to.gain = own_gain * matrix(gains_.value, D, D) * output;
    const auto row = [&](const WiredNorm& norm, double gain) {
      return norm == NormKind::None ? matrix(gain, D, D) * read.square : 1.0;
    };
    to.logits = row(wiring.inner.query, gains_.query) * row(wiring.inner.key, gains_.key) * (1 - c);
    to.keys = keys_.at(to.logits);
    return {to.gain * read.square * (c + (1 - c) * to.keys.own),
            to.gain * read.square * (c + (1 - c) * even_.common_key)};
  }

  TokenMoments back_through(const Pass& of, TokenMoments g) const {
    if (!of.attends) {
      const double both_on = 1 - std::acos(of.cosine) / std::numbers::pi;  // of 1/2: kappa_0 of Cho and Saul
      return {of.gain * g.square, of.gain * g.covariance * both_on};
    }
    const double T = config_.sequence, c = of.cosine;
    // Through the logits comes back the gradient's part along the keys' differences.
    const double own = (of.keys.own + of.keys.moved * of.logits * (2 - c)) * g.square;
    TokenMoments back{own + even_.others * g.covariance, 0};
    // Of a sequence, over T: attention hands all of it on.
    const double all = g.square + (T - 1) * g.covariance;
    back.covariance =
        T > 1 ? std::max(0.0, (all - of.keys.own * g.square - even_.others * g.covariance) / (T - 1)) : 0;
    back.scale(of.gain);
    return back;
  }

  const ModelConfig& config_;
  const StackWiring& stack_;
  InitGains gains_;
  KeyShares keys_;
  EvenAttention even_;
  double same_token_, admin_ = 1;  ///< the squared skip scale that Admin's profiling has come to
  TokenMoments state_;
  std::vector<Pass> passes_;
};

Walk::Walk(const ModelConfig& config, double same_token)
    : config_(config),
      stack_(config.stack()),
      gains_(init_gains(config.init, context_of(config, config.architecture == Architecture::Decoder))),
      keys_(config.sequence, config.architecture == Architecture::Decoder),
      even_(even_attention(config.sequence, config.architecture == Architecture::Decoder)),
      same_token_(config.gaussian_input ? 0 : same_token) {
  const double table = config.gaussian_input ? 1 : gains_.embedding * gains_.embedding;
  const bool positions = config.positions == Positions::Learned && !config.gaussian_input;
  state_ = {table * (positions ? 2 : 1), table * same_token_};
  if (stack_.embedding != NormKind::None) state_.scale(1 / state_.square);
}

constexpr const char* kOtherNorm =
    "rows leave a norm with another mean square than one, or its backward pass holds something constant";

const char* objection_to(const Wiring& w) {
  const Inner& inner = w.inner;
  if (w.bottom) return "the layer's input joins the sum again";
  if (w.parallel) return "a branch reads the layer's input";
  if (inner.value != NormKind::None || inner.output != NormKind::None)
    return "there are norms inside a branch";
  if (has_unit_vectors(w) || w.branch.kind == Scale::Kind::Toward)
    return "the vectors of the matrices are divided by their lengths, or a learned share mixes branch and stream";
  if (inner.head_scale || inner.shifts) return "there are learned numbers inside a branch";
  if (w.skip.profile == Scale::Profile::AtOnce) return "the skip scales come from a pass of their own";
  return objection_to_words(w);
}

const char* objection_to(const ModelConfig& c) {
  if (!is_transformer(c.architecture)) return "there is no residual stream";
  if (c.architecture == Architecture::EncoderDecoder)
    return "cross-attention adds a third branch to every layer";
  const StackWiring& stack = c.stack();
  for (const ResidualRow* row : residual_rows())
    if (row->layout && row->layout(stack)) return row->objection;
  if (c.init == InitRule::LookLinear) return "the feed-forward network starts as a linear map";
  if (c.activation != Activation::Relu) return "the activation is not ReLU";
  const auto divides = [](const WiredNorm& norm) { return norm == NormKind::None || is_plain(norm); };
  for (const WiredNorm& norm : norms_of(stack))
    if (!divides(norm)) return kOtherNorm;
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.feed_forward})
      for (const WiredNorm& norm : norms_of(*w))
        if (!divides(norm)) return kOtherNorm;
  if (c.positions != Positions::Learned && c.positions != Positions::None)
    return "positions are neither drawn nor absent";
  if (const char* why = objection_to_parts(c)) return why;
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.feed_forward})
      if (const char* why = objection_to(*w)) return why;
  return nullptr;
}

}  // namespace

KeyShares::KeyShares(int32_t tokens, bool causal) {
  constexpr int32_t kQueries = 64;
  const int32_t queries = causal ? std::min(tokens, kQueries) : 1;
  for (int32_t k = 0; k < queries; ++k) {
    // Of a longer sequence, as many queries spread evenly over it.
    const int32_t keys = causal ? static_cast<int32_t>((k + 0.5) * tokens / queries) + 1 : tokens;
    std::vector<double>& of_query = quantiles_.emplace_back();
    for (int32_t i = 0; i < keys; ++i) of_query.push_back(normal_quantile((i + 0.5) / keys));
  }
}

KeyShares::Shares KeyShares::at(double logit_variance) const {
  const double deviation = std::sqrt(std::max(0.0, logit_variance));
  Shares mean;
  for (const std::vector<double>& of_query : quantiles_) {
    double sum = 0, squares = 0, cubes = 0;
    for (double quantile : of_query) {
      const double weight = std::exp(deviation * (quantile - of_query.back()));
      sum += weight;
      squares += weight * weight;
      cubes += weight * weight * weight;
    }
    squares /= sum * sum;
    cubes /= sum * sum * sum;
    mean.own += squares / static_cast<double>(quantiles_.size());
    mean.moved += (squares - 2 * cubes + squares * squares) / static_cast<double>(quantiles_.size());
  }
  return mean;
}

AtStart at_start(const ModelConfig& config, double same_token) {
  const auto none = [](Message why) {
    AtStart result;
    result.objection = std::move(why);
    return result;
  };
  if (const char* why = objection_to(config)) return none(why);
  if (same_token <= 0 && !config.gaussian_input) return none("how often symbols repeat is not known");
  AtStart result = Walk(config, same_token).run();
  if (result.logits <= kMostLogits) return result;
  return none(Message("attention's logits start with a variance of {:.3g}, and this theory ends at {}",
                      result.logits, kMostLogits));
}

}  // namespace normscope::theory
