// Each function checks its inputs and records one node; NAME_rules() gives the formula of the op, and the tensors that
// its backward pass reads. An op saves nothing unless its section says so.
#include "engine/ops/ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {

// ---- linear: saves nothing; its backward pass reads x and W

ValueId linear(Tape& tape, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed) {
  Node node = tape.node(OpKind::Linear, name, {x, weight, bias}, LinearSpec{transposed});
  const Shape &in = tape.shape(x), &w = tape.shape(weight);
  const std::string where = "linear " + tape.named(name);
  if (w.rank != 2) fail(where, "weight {} must have two dimensions", to_string(w));
  const int64_t inner = transposed ? w[1] : w[0], out_cols = transposed ? w[0] : w[1];
  if (in.cols() != inner)
    fail(where, "input {} does not match weight {}: expected input.cols == weight.{}", to_string(in),
         to_string(w), transposed ? "cols" : "rows");
  if (bias != kNone && tape.shape(bias).size() != out_cols)
    fail(where, "bias {} does not match weight {}: expected {} numbers", to_string(tape.shape(bias)),
         to_string(w), out_cols);
  Shape out = in;
  out.dim[out.rank - 1] = out_cols;
  return tape.add_node(std::move(node), out);
}

ValueId linear(Tape& tape, const std::string& name, ValueId x, int64_t outputs) {
  const TakesBack scope(tape);
  const int64_t inputs = tape.shape(x, "linear " + tape.named(name), "input 1").cols();
  const double deviation = 1 / std::sqrt(static_cast<double>(inputs));
  tape.declare(name + ".w", {inputs, outputs}, {Init::Kind::Normal, deviation});
  tape.declare(name + ".b", {outputs}, {});
  return linear(tape, name, x, tape.parameter(name + ".w"), tape.parameter(name + ".b"));
}

OpRules linear_rules() {
  static constexpr const char* kTransposed = "transposed";
  static constexpr OpRule kRows[] = {{.title = "Matrix product",
                                      .formula = R"(y = x W + b)",
                                      .shapes = "x (..,K), W (K,N), b (N) or none, y (..,N)",
                                      .rule = R"(dx = dy W^T, \quad dW = x^T dy, \quad db = \sum_r dy_r)",
                                      .reads = {2, 1}},
                                     {.variant = kTransposed,
                                      .title = "Matrix product, weight transposed",
                                      .formula = R"(y = x W^T + b)",
                                      .shapes = "x (..,K), W (N,K), b (N) or none, y (..,N)",
                                      .rule = R"(dx = dy W, \quad dW = dy^T x, \quad db = \sum_r dy_r)",
                                      .source = "tied output: Press and Wolf 2017",
                                      .reads = {2, 1}}};
  return {.rules = kRows,
          .variant = [](const Attributes& a) { return a.as<LinearSpec>().transposed ? kTransposed : ""; },
          .flop =
              [](const ProgramData& program, const Instruction& i) {
                return product_flop(program, i, input_shape(program.values, i, 0).cols());
              }};
}

// ---- attention: saves the probabilities, which backward and users read

namespace {

/// Throws for a window, a cap or a scale without meaning. Kernels divide the cap by the scale, and scores by the
/// quotient: if one of them is infinite, all scores are NaN.
void check_scores(const std::string& where, const AttentionSpec& spec, int64_t width) {
  if (spec.window < 0) fail(where, "a window of {} keys: expected at least 1, or 0 for all", spec.window);
  if (spec.alibi && !(spec.causal && spec.cap == 0))
    fail(where, "scores fall with the distance (ALiBi): expected a causal mask, and no cap");
  if (!(spec.scale >= 0 && std::isfinite(spec.scale)))
    fail(where, "scale {}: expected a positive number, or 0 for 1/sqrt(D/H)", spec.scale);
  const double cap = static_cast<double>(spec.cap);
  if (cap != 0 && !(cap > 0 && std::isnormal(static_cast<float>(cap / spec.scale_of(width)))))
    fail(where, "cap {}: expected a positive number, or 0 for none", spec.cap);
}

/// The FLOP of two products forward and four backward, dense, the masked half too; with a window, of its keys alone.
double attention_flop(const ProgramData& program, const Instruction& i) {
  const auto spec = i.attributes.as<AttentionSpec>();
  int64_t keys = input_shape(program.values, i, 1)[1];  // (B,T,D)
  if (spec.window > 0)
    keys = std::min<int64_t>(keys, spec.causal ? spec.window : 2 * int64_t{spec.window} - 1);
  const int backward = spec.cap > 0 ? 5 : 4;  // with a cap backward computes the scores again
  return 2 * (i.phase == Phase::Backward ? backward : 2) *
         static_cast<double>(program.values[static_cast<size_t>(i.out)].shape.size()) *
         static_cast<double>(keys);
}

}  // namespace

double alibi_slope(int64_t head, int64_t heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const double place = head < power ? static_cast<double>(head + 1) : static_cast<double>(head - power) + 0.5;
  return std::exp2(-8 * place / static_cast<double>(power));
}

ValueId attention(Tape& tape, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec spec) {
  Node node = tape.node(OpKind::Attention, name, {q, k, v, key_lengths}, spec);
  const Shape &sq = tape.shape(q), &sk = tape.shape(k), &sv = tape.shape(v);
  const std::string where = "attention " + tape.named(name);
  if (sq.rank != 3 || sk.rank != 3 || !(sk == sv) || sq[0] != sk[0] || sk[2] > sq[2])
    fail(where, "queries {}, keys {} and values {} do not match: expected (B,Tq,D), (B,Tk,K), (B,Tk,K)",
         to_string(sq), to_string(sk), to_string(sv));
  if (spec.heads < 1 || sq[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", sq[2], spec.heads);
  if (const int64_t width = sq[2] / spec.heads; sk[2] % width != 0 || spec.heads % (sk[2] / width) != 0)
    fail(where, "{} heads of queries {} cannot share keys {} evenly: expected as many heads, or a divisor",
         spec.heads, to_string(sq), to_string(sk));
  if (spec.causal && sq[1] > sk[1])
    fail(where, "causal attention needs as many keys as queries, not {} and {}", sk[1], sq[1]);
  check_scores(where, spec, sq[2] / spec.heads);
  if (key_lengths != kNone && tape.shape(key_lengths).size() != sq[0])
    fail(where, "key lengths {} must be {} integers, one a row", to_string(tape.shape(key_lengths)), sq[0]);
  node.site = spec.dropout_site;
  return tape.add_node(std::move(node), sq, {{"probabilities", {sq[0], spec.heads, sq[1], sk[1]}}});
}

OpRules attention_rules() {
  static constexpr const char* kShapes =
      "q (B,Tq,D), k and v (B,Tk,D), or of fewer heads, which groups of q's share, key lengths (B) i32 or none, y (B,Tq,D); saved: P (B,H,Tq,Tk). Where it is "
      "causal, query t sees keys s with s <= t, and with a window w those with t - w < s < t + w";
  static constexpr OpRule kRows[] = {
      {.title = "Multi-head attention",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}\left(\frac{q k^T}{\sqrt{D/H}}\right) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = \frac{dS k}{\sqrt{D/H}}, \quad dk = \frac{dS^T q}{\sqrt{D/H}})",
       .source = "Vaswani et al. 2017, equation 1",
       .reads = {15, 15, 15},
       .saved = 7},
      {.variant = "scaled",
       .title = "Multi-head attention with a scale of its own",
       .formula = R"(y = P v, \quad P = \operatorname{softmax}(a q k^T) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = a dS k, \quad dk = a dS^T q)",
       .source = "Vaswani et al. 2017, equation 1, with another factor than 1/√(D/H)",
       .reads = {15, 15, 15},
       .saved = 7},
      {.variant = "capped",
       .title = "Multi-head attention with capped scores",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}(u t), \quad t = \operatorname{tanh}\left(\frac{a q k^T}{u}\right) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right) \odot (1 - t^2), \quad c = dy v^T, \quad dq = a dS k, \quad dk = a dS^T q)",
       .source =
           "Gemma Team 2024 (Gemma 2), section 2; u is the cap, a the scale, 1/√(D/H) unless another is given; not checked",
       .reads = {15, 15, 15},
       .saved = 7},
      {.variant = "alibi",
       .title = "Multi-head attention with linear biases (ALiBi)",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}(S), \quad S_{t,s} = a q_t k_s - m (t - s) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = a dS k, \quad dk = a dS^T q)",
       .source =
           "Press et al. 2022, section 3; a is the scale, 1/√(D/H) unless another is given, m = 2^(-8h/H) in head h "
           "of H, and between these where H is no power of 2; not checked",
       .reads = {15, 15, 15},
       .saved = 7}};
  return {.rules = kRows,
          .variant =
              [](const Attributes& attributes) {
                const auto spec = attributes.as<AttentionSpec>();
                return spec.alibi ? "alibi" : spec.cap > 0 ? "capped" : spec.scale > 0 ? "scaled" : "";
              },
          .flop = attention_flop,
          .scores = [](const Node& n) -> AttentionScores {
            const auto spec = n.attributes.as<AttentionSpec>();
            return {.queries = n.in[0],
                    .keys = n.in[1],
                    .key_lengths = n.in[3],
                    .heads = spec.heads,
                    .window = spec.window,
                    .causal = spec.causal,
                    .scale = spec.scale,
                    .cap = spec.cap,
                    .alibi = spec.alibi};
          },
          .too_large =
              [](std::span<const ValueInfo> values, const Node& n) {
                return too_many_heads(values, n, n.attributes.as<AttentionSpec>().heads);
              }};
}

// ---- layer_norm: saves mean and 1/sigma of every row; for DyT and Derf 0 and the row's factor

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
  Node node = tape.node(OpKind::LayerNorm, name, {x, gain, bias, extras.alpha, extras.shift},
                        NormSpec{kind, heads, eps, extras.scale, extras.slope, extras.gain_offset});
  const Shape in = tape.shape(x);
  const std::string where = "layer_norm " + tape.named(name);
  if (kind == NormKind::None) fail(where, "a norm of kind none computes nothing: expected another kind");
  const bool wants_gain = has_gain(kind), wants_bias = has_bias(kind);
  if ((gain != kNone) != wants_gain || (bias != kNone) != wants_bias)
    fail(where, "{} takes {} gain and {} bias", to_string(kind), wants_gain ? "a" : "no",
         wants_bias ? "a" : "no");
  if (heads < 1 || in.cols() % heads != 0)
    fail(where, "width {} is not a multiple of {} heads", in.cols(), heads);
  if (!(eps >= 0 && std::isfinite(eps)))
    fail(where, "an epsilon of {}: expected a finite number from 0 on", eps);
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
  return tape.add_node(std::move(node), in, {{"mean", {rows}}, {"inverse_sigma", {rows}}});
}

ValueId layer_norm(Tape& tape, const std::string& name, ValueId x) {
  const TakesBack scope(tape);
  const int64_t width = tape.shape(x, "layer_norm " + tape.named(name), "input 1").cols();
  tape.declare(name + ".gain", {width}, {Init::Kind::Constant, 1.0});
  tape.declare(name + ".bias", {width}, {});
  return layer_norm(tape, name, NormKind::LayerNorm, x, tape.parameter(name + ".gain"),
                    tape.parameter(name + ".bias"), 1e-5f);
}

OpRules layer_norm_rules() {
  return {kNormRules, [](const Attributes& a) { return to_string(a.as<NormSpec>().kind); }};
}

// ---- softmax_xent: saves log-sum-exp and the normalised weight of every row

ValueId softmax_xent(Tape& tape, const std::string& name, ValueId logits, ValueId targets, ValueId weights) {
  Node node = tape.node(OpKind::SoftmaxXent, name, {logits, targets, weights});
  const int64_t rows = tape.shape(logits).rows();
  const std::string where = "softmax_xent " + tape.named(name);
  if (tape.shape(targets).size() != rows)
    fail(where, "targets {} must be {} integers, one a row of the logits {}", to_string(tape.shape(targets)),
         rows, to_string(tape.shape(logits)));
  if (weights != kNone && tape.shape(weights).size() != rows)
    fail(where, "weights {} must be {} numbers, one a row", to_string(tape.shape(weights)), rows);
  return tape.add_node(std::move(node), {1}, {{"log_sum_exp", {rows}}, {"row_weight", {rows}}});
}

OpRules softmax_xent_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Cross-entropy",
       .formula =
           R"(L = \sum_r \bar w_r \left((1 - e)(\ell_r - z_{r,t}) + e (\ell_r - \operatorname{mean} z_r)\right), \quad \ell_r = \log \sum_v \exp z_{r,v})",
       .shapes =
           "logits z (..,V), targets t (R) i32, weights w (R) or none, L (1); saved: log-sum-exp (R), w over its sum (R); e: label smoothing",
       .rule =
           R"(dz_r = \bar w_r \left(\operatorname{softmax} z_r - (1 - e) \mathbf{1}_t - \frac{e}{V}\right) dL)",
       .source = "label smoothing: Szegedy et al. 2016",
       .reads = {3},
       .saved = 1}};
  return {kRows};
}

// ---- squared_error: saves the normalised weight of every row

ValueId mean_squared_error(Tape& tape, const std::string& name, ValueId prediction, ValueId target,
                           ValueId weights) {
  Node node = tape.node(OpKind::SquaredError, name, {prediction, target, weights});
  const Shape &shape = tape.shape(prediction), &wanted = tape.shape(target);
  const int64_t rows = shape.rows();
  const std::string where = "squared_error " + tape.named(name);
  if (!(shape == wanted))
    fail(where, "prediction {} and target {} differ: expected the same shape", to_string(shape),
         to_string(wanted));
  if (weights != kNone && tape.shape(weights).size() != rows)
    fail(where, "weights {} must be {} numbers, one a row", to_string(tape.shape(weights)), rows);
  return tape.add_node(std::move(node), {1}, {{"row_weight", {rows}}});
}

OpRules squared_error_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Mean squared error",
       .formula = R"(L = \sum_r \bar w_r \operatorname{mean} (p_r - t_r)^2)",
       .shapes =
           "predictions p and targets t (..,D), weights w (R) or none, L (1); saved: w over its sum (R)",
       .rule = R"(dp_r = \frac{2}{D} \bar w_r (p_r - t_r) dL, \quad dt_r = -dp_r)",
       .reads = {3, 3},
       .saved = 3}};
  return {kRows};
}

// ---- embedding

ValueId embedding(Tape& tape, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale, bool joined) {
  Node node = tape.node(OpKind::Embedding, name, {tokens, table, positions}, EmbeddingSpec{scale, joined});
  const Shape &ids = tape.shape(tokens), &rows = tape.shape(table);
  const std::string where = "embedding " + tape.named(name);
  if (ids.rank != 2) fail(where, "tokens {} must be integers of shape (B,T)", to_string(ids));
  if (rows.rank != 2) fail(where, "table {} must have shape (V,D)", to_string(rows));
  if (positions != kNone &&
      (tape.shape(positions).cols() != rows.cols() || tape.shape(positions).rows() < ids[1]))
    fail(where, "positions {} do not cover {} tokens of width {}: expected (>=T,D)",
         to_string(tape.shape(positions)), ids[1], rows.cols());
  const int64_t B = ids[0], T = ids[1], D = rows.cols();
  return tape.add_node(std::move(node), joined ? Shape{B, T * D} : Shape{B, T, D});
}

OpRules embedding_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Embedding",
       .formula = R"(y_{b,t} = s E_{\text{token}(b,t)} + P_t)",
       .shapes =
           "tokens (B,T) i32, table E (V,D), positions P (T,D) or none, y (B,T,D), or joined (B,TD); s constant",
       .rule = R"(dE_v = s \sum_{\text{token}(b,t) = v} dy_{b,t}, \quad dP_t = \sum_b dy_{b,t})",
       .source = "Vaswani et al. 2017, section 3.4",
       .reads = {0, 1}}};
  return {.rules = kRows, .gathers = true};
}

// ---- add: saves nothing; the gradients of learned scales read x and f

ValueId add(Tape& tape, const std::string& name, ValueId x, ValueId f, ResidualScale skip,
            ResidualScale branch) {
  Node node = tape.node(OpKind::Add, name, {x, f, skip.learned, branch.learned},
                        AddSpec{skip.constant, branch.constant});
  const Shape shape = tape.shape(x);
  const std::string where = "add " + tape.named(name);
  if (!(shape == tape.shape(f)))
    fail(where, "skip {} and branch {} differ: expected the same shape", to_string(shape),
         to_string(tape.shape(f)));
  for (ValueId scale : {skip.learned, branch.learned})
    if (scale != kNone && tape.shape(scale).size() != 1 && tape.shape(scale).size() != shape.cols())
      fail(where, "scale {} has {} numbers: expected 1 or {}", tape.value(scale).name,
           tape.shape(scale).size(), shape.cols());
  return tape.add_node(std::move(node), shape);
}

OpRules add_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Residual sum",
       .formula = R"(y = a \odot x + b \odot f)",
       .shapes =
           "x, f and y (..,D); skip scale a and branch scale b: constant, or learned of shape (1) or (D)",
       .rule =
           R"(dx = a \odot dy, \quad df = b \odot dy, \quad da = \sum x \odot dy, \quad db = \sum f \odot dy)",
       .source = "He et al. 2016; learned scales: Liu et al. 2020",
       .reads = {4, 8, 1, 2}}};
  return {kRows};
}

// ---- affine: saves nothing; the gradient of the gain reads x

namespace {

ValueId record_affine(Tape& tape, const std::string& name, ValueId x, ValueId gain, ValueId shift,
                      AffineSpec spec) {
  Node node = tape.node(OpKind::Affine, name, {x, gain, shift}, spec);
  const Shape shape = tape.shape(x);
  const std::string where = "affine " + tape.named(name);
  for (ValueId v : {gain, shift})
    if (v != kNone && shape.cols() % tape.shape(v).size() != 0)
      fail(where, "{} has {} numbers for rows of {}: expected a number that divides it", tape.value(v).name,
           tape.shape(v).size(), shape.cols());
  return tape.add_node(std::move(node), shape);
}

}  // namespace

ValueId affine(Tape& tape, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift) {
  return record_affine(tape, name, x, gain, shift, {.constant = constant});
}

ValueId gradient_kept(Tape& tape, const std::string& name, ValueId x, ValueId gain) {
  return record_affine(tape, name, x, gain, kNone, {.keeps_gradient = true});
}

ValueId reshape(Tape& tape, const std::string& name, ValueId x, Shape shape) {
  Node node = tape.node(OpKind::Affine, name, {x, kNone, kNone}, AffineSpec{});
  require_shape("reshape " + tape.named(name), "the shape", shape);
  if (shape.size() != tape.shape(x).size())
    fail("reshape " + tape.named(name), "{} does not hold the {} numbers of {}: expected as many",
         to_string(shape), tape.shape(x).size(), to_string(tape.shape(x)));
  return tape.add_node(std::move(node), shape);
}

OpRules affine_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Scale and shift",
       .formula = R"(y = s g \odot x + h)",
       .shapes =
           "x and y (..,D), gain g and shift h: one number each for as many equal parts of a row, or none; s constant",
       .rule =
           R"(dx = s g \odot dy, \quad dg = s \sum x \odot dy, \quad dh = \sum dy; \quad \text{GPAS: } dx = dy)",
       .reads = {2, 1}}};
  return {kRows};
}

// ---- dropout: saves no tensor: a backend keeps the mask or draws it again from the site

ValueId dropout(Tape& tape, const std::string& name, ValueId x, DropoutKind kind) {
  Node node = tape.node(OpKind::Dropout, name, {x}, DropoutSpec{kind, site_of(tape.named(name))});
  node.site = site_of(tape.named(name));
  return tape.add_node(std::move(node), tape.shape(x));
}

OpRules dropout_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Dropout",
       .formula =
           R"(y = \frac{m \odot x}{1 - p}, \quad m \in \lbrace 0, 1 \rbrace, \text{ drawn from site, step and element})",
       .shapes = "x and y of any one shape",
       .rule = R"(dx = \frac{m \odot dy}{1 - p})",
       .source = "Srivastava et al. 2014"}};
  return {kRows};
}

// ---- concat

ValueId concat(Tape& tape, const std::string& name, ValueId a, ValueId b) {
  Node node = tape.node(OpKind::Concat, name, {a, b});
  const Shape &sa = tape.shape(a), &sb = tape.shape(b);
  if (sa.rank != 3 || sb.rank != 3 || sa[0] != sb[0] || sa[2] != sb[2])
    fail("concat " + tape.named(name),
         "{} and {} cannot stand behind each other: expected (B,Ta,D) and (B,Tb,D)", to_string(sa),
         to_string(sb));
  if (a == b) fail("concat " + tape.named(name), "one value stands behind itself: expected two");
  const Shape out{sa[0], sa[1] + sb[1], sa[2]};
  return tape.add_node(std::move(node), out);
}

ValueId append(Tape& tape, const std::string& name, ValueId parts, ValueId part) {
  Node node = tape.node(OpKind::Concat, name, {parts, part}, ConcatSpec{.parts = true});
  const Shape &sa = tape.shape(parts), &sb = tape.shape(part);
  const bool one = sa.rank == 3;
  if ((!one && sa.rank != 4) || sb.rank != 3 || sa[0] != sb[0] || sa[1] != sb[1] || sa.cols() != sb[2])
    fail("append " + tape.named(name), "{} cannot follow the parts of {}: expected (B,T,D) and (B,T,n,D)",
         to_string(sb), to_string(sa));
  if (parts == part) fail("append " + tape.named(name), "one value stands behind itself: expected two");
  const Shape out{sa[0], sa[1], one ? 2 : sa[2] + 1, sb[2]};
  return tape.add_node(std::move(node), out);
}

OpRules concat_rules() {
  static constexpr const char* kOfParts = "parts";
  static constexpr OpRule kRows[] = {
      {.title = "Positions behind positions",
       .formula = R"(y_{b,t} = a_{b,t} \text{ for } t < T_a, \text{ else } b_{b,t-T_a})",
       .shapes = "a (B,Ta,D), b (B,Tb,D), y (B,Ta+Tb,D)",
       .rule = R"(da_{b,t} = dy_{b,t}, \quad db_{b,t} = dy_{b,T_a+t})"},
      {.variant = kOfParts,
       .title = "A part behind the parts of a position",
       .formula = R"(y_i = a_i \text{ for } i < n, \quad y_n = b)",
       .shapes = "at each position a (n,D), b (D), y (n+1,D)",
       .rule = R"(da_i = dy_i, \quad db = dy_n)"}};
  return {kRows, [](const Attributes& a) { return a.as<ConcatSpec>().parts ? kOfParts : ""; }};
}

// ---- mean_pool

ValueId mean_pool(Tape& tape, const std::string& name, ValueId x, ValueId lengths) {
  Node node = tape.node(OpKind::MeanPool, name, {x, lengths});
  const Shape shape = tape.shape(x);
  const std::string where = "mean_pool " + tape.named(name);
  if (shape.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(shape));
  if (lengths != kNone && tape.shape(lengths).size() != shape[0])
    fail(where, "lengths {} must be {} integers, one a row", to_string(tape.shape(lengths)), shape[0]);
  return tape.add_node(std::move(node), shape);
}

OpRules mean_pool_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Mean over positions",
       .formula = R"(y_{b,t} = \frac{1}{n_b} \sum_{s < n_b} x_{b,s})",
       .shapes = "x and y (B,T,D), lengths n (B) i32 or none: T",
       .rule = R"(dx_{b,s} = \frac{1}{n_b} \sum_t dy_{b,t} \text{ for } s < n_b, \text{ else } 0)",
       .reads = {2}}};
  return {kRows};
}

// ---- elementwise ops on one number, or one pair of numbers

ValueId activated(Tape& tape, Activation activation, const std::string& name, ValueId x) {
  static constexpr OpKind kOps[] = {
#define ACTIVATION(Kind, op, label) OpKind::Kind,
#include "engine/ops/ops.def"
  };
  Node node = tape.node(kOps[static_cast<size_t>(activation)], name, {x});
  return tape.add_node(std::move(node), tape.shape(x));
}

#define ACTIVATION(Kind, op, label)                            \
  ValueId op(Tape& tape, const std::string& name, ValueId x) { \
    return activated(tape, Activation::Kind, name, x);         \
  }
#include "engine/ops/ops.def"

ValueId soft_cap(Tape& tape, const std::string& name, ValueId x, float cap) {
  if (!(cap > 0) || !std::isfinite(cap))
    fail("soft_cap " + tape.named(name), "a cap of {}: expected a finite number above zero", cap);
  Node node = tape.node(OpKind::SoftCap, name, {x}, SoftCapSpec{cap});
  return tape.add_node(std::move(node), tape.shape(x));
}

ValueId multiply(Tape& tape, const std::string& name, ValueId a, ValueId b) {
  Node node = tape.node(OpKind::Multiply, name, {a, b});
  const Shape shape = tape.shape(a);
  if (!(shape == tape.shape(b)))
    fail("multiply " + tape.named(name), "factors {} and {} differ: expected the same shape",
         to_string(shape), to_string(tape.shape(b)));
  return tape.add_node(std::move(node), shape);
}

OpRules relu_rules() {
  static constexpr OpRule kRows[] = {{.title = "ReLU",
                                      .formula = R"(y = \max(x, 0))",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = dy \text{ where } x > 0, \text{ else } 0)",
                                      .reads = {1}}};
  return {kRows};
}

OpRules gelu_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "GELU, tanh form",
       .formula =
           R"(y = \frac{x}{2} (1 + t), \quad t = \operatorname{tanh}(u), \quad u = \sqrt{2/\pi} (x + 0.044715 x^3))",
       .shapes = "x and y of any one shape",
       .rule =
           R"(dx = dy \odot \left(\frac{1 + t}{2} + \frac{x}{2} (1 - t^2) \sqrt{2/\pi} (1 + 0.134145 x^2)\right))",
       .source = "Hendrycks and Gimpel 2016, the tanh form",
       .reads = {1}}};
  return {kRows};
}

OpRules silu_rules() {
  static constexpr OpRule kRows[] = {{.title = "SiLU",
                                      .formula = R"(y = x \odot s, \quad s = \frac{1}{1 + \exp(-x)})",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = dy \odot s \odot (1 + x \odot (1 - s)))",
                                      .source = "Elfwing, Uchibe and Doya 2017; not checked",
                                      .reads = {1}}};
  return {kRows};
}

OpRules soft_cap_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Soft cap",
       .formula = R"(y = c t, \quad t = \operatorname{tanh}\left(\frac{x}{c}\right))",
       .shapes = "x and y of any one shape; c constant",
       .rule = R"(dx = dy \odot (1 - t^2))",
       .source = "Gemma Team 2024, Gemma 2; not checked",
       .reads = {1}}};
  return {kRows};
}

OpRules multiply_rules() {
  static constexpr OpRule kRows[] = {{.title = "Product, number by number",
                                      .formula = R"(y = a \odot b)",
                                      .shapes = "a, b and y of any one shape",
                                      .rule = R"(da = b \odot dy, \quad db = a \odot dy)",
                                      .source = "as a gate: Dauphin et al. 2017, Shazeer 2020; not checked",
                                      .reads = {2, 1}}};
  return {kRows};
}

// ---- the update: seal places these ops, and no function records them

StepInputs Adam::step(uint32_t t) const {
  if (t == 0) fail("adam", "step 0: expected 1, 2, ...");
  if (!std::isfinite(lr)) fail("adam", "a rate of {}: expected a finite number", lr);
  if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1))
    fail("adam", "beta1 {} and beta2 {}: expected both from 0 to below 1", beta1, beta2);
  if (!(eps >= 0 && std::isfinite(weight_decay)))
    fail("adam", "eps {} and a weight decay of {}: expected at least 0, and a finite number", eps,
         weight_decay);
  StepInputs in{
      .step = t, .lr = lr, .beta1 = beta1, .beta2 = beta2, .eps = eps, .weight_decay = weight_decay};
  const auto correction = [t](float beta) {
    return static_cast<float>(1.0 - std::pow(static_cast<double>(beta), static_cast<double>(t)));
  };
  in.bias_correction1 = correction(beta1);
  in.bias_correction2 = correction(beta2);
  return in;
}

DropoutInputs DropoutInputs::of(double probability) {
  if (!(probability >= 0 && probability < 1))
    fail("dropout", "a probability of {}: expected one from 0 to below 1", probability);
  if (probability == 0) return {};
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  const double threshold = std::floor(probability * 0x1p32);
  return {threshold >= static_cast<double>(kMax) ? kMax : static_cast<uint32_t>(threshold),
          static_cast<float>(1.0 / (1.0 - probability))};
}

OpRules grad_norm_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Gradient norms",
       .formula = R"(n_p = \|dw_p\|, \quad n = \sqrt{\sum_p n_p^2})",
       .shapes = "all parameters; a number each and their total in the stats block"}};
  return {.rules = kRows, .passes = 1};
}

OpRules clip_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Clip by the global norm",
       .formula =
           R"(f = \min\left(1, \frac{\text{bound}}{n}\right), \quad n \text{ the total gradient norm})",
       .shapes = "one factor for all gradients",
       .source = "Pascanu et al. 2013"}};
  return {kRows};
}

OpRules adam_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Adam",
       .formula =
           R"(m = \beta_1 m + (1 - \beta_1) g, \quad v = \beta_2 v + (1 - \beta_2) g^2, \quad w = w - \frac{\eta r}{1 - \beta_1^t} \cdot \frac{m}{\sqrt{v / (1 - \beta_2^t)} + \epsilon} - \eta \lambda w)",
       .shapes = "all parameters w with gradient g = f dw + l2 w and moments m, v; r: RAdam's factor, else 1",
       .source = "Kingma and Ba 2015; Loshchilov and Hutter 2019; Liu et al. 2020"}};
  return {.rules = kRows,
          .passes = 7};  // reads value, gradient and both moments, writes all but the gradient
}

OpRules sgd_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "SGD with momentum",
       .formula = R"(m = \mu m + g, \quad w = w - \eta m - \eta \lambda w)",
       .shapes = "all parameters w with gradient g = f dw + l2 w and momentum m",
       .source = "Polyak 1964"}};
  return {.rules = kRows, .passes = 5};
}

// ---- the probe, which seal places too

OpRules probe_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Probe",
       .formula =
           R"(\operatorname{mean} x, \quad \operatorname{mean} x^2 \quad \text{or} \quad \operatorname{var} x)",
       .shapes = "x of any shape, lengths (B) i32 or none; one number of the stats block"}};
  return {kRows};
}

}  // namespace normscope
