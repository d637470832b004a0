// normscope train --plan and --profile say what the runs need and where the time of a step goes.
#include <fmt/format.h>

#include "app/commands/train/train.h"
#include "engine/core/machine.h"
#include "training/io/text.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"

namespace normscope::commands {
using namespace cli;

void check_memory(const TrainOptions& options, const std::vector<RunPlan>& planned, Backend& backend) {
  size_t sum = 0, saved = 0;
  Footprint largest;
  for (const RunPlan& p : planned) {
    RunSpec spec = p.config.spec;
    fit_to_data(spec, *p.task);
    const Footprint need = with_exit(Exit::Usage, [&] {
      spec.train.critical_every = critical_every(spec, p.config.edits);
      return footprint_of(spec, *p.task, backend);
    });
    if (options.plan) say("run {}\n{}{}", p.config.letter, footprint_table(need), largest_table(need));
    if (const int32_t every = spec.train.critical_every; options.plan && every > 0)
      say("critical rate: {}\n", critical_cost_text(every));
    sum += need.peak();
    saved += need.gradients - need.reused_gradients;
    if (need.peak() > largest.peak()) largest = need;
  }
  const size_t machine = machine_memory();
  if (options.plan) say("{} in all; this machine has {}\n", size_words(sum), size_words(machine));
  if (machine == 0 || sum <= machine) return;
  if (!options.plan) say("{}{}", footprint_table(largest), largest_table(largest));
  throw CommandError(
      Exit::Memory,
      fmt::format(
          "the runs need {} of memory and this machine has {}: expected a smaller model or batch{}",
          size_words(sum), size_words(machine),
          saved > 0 ? fmt::format(", or train.reuse_gradients = true, which needs {} less", size_words(saved))
                    : ""));
}

/// Takes a few steps to fill caches and batch, then times every instruction alone on that batch with the
/// rate at zero. Called within an EndsAtOnce: a step of a huge model cannot stop in its middle.
Exit profile_all(std::vector<Job>& jobs) {
  constexpr int kSteps = 3, kRepeats = 20;
  for (Job& job : jobs) {
    for (int i = 0; i < kSteps; ++i) job.run->step();
    const TrainConfig& train = job.run->spec().train;
    StepInputs inputs;
    inputs.beta1 = train.beta1;
    inputs.beta2 = train.beta2;
    inputs.eps = train.eps;
    inputs.clip = train.clip;
    inputs.momentum = train.momentum;
    inputs.label_smoothing = train.label_smoothing;
    set_dropout(inputs, job.run->spec().model);
    say("run {}\n{}", job.letter, profile_table(profile(job.run->program(), inputs, kRepeats)));
    flush();
  }
  return Exit::Ok;
}

}  // namespace normscope::commands
