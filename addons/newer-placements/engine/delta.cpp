// Deep delta learning with one value a token (Zhang et al. 2026, arXiv 2601.00417, d_v = 1, the authors' code):
//
//     y = x + beta k (v - k . x),    k = f(N(x)) / |f(N(x))|,  beta = 2 sigma(w . N(x) + b),  v = 4 sigma(u . x + c)
//
// So a sub-layer says along which direction of the stream something is rewritten: with beta = 1 the stream's number
// along k becomes v, with beta = 2 it is reflected around v, and what stands at a right angle to k stays. How long f is
// has no effect.
#include "addons/newer-placements/engine/ops.h"
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

bool rewrites(const Wiring& wiring) { return has_word(wiring, ResidualForm::delta); }

class Delta : public Residual {
 public:
  explicit Delta(Recorder& recorder) : r_(recorder) {}

  ValueId normed(const std::string&, const Wiring&, ValueId y) override {
    if (r_.twin.empty()) normed_ = y;
    return y;
  }

  /// Turns the branch into what the stream changes by.
  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (!rewrites(wiring)) return x;
    const std::string& n = s.name;
    const ValueId k = direction(n, s.branch), along = product(n + ".along", k, x);
    // The sigmoid of z is 1/2 + tanh(z / 2) / 2, and soft_cap with 2 is 2 tanh(z / 2).
    const ValueId beta = affine(r_.tape, n + ".beta", asked(n + ".beta", normed_), 0.5f, kNone, constant(1)),
                  v = affine(r_.tape, n + ".value", asked(n + ".value", x), 1.0f, kNone, constant(2)),
                  lacking = add(r_.tape, n + ".lacking", v, along, {}, {-1.0f, kNone});
    // A transfer's factor on branches would have no effect before k is divided by its length.
    const ValueId step = affine(r_.tape, n + ".step", multiply(r_.tape, n + ".part", beta, lacking),
                                static_cast<float>(r_.growth.branch), kNone, kNone);
    s.branch = mix(r_.tape, n + ".rewritten", k, step, 1);
    return x;
  }

 private:
  /// The length of f beside which the authors' 1e-5 counts.
  static constexpr double kLeastLength = 1e-5;

  ValueId direction(const std::string& n, ValueId f) {
    const auto width = static_cast<double>(r_.config.d_model);
    WiredNorm norm{NormKind::RmsSimple};
    norm.eps = static_cast<float>(kLeastLength * kLeastLength / width);
    return affine(r_.tape, n + ".direction", r_.norm(n + ".direction_of", norm, f),
                  static_cast<float>(1 / r_.root_of_width()), kNone, kNone);
  }

  ValueId product(const std::string& name, ValueId k, ValueId x) {
    const ValueId ones =
        r_.parameter("delta.ones", {r_.config.d_model, 1}, {Init::Kind::Constant, 1.0}, false);
    return linear(r_.tape, name, multiply(r_.tape, name + "_parts", k, x), ones, kNone);
  }

  /// 2 tanh(z / 2) of the number z that a position asks for.
  ValueId asked(const std::string& n, ValueId x) {
    const Init start{Init::Kind::Normal, 0.5 / r_.root_of_width()};
    const ValueId z = linear(r_.tape, n + ".asked", x, r_.parameter(n + ".w", {r_.config.d_model, 1}, start),
                             r_.parameter(n + ".b", {1}, {Init::Kind::Zeros, 0.0}));
    return soft_cap(r_.tape, n + ".bent", z, 2.0f);
  }

  ValueId constant(int value) {
    return r_.parameter("delta." + std::to_string(value), {1}, {Init::Kind::Constant, double(value)}, false);
  }

  Recorder& r_;
  ValueId normed_ = kNone;  ///< N(x) of the sub-layer that is recorded
};

void check_delta(const char* what, const StackWiring& stack) {
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
      if (rewrites(*w) && w->before == NormKind::None)
        fail("model",
             "'{}' in the {} has no norm that says how far to rewrite: expected delta beside before=",
             to_string(*w), what);
}

}  // namespace

constinit const ResidualRow delta_residual{
    .word = "delta",
    .record = record_form<ResidualForm::delta, Delta>,
    .check = check_delta,
    .objection = "the branch rewrites the stream along a direction instead of adding to it",
    .floats = [](const StackWiring& stack, int64_t sublayers) {
      // k before and after its scale, its product with x, and the step, each with its gradient
      return any_has_word(stack, ResidualForm::delta) ? 8 * sublayers : 0;
    }};

}  // namespace normscope
