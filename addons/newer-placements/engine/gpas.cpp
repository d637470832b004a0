// GPAS (Chen et al. 2025, arXiv 2506.22049, the authors' code): the sum, or with a norm on the stream what the skip
// carries, is scaled by 1 - SiLU(a), with one learned a for each layer, from 0; the gradient passes unscaled.
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

bool scales(const Wiring& wiring) { return has_word(wiring, ResidualForm::gpas); }

class Gpas : public Residual {
 public:
  explicit Gpas(Recorder& recorder) : r_(recorder) {}

  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (!scales(wiring)) return x;
    s.factor = factor_of(s.name);
    return wiring.stream == NormKind::None ? x : shrunk(s, x);
  }

  ValueId pass(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    return scales(wiring) && wiring.stream == NormKind::None ? shrunk(s, x) : x;
  }

 private:
  /// 1 - SiLU(a); the sub-layers of a layer share its a.
  ValueId factor_of(const std::string& sublayer) {
    const ValueId one = r_.parameter("gpas.one", {1}, {Init::Kind::Constant, 1.0}, false),
                  a = r_.parameter(sublayer.substr(0, sublayer.rfind('.')) + ".gpas", {1},
                                   {Init::Kind::Zeros, 0.0});
    return affine(r_.tape, sublayer + ".gpas", silu(r_.tape, sublayer + ".gpas_of", a), -1.0f, kNone, one);
  }

  /// Scales a sub-layer's output, and not its gradient.
  ValueId shrunk(const SublayerValues& s, ValueId x) {
    return gradient_kept(r_.tape, s.name + ".kept", x, s.factor);
  }

  Recorder& r_;
};

void check_gpas(const char* what, const StackWiring& stack) {
  if (any_sublayer(stack,
                   [](const Wiring& w) { return scales(w) && w.bottom && w.stream == NormKind::None; }))
    fail(
        "model",
        "the {}'s wiring scales a sum that the layer's input joins: expected gpas or bottom, or a norm on the "
        "stream (stream=)",
        what);
}

}  // namespace

constinit const ResidualRow gpas_residual{.word = "gpas",
                                          .factor = "γ = 1 − SiLU(a)",
                                          .record = record_form<ResidualForm::gpas, Gpas>,
                                          .check = check_gpas};

}  // namespace normscope
