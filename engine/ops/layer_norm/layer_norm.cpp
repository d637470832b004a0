// layer_norm checks its inputs and records one node. It saves mean and 1/sigma of every row, for DyT and Derf 0 and their
// factor.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// A row for each kind.
constexpr OpRule kNormRules[] = {
    {.variant = to_string(NormKind::LayerNorm),
     .title = "Layer norm",
     .formula =
         R"(y = \gamma \odot \hat x + \beta, \quad \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \sigma = \sqrt{\operatorname{var} x + \epsilon})",
     .shapes = "x (..,D), gain γ or γ - 1 (D), bias (D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule =
         R"(dx = \frac{c - \operatorname{mean} c - \hat x \odot \operatorname{mean}(c \odot \hat x)}{\sigma}, \quad c = \gamma \odot dy, \quad d\gamma = \sum_r dy_r \odot \hat x_r, \quad d\beta = \sum_r dy_r)",
     .source = "Ba, Kiros and Hinton 2016",
     .reads = {3, 1},
     .saved = 3},
    {.variant = to_string(NormKind::Simple),
     .title = "Layer norm, simple",
     .formula =
         R"(y = \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \sigma = \sqrt{\operatorname{var} x + \epsilon})",
     .shapes = "x (..,D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule =
         R"(dx = \frac{dy - \operatorname{mean} dy - \hat x \odot \operatorname{mean}(dy \odot \hat x)}{\sigma})",
     .source = "Xu et al. 2019",
     .reads = {1},
     .saved = 1},
    {.variant = to_string(NormKind::Rms),
     .title = "RMS norm",
     .formula =
         R"(y = \gamma \odot \hat x, \quad \hat x = \frac{x}{\rho}, \quad \rho = \sqrt{\operatorname{mean} x^2 + \epsilon})",
     .shapes = "x (..,D), gain γ or γ - 1 (D), y (..,D); saved: zero (R), 1/rho (R)",
     .rule =
         R"(dx = \frac{c - \hat x \odot \operatorname{mean}(c \odot \hat x)}{\rho}, \quad c = \gamma \odot dy, \quad d\gamma = \sum_r dy_r \odot \hat x_r)",
     .source = "Zhang and Sennrich 2019",
     .reads = {3, 1},
     .saved = 3},
    {.variant = to_string(NormKind::Detach),
     .title = "DetachNorm",
     .formula =
         R"(y = \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \text{mean and } \sigma \text{ held constant backward})",
     .shapes = "x (..,D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule = R"(dx = \frac{dy}{\sigma})",
     .source = "Xu et al. 2019",
     .reads = {1},
     .saved = 1},
    {.variant = to_string(NormKind::DetachMean),
     .title = "Layer norm, mean detached",
     .formula =
         R"(y = \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \text{the mean held constant backward})",
     .shapes = "x (..,D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule = R"(dx = \frac{dy - \hat x \odot \operatorname{mean}(dy \odot \hat x)}{\sigma})",
     .source = "Xu et al. 2019",
     .reads = {1},
     .saved = 1},
    {.variant = to_string(NormKind::DetachVariance),
     .title = "Layer norm, variance detached",
     .formula =
         R"(y = \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \sigma \text{ held constant backward})",
     .shapes = "x (..,D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule = R"(dx = \frac{dy - \operatorname{mean} dy}{\sigma})",
     .source = "Xu et al. 2019",
     .reads = {1},
     .saved = 1},
    {.variant = to_string(NormKind::Undivided),
     .title = "Layer norm, gradient undivided",
     .formula =
         R"(y = \gamma \odot \hat x + \beta, \quad \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \text{the gradient not divided by } \sigma)",
     .shapes = "x (..,D), gain γ (D), bias β (D), y (..,D); saved: mean (R), 1/sigma (R)",
     .rule =
         R"(dx = c - \operatorname{mean} c - \hat x \odot \operatorname{mean}(c \odot \hat x), \quad c = \gamma \odot dy, \quad d\gamma = \sum_r dy_r \odot \hat x_r, \quad d\beta = \sum_r dy_r)",
     .reads = {3, 1, 0},
     .saved = 3},
    {.variant = to_string(NormKind::AdaNorm),
     .title = "AdaNorm",
     .formula =
         R"(y = C (1 - k \hat x) \odot \hat x, \quad \hat x = \frac{x - \operatorname{mean} x}{\sigma}, \quad \text{the first factor held constant backward})",
     .shapes = "x (..,D), y (..,D); saved: mean (R), 1/sigma (R); C and k constant",
     .rule =
         R"(dx = \frac{c - \operatorname{mean} c - \hat x \odot \operatorname{mean}(c \odot \hat x)}{\sigma}, \quad c = C (1 - k \hat x) \odot dy)",
     .source = "Xu et al. 2019",
     .reads = {1},
     .saved = 1},
    {.variant = to_string(NormKind::DyT),
     .title = "Dynamic tanh",
     .formula = R"(y = \gamma \odot t + \beta, \quad t = \operatorname{tanh}(\alpha x))",
     .shapes = "x (..,D), gain γ or γ - 1 (D), bias (D), alpha (1), y (..,D); saved: zero (R), |t| / |x| (R)",
     .rule =
         R"(dx = \alpha c, \quad c = \gamma \odot (1 - t^2) \odot dy, \quad d\alpha = \sum_{r,j} c x, \quad d\gamma = \sum_r dy_r \odot t_r, \quad d\beta = \sum_r dy_r)",
     .source = "Zhu et al. 2025",
     .reads = {11, 9, 0, 11}},
    {.variant = to_string(NormKind::Derf),
     .title = "Dynamic erf",
     .formula = R"(y = \gamma \odot t + \beta, \quad t = \operatorname{erf}(\alpha x + s))",
     .shapes =
         "x (..,D), gain γ or γ - 1 (D), bias (D), alpha (1), shift s (1), y (..,D); saved: zero (R), |t| / |x| (R)",
     .rule =
         R"(dx = \alpha c, \quad c = \frac{2}{\sqrt{\pi}} \gamma \odot e^{-(\alpha x + s)^2} \odot dy, \quad d\alpha = \sum_{r,j} c x, \quad ds = \sum_{r,j} c, \quad d\gamma = \sum_r dy_r \odot t_r, \quad d\beta = \sum_r dy_r)",
     .source = "Chen et al. 2025",
     .reads = {27, 25, 0, 27, 27}},
    {.variant = to_string(NormKind::RmsSimple),
     .title = "RMS norm, simple",
     .formula = R"(y = \hat x = \frac{x}{\rho}, \quad \rho = \sqrt{\operatorname{mean} x^2 + \epsilon})",
     .shapes = "x (..,D), y (..,D); saved: zero (R), 1/rho (R)",
     .rule = R"(dx = \frac{dy - \hat x \odot \operatorname{mean}(dy \odot \hat x)}{\rho})",
     .source = "Zhang and Sennrich 2019",
     .reads = {1},
     .saved = 1}};

}  // namespace

ValueId layer_norm(Tape& tape, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads, const NormExtras& extras) {
  const Shape in = tape.shape(x);
  const std::string where = "layer_norm " + name;
  if (kind == NormKind::None) fail(where, "a norm of kind none computes nothing: expected another kind");
  const bool wants_gain = has_gain(kind), wants_bias = has_bias(kind);
  if ((gain != kNone) != wants_gain || (bias != kNone) != wants_bias)
    fail(where, "{} takes {} gain and {} bias", to_string(kind), wants_gain ? "a" : "no",
         wants_bias ? "a" : "no");
  if (heads < 1 || in.cols() % heads != 0)
    fail(where, "width {} is not a multiple of {} heads", in.cols(), heads);
  const int64_t width = in.cols() / heads, rows = in.rows() * heads;
  for (ValueId v : {gain, bias})
    if (v != kNone && tape.shape(v).size() != width)
      fail(where, "{} has {} numbers for rows of {}", tape.value(v).name, tape.shape(v).size(), width);
  if ((extras.alpha != kNone) != has_alpha(kind))
    fail(where, "{} takes {} alpha", to_string(kind), has_alpha(kind) ? "an" : "no");
  if ((extras.shift != kNone) != has_shift(kind))
    fail(where, "{} takes {} shift", to_string(kind), has_shift(kind) ? "a" : "no");
  for (const auto& [one, word] : {std::pair{extras.alpha, "alpha"}, {extras.shift, "shift"}})
    if (one != kNone && tape.shape(one).size() != 1)
      fail(where, "{} has {} numbers: expected one {}", tape.value(one).name, tape.shape(one).size(), word);
  if (extras.gain_offset != 0.0f && (extras.gain_offset != 1.0f || !wants_gain))
    fail(where, "a gain offset of {} for {}: expected 0{}", extras.gain_offset, to_string(kind),
         wants_gain ? " or 1" : "");
  Node node{.op = OpKind::LayerNorm, .name = name, .in = {x, gain, bias, extras.alpha, extras.shift}};
  node.attributes = NormSpec{kind, heads, eps, extras.scale, extras.slope, extras.gain_offset};
  return tape.add_node(std::move(node), in, {{"mean", {rows}}, {"inverse_sigma", {rows}}});
}

ValueId layer_norm(Tape& tape, const std::string& name, ValueId x) {
  const int64_t width = tape.shape(x).cols();
  tape.store().declare(name + ".gain", {width}, {Init::Kind::Constant, 1.0});
  tape.store().declare(name + ".bias", {width}, {});
  return layer_norm(tape, name, NormKind::LayerNorm, x, tape.parameter(name + ".gain"),
                    tape.parameter(name + ".bias"), 1e-5f);
}

OpRules layer_norm_rules() {
  return {kNormRules, [](const Attributes& a) { return to_string(a.as<NormSpec>().kind); }};
}

}  // namespace normscope
