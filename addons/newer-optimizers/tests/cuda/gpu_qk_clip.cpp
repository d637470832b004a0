// QK-clip on the device.
#include "addons/newer-optimizers/engine/qk_clip.h"
#include "cuda/device.h"
#include "cuda/shadow.h"
#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"

namespace normscope::test {

TEST_CASE("gpu models: QK-clip has the losses and largest logits of the CPU", "[gpu]") {
  NEEDS_DEVICE();
  TinyOptions clipped{.placement = Placement::Pre};
  clipped.added.of<QkClipConfig>().largest = 1e-3f;
  Tiny cpu(clipped), device(clipped, device_backend());
  for (uint32_t step = 1; step <= 10; ++step) {
    INFO("step " << step);
    cpu.step(step);
    device.step(step);
    CHECK(device.program->loss() == Approx(cpu.program->loss()).epsilon(1e-4));
    if (step == 1)
      CHECK(device.program->stat("L01.attn.batch_logit") ==
            Approx(cpu.program->stat("L01.attn.batch_logit")).epsilon(1e-3));
  }
  CHECK(device.backend->error() == "");
  Tiny shadowed(clipped), there(clipped, device_backend());
  shadowed.fill(1);
  const cuda::ShadowReport report = cuda::shadow(*shadowed.program, *there.program, shadowed.inputs(1));
  INFO(cuda::to_string(report));
  CHECK(report.equal);
  CHECK(report.instructions == shadowed.program->data().instructions.size());
  const auto state_of = [](const TinyOptions& options, bool graph) {
    Tiny tiny(options, device_backend(graph));
    tiny.steps(1, 3);
    return tiny.state();
  };
  CHECK(same_bits(state_of(clipped, true), state_of(clipped, false)));
  CHECK_FALSE(same_bits(state_of(clipped, true), state_of({.placement = Placement::Pre}, true)));
}

}  // namespace normscope::test
