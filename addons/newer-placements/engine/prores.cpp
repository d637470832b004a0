// ProRes (Chen et al. 2026, arXiv 2603.05369, the authors' code, schedule "linear"): each branch of layer l is
// multiplied by min(1, t / (T l)) after t steps, so that deeper layers come in later. The factor is a parameter that
// is not trained: so it is saved with a run, and a measurement between two steps reads its present value.
#include "addons/newer-placements/engine/config.h"

#include <set>

#include "addons/newer-placements/engine/ops.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

class ProRes : public Residual {
 public:
  explicit ProRes(Recorder& recorder) : r_(recorder) {}

  ValueId carry(SublayerValues& s, const Wiring& wiring, ValueId x) override {
    if (has_word(wiring, ResidualForm::prores))
      s.branch = affine(r_.tape, s.name + ".warmed", s.branch, 1.0f, factor_of(s.name), kNone);
    return x;
  }

 private:
  /// The sub-layers of a layer share it.
  ValueId factor_of(const std::string& sublayer) {
    const std::string name = sublayer.substr(0, sublayer.rfind('.')) + ".prores";
    const ValueId factor = r_.parameter(name, {1}, {Init::Kind::Zeros, 0.0}, false);
    if (ramped_.insert(name).second)
      ramp(r_.tape, name + ".ramp", factor, {r_.config.of<ProResConfig>().steps * r_.layer});
    return factor;
  }

  Recorder& r_;
  std::set<std::string> ramped_;
};

}  // namespace

constinit const ResidualRow prores_residual{.word = "prores",
                                            .record = record_form<ResidualForm::prores, ProRes>,
                                            .objection = "the branches come in over the first steps"};

}  // namespace normscope
