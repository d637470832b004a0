// The steps of normscope train take all runs in lockstep, with log and validations, on the CPU when a device gives out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

#include "app/commands/train/train.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

/// What a validation found of a model that remembers, or whose text is worth a line of its own.
void show(const Job& job, size_t runs) {
  const TaskForm form = job.task->form();
  const bool remembers = job.run->spec().model.memory > 0;
  if (form == TaskForm::NextSymbol && !remembers) return;
  const std::string letter = runs > 1 ? fmt::format(" {}", job.letter) : "";
  if (remembers) {
    const std::string bits = job.task->of_characters() ? fmt::format("  {:.3f} bits per character",
                                                                     job.validation / std::numbers::ln2)
                                                       : "";
    say("step {}{}  validation {:.3f}{}\n", job.run->steps_done(), letter, job.validation, bits);
    flush();
    return;
  }
  const double accuracy = job.run->validation_accuracy();
  say("step {}{}  validation {:.3f}{}{}  {}\n", job.run->steps_done(), letter, job.validation,
      std::isfinite(accuracy) ? fmt::format("  accuracy {:.1f} %", 100 * accuracy) : "",
      job.scores.empty() ? "" : "  " + to_string(job.scores),
      job.run->sample(job.run->spec().model.sequence));
  flush();
}

/// Continues all runs from their newest snapshots on the CPU, after the loss of a device.
void fall_back(Machine& machine, std::vector<Job>& jobs, const std::string& why) {
  for (Job& job : jobs) job.run->recover_on(machine.cpu(), why);
  machine.leave_device(why);
  for (Job& job : jobs)
    while (job.run->catching_up()) job.run->step();
}

/// Does `action`, on the CPU once more when the device gives out under it.
template <typename Action>
void with_fall_back(Machine& machine, std::vector<Job>& jobs, Progress& progress, Action&& action) {
  try {
    action();
  } catch (const DeviceError& error) {
    if (!machine.on_device()) throw;
    progress.finish();
    fall_back(machine, jobs, error.what());
    action();
  }
}

void advance(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, Progress& progress,
             Job& job, RunLog& log, Closing& closing) {
  const size_t runs = jobs.size();
  Run& run = *job.run;
  const auto before = std::chrono::steady_clock::now();
  with_fall_back(machine, jobs, progress, [&] { run.step(); });
  job.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  if (const Message notice = run.take_notice(); !notice.empty()) {
    progress.finish();
    complain(runs > 1 ? Message("run {}: {}", job.letter, notice) : notice);
  }
  const int32_t step = run.steps_done();
  const bool measured = step % options.validate_every == 0 || !job.active();
  if (measured) {
    with_fall_back(machine, jobs, progress, [&] {
      job.validation = run.validation_loss();
      job.scores = scores_of(run.store(), run.spec().model, run.task());
    });
    progress.finish();
    show(job, runs);
  }
  std::vector<float> stats;
  int32_t found = -1;
  if (!run.history()->frame(step, stats, found) || found != step) stats.clear();
  log.step(job.label(), step, run.last_loss(), static_cast<double>(run.history()->rate().values.back()),
           run.history()->layout(), stats, measured ? std::optional(job.validation) : std::nullopt,
           measured ? std::span<const Score>(job.scores) : std::span<const Score>());
  // The log comes first: a run that is killed between the two writes its last steps again, and lacks none.
  closing.attempt([&] { save_between(options, job, runs); });
}

std::string progress_note(const std::vector<Job>& jobs) {
  std::string note;
  for (const Job& job : jobs)
    note += fmt::format("{}{} {:.2f}", note.empty() ? "" : "  ", job.letter,
                        job.run->mean_loss(loss_window(job.run->steps_done(), job.run->edits())));
  return note;
}

/// Speaks once for each data set.
void say_notes(const std::vector<Job>& jobs) {
  std::set<const Task*> said;
  for (const Job& job : jobs)
    if (const std::string note = job.task->note(); !note.empty() && said.insert(job.task.get()).second) {
      say("{}\n", note);
      flush();
    }
}

}  // namespace

bool train_all(const TrainOptions& options, Machine& machine, std::vector<Job>& jobs, RunLog& log,
               Closing& closing) {
  say_notes(jobs);
  int64_t total = 0, done = 0;
  for (const Job& job : jobs) total += std::max(0, job.budget() - job.first_step);
  Progress progress("training", total);
  for (bool any = true; any;) {
    any = false;
    for (Job& job : jobs) {
      if (!job.active()) continue;
      any = true;
      ++done;
      advance(options, machine, jobs, progress, job, log, closing);
    }
    if (any) progress.update(std::min(done, total), progress_note(jobs));
    if (InterruptGuard::interrupted()) break;
  }
  progress.finish();
  return !InterruptGuard::interrupted();
}

}  // namespace normscope::commands
