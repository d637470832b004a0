// normscope instant trains small runs whole, several at a time, as the window does at every change, and prints what
// became of them and when the answers were there.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/run_log.h"
#include "training/session/lab.h"
#include "training/session/session_file.h"

namespace normscope::commands {
using namespace cli;
namespace {

using Clock = std::chrono::steady_clock;

/// Blocks until the view of the Lab is as wanted; returns when that was, in seconds.
template <typename Wanted>
double seconds_until(Lab& lab, Clock::time_point begin, const Wanted& wanted) {
  while (!wanted(*lab.view())) std::this_thread::sleep_for(std::chrono::microseconds(200));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

RunResult result_of(const RunView& run) {
  return commands::result_of({run.letter, run.spec->seed}, *run.spec, {}, run.state, *run.history,
                             *task_of(*run.spec), run.validation_loss,
                             std::numeric_limits<double>::quiet_NaN());
}

void print_spread(const RunView& run) {
  std::vector<float> ends{run.history->loss().values.back()};
  for (const RunSpread::Seed& seed : run.spread->each)
    if (!seed.losses->empty()) ends.push_back(seed.losses->back());
  const auto [low, high] = std::ranges::minmax_element(ends);
  say("{}  last loss over {} seeds: {:.2f} to {:.2f}\n", run.letter, ends.size(), *low, *high);
}

}  // namespace

Exit run_instant(const MainOptions& options) {
  Lab lab(LabOptions{.threads = options.threads, .sample_text = false});
  const session::ReplaceRuns command = instant(replacing(main_runs(options).runs, false));
  for (const RunSpec& spec : command.runs) task_of(spec);  // read before the clock begins
  const auto begin = Clock::now();
  const session::Ticket ticket = lab.post(command);
  const auto refused = [&](const LabView& view) { return view.answered >= ticket && view.runs.empty(); };
  const double first =
      seconds_until(lab, begin, [&](const LabView& view) { return refused(view) || seeds_there(view) >= 1; });
  if (refused(*lab.view())) throw CommandError(Exit::Usage, lab.view()->message);
  const double three = seconds_until(lab, begin, [&](const LabView& view) { return seeds_there(view) >= 3; });
  const double five = seconds_until(lab, begin, [&](const LabView& view) { return seeds_there(view) >= 5; });
  const auto view = lab.view();
  std::vector<RunResult> results;
  for (const RunView& run : view->runs) results.push_back(result_of(run));
  say("{}", to_text(table(results, false)));
  for (const RunView& run : view->runs) print_spread(run);
  say("{} runs of {} steps on {} threads: there after {:.0f} ms, three seeds after {:.0f} ms, five after {:.0f} ms\n",
      view->runs.size(), view->budget, view->threads, 1e3 * first, 1e3 * three, 1e3 * five);
  return Exit::Ok;
}

void add_instant(CLI::App& app, Command& command) {
  auto [sub, options] = add_command<MainOptions>(
      app, command, "instant",
      "Small runs, trained whole as the window does at every change: what became of them, and when",
      run_instant);
  add_main_runs(sub, options);
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands
