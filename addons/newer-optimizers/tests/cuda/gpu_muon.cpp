// Muon on the device.
#include "addons/newer-optimizers/tests/engine/muon_changes.h"
#include "cuda/device.h"

namespace normscope::test {

TEST_CASE("gpu models: changing what Muon reads of a step changes the result", "[gpu]") {
  NEEDS_DEVICE();
  check_every_step_input_counts(
      {.row_weights = true, .clip = true, .dropout = 0.1f}, [] { return device_backend(); }, muon_changes());
}

}  // namespace normscope::test
