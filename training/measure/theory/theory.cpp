#include "training/measure/theory/theory.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/model/residual.h"
#include "training/data/task.h"

namespace normscope::theory {

double feed_forward_gain(double r) { return 2 * r / ((1 + r) * (1 + r)); }
double post_residual_square(double r) { return 1 + feed_forward_gain(r); }

Bounds pre_stream_square(int32_t layers, double r, double q0) {
  const double g = feed_forward_gain(r);
  return {q0 + layers * g, q0 + layers * (1 + g)};
}

double relu_correlation(double c) {
  c = std::clamp(c, -1.0, 1.0);
  return (std::sqrt(1 - c * c) + (std::numbers::pi - std::acos(c)) * c) / std::numbers::pi;
}

double last_layer_gradient(double width, double n, double q, double g2, double a, double r) {
  return std::sqrt(width * r / (1 + r) / (n * q) * g2 * (1 + (n - 1) * a));
}

std::vector<double> pre_gradient_profile(std::span<const double> squares) {
  std::vector<double> profile;
  for (double q : squares) profile.push_back(std::sqrt(squares.back() / q));
  return profile;
}

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

namespace {

using Objection = const char*;  // null: none
constexpr Objection kNone = nullptr;

bool has_cross(const ModelConfig& c, const Question& q) {
  return q.decoder && c.architecture == Architecture::EncoderDecoder;
}
int32_t layers_of(const ModelConfig& c, const Question& q) {
  return static_cast<int32_t>((q.decoder ? c.decoder : c.encoder).layers.size());
}
double ratio_of(const ModelConfig& c) { return static_cast<double>(c.feed_forward) / c.d_model; }

// Checks what every line needs: weights of known variance, a positively homogeneous function with known
// gains, norms after which a row has mean square one, and no noise.
Objection of_model(const ModelConfig& c) {
  if (c.init != InitRule::Xavier && c.init != InitRule::Theory)
    return "the weights do not start with Xavier's variances";
  if (c.init_scale != 1) return "the weights start larger or smaller than Xavier's";
  if (c.attention.start != 1) return "W_O starts larger or smaller than Xavier's";
  if (c.attention.mixing != 1) return "attention gives a token a share of its own values";
  if (c.activation != Activation::Relu) return "the activation is not ReLU";
  if (!is_plain(c.norm))
    return "rows leave this norm with another mean square than one, or its backward pass holds something constant";
  // No derivation here has a term of position in the logits: attention is taken for nearly even over the positions that
  // a query sees, and no network with relative positions was compared with a line.
  if (are_in_attention(c.positions)) return "attention weighs keys by their distance";
  return objection_to_parts(c);
}

Objection of_stack(const ModelConfig& c, const Question& q, Placement placement) {
  if (!is_transformer(c.architecture)) return "there is no residual stream";
  if (placement_of_stack(c, q.decoder) != placement) return "the stack is wired otherwise";
  if (has_cross(c, q)) return "cross-attention adds a third branch to every layer";
  return of_model(c);
}

// Checks what the covariances of tokens need.
Objection of_tokens(const ModelConfig& c, const Question& q) {
  if (q.subject == Subject::TokenCosine && q.same_token <= 0 && !c.gaussian_input)
    return "how often symbols repeat is not known";
  if (c.positions == Positions::Sinusoidal && !c.gaussian_input)
    return "sinusoidal positions are correlated with each other";
  return kNone;
}

Objection first(Objection a, Objection b) { return a ? a : b; }

Objection post_square(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::StreamSquare) return "another quantity";
  return of_stack(c, q, Placement::Post);
}
Objection pre_square(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::StreamSquare) return "another quantity";
  return of_stack(c, q, Placement::Pre);
}
Objection cosine(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::TokenCosine) return "another quantity";
  const bool post = placement_of_stack(c, q.decoder) == Placement::Post;
  return first(of_stack(c, q, post ? Placement::Post : Placement::Pre), of_tokens(c, q));
}
// Liu et al. 2020, Theorem 1 and appendix A.2, for the feed-forward part.
Objection post_gradient(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::Gradient) return "another quantity";
  if (q.loss != Loss::OnePosition) return "in a batch mean the gradients of positions add up";
  if (c.init != InitRule::Theory) return "attention that is not even loses gradient";
  if (layers_of(c, q) > 12) return "networks of finite width drift over so many layers";
  return of_stack(c, q, Placement::Post);
}
Objection pre_gradient(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::Gradient) return "another quantity";
  return first(of_stack(c, q, Placement::Pre), of_tokens(c, q));
}
// Needs a norm on the residual stream: then next to nothing comes back through the cross branch. Its
// variance is measured, so that neither the start nor the encoder has to be a particular one.
Objection decoder_gradient(const ModelConfig& c, const Question& q) {
  if (q.subject != Subject::Gradient) return "another quantity";
  if (!has_cross(c, q)) return "there is no cross-attention";
  if (placement_of_stack(c, true) != Placement::Post) return "the stack is wired otherwise";
  if (q.cross_variance.size() != static_cast<size_t>(layers_of(c, q)))
    return "the variance of the cross branches is not known";
  ModelConfig xavier = c;
  if (c.init == InitRule::Normal002) xavier.init = InitRule::Xavier;  // gains cancel, whatever they are
  return of_model(xavier);
}

std::vector<double> pre_profile(const ModelConfig& c, const Question& q) {
  States states(c, q.decoder, q.same_token);
  std::vector<double> squares;
  Pairs<double> hidden{};
  for (int32_t l = 0; l < layers_of(c, q); ++l) {
    states.attend();
    states.feed_forward(hidden);
    squares.push_back(states.last_sum());
  }
  return pre_gradient_profile(squares);
}

void draw_post_square(const ModelConfig& c, const Question& q, Line& to) {
  to.low.assign(static_cast<size_t>(layers_of(c, q)), post_residual_square(ratio_of(c)));
}
void draw_pre_square(const ModelConfig& c, const Question& q, Line& to) {
  for (int32_t l = 1; l <= layers_of(c, q); ++l) {
    const Bounds bounds = pre_stream_square(l, ratio_of(c), start_square(c, q.decoder));
    to.low.push_back(bounds.low);
    to.high.push_back(bounds.high);
  }
}
void draw_cosine(const ModelConfig& c, const Question& q, Line& to) {
  States states(c, q.decoder, q.same_token);
  Pairs<double> hidden{};
  for (int32_t l = 0; l < layers_of(c, q); ++l) {
    states.attend();
    states.feed_forward(hidden);
    to.low.push_back(std::min(1.0, states.cosine_in_sequence()));
  }
}
void draw_even(const ModelConfig& c, const Question& q, Line& to) {
  to.low.assign(static_cast<size_t>(layers_of(c, q)), 1.0);
}
void draw_pre_gradient(const ModelConfig& c, const Question& q, Line& to) { to.low = pre_profile(c, q); }
void draw_decoder(const ModelConfig&, const Question& q, Line& to) {
  to.low = decoder_gradient_profile(q.cross_variance);
}

struct Rule {
  const char* equation;
  double within;  // for networks at initialisation, see Line::within; held by
                  // tests/training/measure/test_theory.cpp
  Objection (*objection)(const ModelConfig&, const Question&);
  void (*draw)(const ModelConfig&, const Question&, Line&);
};
constexpr Rule kRules[] = {
    {"Lemma 2, Post-LN", 1.25, post_square, draw_post_square},
    {"Lemma 2, Pre-LN", 1.1, pre_square, draw_pre_square},
    {"token cosine", 1.35, cosine, draw_cosine},
    {"Post-LN profile", 1.35, post_gradient, draw_even},
    {"Pre-LN profile", 1.35, pre_gradient, draw_pre_gradient},
    {"decoder profile", 1.4, decoder_gradient, draw_decoder},
};

// V sum_v p_v p'_v for softmax of V Gaussian logits of this variance and covariance, to first order in 1/V.
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
         config.init == InitRule::Xavier && even && config.logit_cap == 0 && config.logit_scale == 1 &&
         of_model(config) == kNone;
}

}  // namespace

std::vector<double> decoder_gradient_profile(std::span<const double> cross_variance) {
  std::vector<double> profile(cross_variance.size(), 1.0);
  for (size_t l = profile.size(); l-- > 1;) profile[l - 1] = profile[l] / std::sqrt(1 + cross_variance[l]);
  return profile;
}

std::vector<Line> lines(const ModelConfig& config, const Question& question) {
  std::vector<Line> result;
  for (const Rule& rule : kRules) {
    if (rule.objection(config, question)) continue;
    Line line;
    line.equation = rule.equation;
    line.within = rule.within;
    rule.draw(config, question, line);
    for (size_t l = 1; l <= line.low.size(); ++l) line.x.push_back(static_cast<double>(l));
    result.push_back(std::move(line));
  }
  return result;
}

Message objection(std::string_view name, const ModelConfig& config, const Question& question) {
  for (const Rule& rule : kRules)
    if (name == rule.equation) {
      const Objection why = rule.objection(config, question);
      return why ? why : "";
    }
  fail("theory", "'{}' draws no line by layer", name);
}

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
  std::ranges::sort(pairs);
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

// The mean field. A layer is two passes, each with the numbers that its way back needs:
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
    // A branch that starts at zero has no norm to speak of: nothing is divided by nothing.
    to.after = wiring.after == NormKind::None || branch.square == 0 ? 1 : divide(branch, wiring.after);
    to.branch = wiring.branch.value * wiring.branch.value;
    state_.scale(to.skip);
    to.joined = {state_.square, to.branch * branch.square};
    state_.square += to.branch * branch.square;
    state_.covariance += to.branch * branch.covariance;
    admin_ = state_.square;
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
  if (result.logits <= kMaxLogits) return result;
  return none(Message("attention's logits start with a variance of {:.3g}, and this theory ends at {}",
                      result.logits, kMaxLogits));
}

}  // namespace normscope::theory
