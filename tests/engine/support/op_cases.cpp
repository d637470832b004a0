// Cases of embedding, norms and element-wise ops, and what all cases share: see op_cases.h.
#include "engine/support/op_cases.h"

#include <fmt/format.h>

#include <tuple>

#include "engine/ops/ops.h"
#include "training/spec/update_rule.h"

namespace normscope::test {

Operand Random::normal(Shape shape, double mean, double deviation) {
  Operand o;
  o.shape = shape;
  for (int64_t i = 0; i < shape.size(); ++i)
    o.values.push_back(static_cast<float>(mean + deviation * normal()));
  return o;
}

Operand Random::integers(Shape shape, int32_t low, int32_t high) {
  Operand o;
  o.shape = shape;
  o.dtype = DType::I32;
  o.differentiable = false;
  std::uniform_int_distribution<int32_t> draw(low, high);
  for (int64_t i = 0; i < shape.size(); ++i) o.ints.push_back(draw(engine_));
  return o;
}

Operand absent() {
  Operand o;
  o.present = o.differentiable = false;
  return o;
}

Inputs<double> inputs_of(const OpCase& c) {
  Inputs<double> in;
  for (const Operand& o : c.in) in.emplace_back(o.values.begin(), o.values.end());
  return in;
}

std::vector<Values> gradients_of(const OpCase& c, const Inputs<double>& in, const Values& dy) {
  reference::Trace trace;
  Inputs<Var> x;
  for (size_t i = 0; i < in.size(); ++i)
    x.push_back(c.in[i].differentiable ? reference::leaves(trace, in[i])
                                       : Array<Var>(in[i].begin(), in[i].end()));
  trace.sweep(c.forward(x)[0], dy);
  std::vector<Values> all;
  for (size_t i = 0; i < in.size(); ++i)
    all.push_back(c.in[i].differentiable ? reference::gradients(trace, x[i]) : Values{});
  return all;
}

Values cotangent_of(const OpCase& c, const Inputs<double>& in) {
  const Values out = c.forward(in)[0];
  // The normalised rows of the input where it has the output's shape, else of the output.
  const Values& source = in[0].size() == out.size() ? in[0] : out;
  const Values standard =
      reference::layer_norm<double>(NormKind::Simple, source, {}, {}, c.out.cols(), 1e-5).out;
  Random random(97);
  Values dy(out.size());
  for (size_t i = 0; i < dy.size(); ++i)
    dy[i] = static_cast<double>(static_cast<float>(0.6 + random.normal() + 0.8 * standard[i]));
  return dy;
}

std::vector<OpCase> embedding_cases() {
  std::vector<OpCase> cases;
  struct Size {
    int64_t B, T, D, V;
    bool positions, joined = false;
  };
  for (const Size s : {Size{1, 1, 1, 1, true},
                       {2, 3, 31, 5, true},
                       {3, 31, 33, 17, true},
                       {4, 33, 3, 70, false},
                       {3, 7, 64, 2, true},
                       {1, 2, 1031, 3, false},  // more columns than the sums of one block on CUDA
                       {8, 65, 40, 30, true},
                       {5, 12, 7, 19, false, true},
                       {3, 48, 50, 40, true, true}}) {
    Random random(static_cast<uint64_t>(s.D * 131 + s.V));
    OpCase c;
    c.op = OpKind::Embedding;
    c.name = fmt::format("embedding B{} T{} D{} V{}{}{}", s.B, s.T, s.D, s.V,
                         s.positions ? "" : " no positions", s.joined ? " joined" : "");
    c.attributes = EmbeddingSpec{1.7f, s.joined};
    const int64_t P =
        s.positions ? s.T + 2 : 0;  // a table longer than the batch: the rest gets a zero gradient
    c.in = {random.integers({s.B, s.T}, 0, static_cast<int32_t>(s.V - 1)), random.normal({s.V, s.D}),
            s.positions ? random.normal({P, s.D}) : absent()};
    c.in[1].terms = c.in[2].terms = static_cast<double>(s.B * s.T);
    c.out = s.joined ? Shape{s.B, s.T * s.D} : Shape{s.B, s.T, s.D};
    cases.push_back(std::move(c));
  }
  return cases;
}

namespace {

/// A norm of each of the H parts of R rows.
OpCase norm_case(NormKind kind, int64_t R, int32_t H, int64_t D, float gain_offset = 0) {
  Random random(static_cast<uint64_t>((H > 1 ? R * 61 + H * 7 : R * 1000) + D));
  OpCase c;
  c.op = OpKind::LayerNorm;
  c.name = fmt::format("layer_norm {} {}x{}{}{}", to_string(kind), R,
                       H > 1 ? fmt::format("{} heads of ", H) : "", D, gain_offset != 0 ? " gain - 1" : "");
  c.attributes = NormSpec{.kind = kind,
                          .heads = H,
                          .eps = 1e-3f,  // large enough that forgetting it shows
                          .scale = 1.5f,
                          .slope = 0.125f,
                          .gain_offset = gain_offset};
  c.in = {random.normal({R, H * D}, 0.7, 1.3), has_gain(kind) ? random.normal({D}, 0.8, 0.5) : absent(),
          has_bias(kind) ? random.normal({D}, -0.3, 0.5) : absent()};
  // Two sums of D terms, mean and projection, are taken from each number of the gradient. Of a row of three they leave
  // one direction, a small difference, so the roundings of both count: six terms. NEON, which adds lanes up in another
  // order than x86, comes to 1.06 of the bound sqrt(3), which is 0.75 of sqrt(6).
  c.in[0].terms = static_cast<double>(D == 3 ? 2 * D : D);
  c.in[1].terms = c.in[2].terms = static_cast<double>(R * H);
  // RMS: all but zero, as eps is small; with a detached mean a single feature keeps its gradient.
  c.in[0].zero_gradient =
      D == 1 && kind != NormKind::Detach && kind != NormKind::DetachMean && !has_alpha(kind);
  c.in[1].zero_gradient = D == 1 && kind != NormKind::Rms && !has_alpha(kind);
  c.out = {R, H * D};
  c.saved = {{R * H}, {R * H}};
  c.terms = static_cast<double>(D);
  if (has_alpha(kind)) {
    c.in.push_back(random.normal({1}, 0.6, 0.1));
    c.in[3].terms = static_cast<double>(R * H * D) + 3;  // tanh and 1 - tanh² stand before the sum
    if (has_shift(kind)) {
      c.in.push_back(random.normal({1}, -0.4, 0.1));
      c.terms += 3;  // erf is right to 2 ulp, and its argument is rounded twice
      // A sum whose terms have both signs may well come to half of what it usually does: twice the relative error.
      c.in[3].terms = c.in[4].terms = 4 * c.in[3].terms;
    }
  }
  return c;
}

}  // namespace

std::vector<OpCase> norm_cases() {
  std::vector<OpCase> cases;
  for (const NormKind kind : kNormKinds)
    for (const auto& [R, D] : {std::pair<int64_t, int64_t>{1, 1},
                               {3, 3},
                               {31, 15},
                               {7, 16},
                               {33, 17},
                               {5, 31},
                               {2, 33},
                               {64, 64},
                               {129, 65},
                               {3, 257},
                               {1001, 5}})
      if (kind != NormKind::None) cases.push_back(norm_case(kind, R, 1, D));
  return cases;
}

namespace {

void add_activation_cases(std::vector<OpCase>& cases, OpKind op, const Attributes& attributes = {}) {
  for (const auto& [R, D] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {1, 31}, {3, 33}, {31, 33}, {130, 127}, {3, 15001}}) {
    Random random(static_cast<uint64_t>(R * 77 + D));
    OpCase c;
    c.op = op;
    c.name = fmt::format("{} {}x{}", to_string(op), R, D);
    c.attributes = attributes;
    c.in = {random.normal({R, D}, 0.4, 1.5)};
    if (R * D == 1) c.in[0].values = {0.8f};
    c.out = {R, D};
    c.terms = c.in[0].terms = 4;
    cases.push_back(std::move(c));
  }
}

void add_dropout_cases(std::vector<OpCase>& cases) {
  for (const DropoutKind kind : {DropoutKind::Residual, DropoutKind::Activation})
    for (const auto& [R, D] :
         {std::pair<int64_t, int64_t>{3, 3}, {1, 31}, {3, 33}, {31, 17}, {129, 65}, {3, 15001}}) {
      Random random(static_cast<uint64_t>(R * 91 + D));
      OpCase c;
      c.op = OpKind::Dropout;
      c.name = fmt::format("dropout kind {} {}x{}", static_cast<int>(kind), R, D);
      c.attributes = DropoutSpec{kind, site_of("L03.attn.drop")};
      c.step.seed = 0x1234567890abcdefull;
      c.step.step = 17;
      c.step.dropout[static_cast<int>(kind)] = DropoutInputs::of(0.3);
      c.in = {random.normal({R, D})};
      c.out = {R, D};
      cases.push_back(std::move(c));
    }
}

void add_product_cases(std::vector<OpCase>& cases) {
  for (const auto& [R, D] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {1, 31}, {31, 33}, {130, 127}, {3, 15001}}) {
    Random random(static_cast<uint64_t>(R * 71 + D));
    OpCase c;
    c.op = OpKind::Multiply;
    c.name = fmt::format("multiply {}x{}", R, D);
    c.in = {random.normal({R, D}), random.normal({R, D}, -0.4)};
    c.out = {R, D};
    cases.push_back(std::move(c));
  }
}

/// Goes through the scales: a constant (size 0), a learned scalar (1), a learned vector (D).
void add_sum_cases(std::vector<OpCase>& cases) {
  for (const auto& [R, D] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 31}, {31, 33}, {13, 16}, {129, 65}, {1501, 31}})
    for (const int64_t skip : {int64_t{0}, int64_t{1}, D})
      for (const int64_t branch : {int64_t{0}, int64_t{1}, D}) {
        if (D == 1 && (skip || branch)) continue;
        Random random(static_cast<uint64_t>(R * 51 + D + skip * 7 + branch * 3));
        OpCase c;
        c.op = OpKind::Add;
        c.name = fmt::format("add {}x{} skip {} branch {}", R, D, skip, branch);
        c.attributes = AddSpec{1.86f, 0.45f};
        c.in = {random.normal({R, D}), random.normal({R, D}, -0.4),
                skip ? random.normal({skip}, 0.9, 0.4) : absent(),
                branch ? random.normal({branch}, 0.6, 0.4) : absent()};
        c.in[2].terms = static_cast<double>(skip == 1 ? R * D : R);
        c.in[3].terms = static_cast<double>(branch == 1 ? R * D : R);
        c.out = {R, D};
        c.terms = 4;
        cases.push_back(std::move(c));
      }
}

/// Goes through the sizes of gain and shift: absent (0), one, one a part or column, parts of different size.
void add_affine_cases(std::vector<OpCase>& cases) {
  struct Size {
    int64_t R, D, gain, shift;
    bool kept = false;
  };
  for (const Size s : {Size{1, 1, 1, 1},
                       {3, 31, 0, 0},
                       {31, 33, 1, 0},
                       {13, 36, 4, 0},
                       {129, 65, 0, 1},
                       {5, 24, 0, 3},
                       {7, 30, 5, 3},
                       {33, 17, 17, 1},
                       {1501, 60, 3, 1},
                       {31, 33, 1, 0, true},
                       {1501, 60, 3, 0, true}}) {
    Random random(static_cast<uint64_t>(s.R * 41 + s.D + s.gain * 7 + s.shift * 3));
    OpCase c;
    c.op = OpKind::Affine;
    c.name = fmt::format("affine {}x{} gain {} shift {}{}", s.R, s.D, s.gain, s.shift,
                         s.kept ? ", gradient kept" : "");
    c.attributes = s.kept ? AffineSpec{.keeps_gradient = true} : AffineSpec{0.57f};
    c.in = {random.normal({s.R, s.D}, 0.6), s.gain ? random.normal({s.gain}, 0.9, 0.4) : absent(),
            s.shift ? random.normal({s.shift}, -0.3, 0.4) : absent()};
    c.in[1].terms = static_cast<double>(s.gain ? s.R * s.D / s.gain : 1);
    c.in[2].terms = static_cast<double>(s.shift ? s.R * s.D / s.shift : 1);
    c.out = {s.R, s.D};
    c.terms = 4;
    cases.push_back(std::move(c));
  }
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
#define ACTIVATION(Kind, name, label) add_activation_cases(cases, OpKind::Kind);
#include "engine/ops/ops.def"
  add_activation_cases(cases, OpKind::SoftCap, SoftCapSpec{1.7f});
  add_dropout_cases(cases);
  add_sum_cases(cases);
  add_product_cases(cases);
  add_affine_cases(cases);
  for (const NormKind kind : kNormKinds)
    for (const auto& [R, H, D] : {std::tuple<int64_t, int32_t, int64_t>{3, 2, 7}, {31, 3, 9}, {129, 4, 16}})
      if (kind != NormKind::None) cases.push_back(norm_case(kind, R, H, D));
  for (const NormKind kind : kNormKinds)
    for (const auto& [R, H, D] :
         {std::tuple<int64_t, int32_t, int64_t>{3, 1, 7}, {31, 1, 33}, {129, 1, 65}, {31, 3, 9}})
      if (has_gain(kind)) cases.push_back(norm_case(kind, R, H, D, 1));
  return cases;
}

std::vector<OpCase> addon_cases() {
  std::vector<OpCase> cases;
#define OP_CASES(function) \
  for (OpCase & c : function()) cases.push_back(std::move(c));
#include "chosen/op_cases.def"
#undef OP_CASES
  return cases;
}

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> cases;
    for (auto part : {embedding_cases(), linear_cases(), attention_cases(), concat_cases(), norm_cases(),
                      elementwise_cases(), loss_cases(), squared_error_cases(), pool_cases(), addon_cases()})
      for (OpCase& c : part) cases.push_back(std::move(c));
    return cases;
  }();
  return all;
}

}  // namespace normscope::test
