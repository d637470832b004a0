// A checkpoint becomes a run: a network is built, the weights are read, what it remembers is shown, and two steps
// are trained. Also as the one run of a session, with a fork from the past.
#include <algorithm>

#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/pool.h"
#include "fuzz.h"
#include "training/data/task.h"
#include "training/run/checkpoint.h"
#include "training/session/lab_trainer.h"

using namespace normscope;

namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 20;
constexpr int32_t kForkedAt = 22;

constexpr const char* kSession =
    "[window]\ngeneration = 1\nstep = 2\nbudget = 40\nportion = 40\n"
    "runs = [{ letter = \"A\", file = \"A-1.safetensors\" }]\n";

void look_at(const Run& run) {
  const History& history = *run.history();
  for (size_t i = 0; i < history.layout().size(); i += 7) history.series(static_cast<int32_t>(i));
  std::vector<float> stats;
  for (int32_t step = 0, found = 0; step < 4; ++step) history.frame(step, stats, found);
  history.events();
  run.mean_loss(20);
  run.state();
  run.plateau_level();
}

void load(const std::string& path) {
  static const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const RunSpec spec = Run::saved_spec(path);
  const std::unique_ptr<Run> run = Run::load(path, make_task(spec.data), *backend);
  look_at(*run);
  run->step();
  run->step();
  look_at(*run);
  run->save(fuzz::Folder::instance().path("again.safetensors"));
}

void restore(const fuzz::Folder& folder) {
  static LabTrainer trainer({.threads = 1, .sample_text = false, .validation_every = 0});
  trainer.carry_out(session::RestoreSession{folder.path(), false});
  const int32_t step = trainer.view().step;
  fuzz::accepts([&] { trainer.carry_out(session::ForkFrom{0, std::min(step, kForkedAt)}); });
  trainer.carry_out(session::StepOnce{});
  for (int i = 0; i < 4 && trainer.has_work(); ++i) trainer.work();
  trainer.view();
  trainer.image(1, true);
}

}  // namespace

FUZZ_TARGET(restore, fuzz::mutate_safetensors) {
  const fuzz::Folder& folder = fuzz::Folder::instance();
  const std::string path = folder.write("A-1.safetensors", input);
  const bool small = fuzz::accepts([&] {
    const RunRecord saved = read_checkpoint(SafetensorsFile::load(path));
    const RunSpec spec = saved.spec();
    // A model may take what the machine has, and its data be read from where the file says: not here.
    const bool files =
        std::ranges::any_of(file_fields(), [&](const Field* file) { return !file->get(spec).empty(); });
    if (most_bytes(saved) > kMaxBytes || files) fail("fuzz", "too large, or with data of its own");
  });
  if (!small) return;
  fuzz::accepts([&] { load(path); });
  folder.write("session.toml", kSession);
  fuzz::accepts([&] { restore(folder); });
}
