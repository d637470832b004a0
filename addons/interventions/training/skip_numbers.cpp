// Numbers of a run's last step that a study can show: the skip path's product, and how much of the gradient of the top
// layer the lowest still has.
#include "training/experiments/run_numbers.h"
#include "training/measure/history.h"
#include "training/measure/initial_analysis.h"

namespace normscope::experiments {
namespace {

double last_of(const Series& series) {
  return series.values.empty() ? kUnknown : static_cast<double>(series.values.back());
}

double skip_of(Run& run) {
  return last_of(skip_product(*run.history(), run.spec().model.stack(), run.spec().model.d_model,
                              predicting_prefix(run.spec().model)));
}

double ratio_of(Run& run) {
  const History& history = *run.history();
  const auto gradient = [&](size_t layer) {
    const int32_t stat =
        history.find(fmt::format("{}L{:02}.ffn.w2.grad_norm", predicting_prefix(run.spec().model), layer));
    return stat < 0 ? kUnknown : last_of(history.series(stat));
  };
  return gradient(1) / gradient(run.spec().model.stack().layers.size());
}

}  // namespace

constinit const EndNumber kSkipProductNumber{
    "skip_product", "product of the skip path",
    "The factor by which the skip path multiplies a gradient on its way down.", skip_of};
constinit const EndNumber kGradientRatioNumber{
    "gradient_ratio", "gradient ratio",
    "The gradient of the lowest layer over the gradient of the top one at the last step.", ratio_of};

}  // namespace normscope::experiments
