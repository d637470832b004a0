// The lines for plots by layer: each equation with its assumptions, as code. See theory.h and docs/theory.md.
#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "training/measure/theory/theory_curves.h"
#include "training/measure/theory/theory_states.h"

namespace normscope::theory {
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
                  // tests/training/measure/test_theory_lines.cpp
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
    line.equation = &equation(rule.equation);
    line.within = rule.within;
    rule.draw(config, question, line);
    for (size_t l = 1; l <= line.low.size(); ++l) line.x.push_back(static_cast<double>(l));
    result.push_back(std::move(line));
  }
  return result;
}

std::string objection(std::string_view name, const ModelConfig& config, const Question& question) {
  for (const Rule& rule : kRules)
    if (name == rule.equation) {
      const Objection why = rule.objection(config, question);
      return why ? why : "";
    }
  fail("theory", "'{}' draws no line by layer", name);
}

}  // namespace normscope::theory
