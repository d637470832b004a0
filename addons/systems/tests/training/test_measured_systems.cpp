// Networks that are not transformers are measured as others are: their critical rate, the sizes of their updates, and what
// is left out of them.
#include "catch.hpp"
#include "training/session/analysis.h"
#include "training/support/critical_bits.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

RunSpec small_images() { return spec_with("convnet", {{"data.digits", "240"}}); }

}  // namespace

TEST_CASE("critical rate: no bit of a run on images changes", "[critical]") {
  check_critical_rate_is_watched(small_images());
}

TEST_CASE("updates: a convolutional network has its layers", "[measure]") {
  const auto sees = make_run(small_images());
  steps(*sees, 2);
  for (const char* name : {"L01.spike_ratio", "L01.update_cosine", "class.update_cosine"}) {
    const std::vector<float> values = sees->history()->series(sees->history()->find(name)).values;
    REQUIRE_FALSE(values.empty());
    CHECK(std::isfinite(values.back()));
  }
}

TEST_CASE("ablation: what has no residual branches is refused, its whole loss is not", "[ablation]") {
  RunSpec spec = preset_run("convnet");
  for (const auto& [key, value] :
       {std::pair{"model.channels", "2"}, {"model.channels_2", "3"}, {"data.digits", "48"}})
    set_field(spec, key, value);
  Run run(spec, make_task(spec.data), shared_backend());
  const auto says = Catch::Contains("a convolutional network has no residual branches to leave out");
  CHECK_THROWS_WITH(layer_ablation(run), says);
  CHECK_THROWS_WITH(loss_without(run, {"L01"}), says);
  CHECK(loss_without(run, {}) == run.validation_loss());
}

}  // namespace normscope::test
