// The consumer is somebody else's program: a few steps of a tiny model by the installed headers. See consumer.cmake.
#include <engine/cpu/backend_cpu.h>
#include <fmt/format.h>
#include <training/data/task.h>
#include <training/run/run.h>
#include <training/spec/spec.h>

int main() {
  using namespace normscope;
  RunSpec spec = preset_run("pre");
  for (const char* size : {"model.layers", "model.heads"}) set_field(spec, size, "1");
  for (const char* size : {"model.d_model", "model.feed_forward", "model.sequence"})
    set_field(spec, size, "16");
  const std::unique_ptr<Backend> backend = make_cpu_backend();
  Run run(spec, make_task(spec.data), *backend);
  run.step();
  const double first = run.last_loss();
  while (run.steps_done() < 40) run.step();
  fmt::print("step 40  loss {:.4f}, {:.4f} at first\n", run.last_loss(), first);
  return run.last_loss() < first - 0.3 ? 0 : 1;
}
