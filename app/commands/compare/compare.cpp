// normscope compare: the headless main job. The three runs of the comparison (or those of a configuration) in
// lockstep through the same Lab session as the window's, seed after seed: progress, result table, JSON-lines log,
// screenshots. With files it compares these and trains nothing (compare_files.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/products.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/compare/compare_files.h"
#include "app/commands/picture.h"
#include "app/commands/report.h"
#include "app/commands/run_log.h"
#include "training/data/identity/data_identity.h"
#include "training/session/lab.h"
#include "training/spec/backend_choice.h"

namespace normscope::cli {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Trains to the budget; false when interrupted. Throws Error when the session cannot go on.
bool train_session(Lab& lab, const std::vector<ConfigRun>& runs, Progress& progress) {
  begin(lab, runs);
  lab.post(lab::Play{});
  const bool complete = watch(lab, progress);
  const std::shared_ptr<const LabView> view = lab.view();
  for (const std::string& notice : view->notices) complain(notice);
  const bool told = view->message.empty() || std::find(view->notices.begin(), view->notices.end(),
                                                       view->message) != view->notices.end();
  if (complete && !told) throw Error(view->message);
  return complete;
}

void log_run(RunLog& log, const RunLabel& label, const History& history) {
  const Series loss = history.loss(), rate = history.rate(), validation = history.validation();
  std::vector<float> stats;
  size_t next = 0;  // in the validation series
  for (size_t i = 0; i < loss.steps.size(); ++i) {
    const int32_t step = loss.steps[i];
    int32_t found = -1;
    if (!history.frame(step, stats, found) || found != step) stats.clear();
    while (next < validation.steps.size() && validation.steps[next] < step) ++next;
    const bool measured = next < validation.steps.size() && validation.steps[next] == step;
    log.step(label, step, loss.values[i], rate.values[i], history.layout(), stats,
             measured ? std::optional<double>(validation.values[next]) : std::nullopt);
  }
}

std::vector<RunResult> results_of(const LabView& view, uint64_t seed, const DataSpec& data,
                                  const std::shared_ptr<const Task>& task, double milliseconds) {
  std::vector<RunResult> results;
  for (const RunView& run : view.runs) {
    const RunLabel label{run.letter, seed};
    const std::shared_ptr<const Task> own = run.spec->data == data ? task : task_of(*run.spec);
    results.push_back(result_of(label, *run.spec, run.edits, run.state, *run.history, *own,
                                run.validation_loss, milliseconds / static_cast<double>(view.runs.size())));
  }
  return results;
}

void log_results(RunLog& log, const LabView& view, const std::vector<RunResult>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    log_run(log, results[i].label, *view.runs[i].history);
    log.result(results[i]);
  }
}

std::string picture_path(const std::string& folder, bool dark) {
  return fmt::format("{}/lab-{}.png", folder, dark ? "dark" : "light");
}

void draw_pictures(Lab& lab, const std::string& folder, Closing& closing) {
  for (const bool dark : {false, true})
    closing.attempt([&] { draw_lab(lab, {.dark = dark}, picture_path(folder, dark)); });
}

/// "A stuck in 5 of 5 seeds": what the table says, run by run.
void print_summary(const std::vector<RunResult>& results) {
  for (char letter = 'A'; letter <= 'D'; ++letter) {
    int32_t stuck = 0, learns = 0, count = 0;
    double most = -INFINITY, least = INFINITY;
    const RunResult* any = nullptr;
    for (const RunResult& r : results) {
      if (r.label.letter != letter) continue;
      any = &r;
      ++count;
      stuck += r.verdict == "stuck";
      learns += r.verdict.starts_with("learns");
      most = std::max(most, r.loss - r.unigram);
      least = std::min(least, r.loss - r.unigram);
    }
    if (count > 1) {
      say("{} ({}): stuck {}, learns {} of {} seeds; loss minus {} {:+.3f} to {:+.3f} nats\n", letter,
          any->name, stuck, learns, count, frequencies_of(any->data.unit), least, most);
    }
  }
}

}  // namespace

Exit compare(const MainOptions& options) {
  auto [runs, link] = main_runs(options);
  uint64_t first_seed = 1;
  if (link) {  // it says how far, and with which seed
    override_runs(runs, "", options.steps > 0 ? 0 : link->step, -1);
    first_seed = runs[0].spec.seed;
  }
  const std::shared_ptr<const Task> task = task_of(runs[0].spec);
  const BackendChoice backend = backend_of(options.backend);
  const std::string log_path = options.out + "/runs.jsonl";
  with_exit(Exit::Internal, [&] { make_folder(options.out, Access::Shared, "--out"); });
  std::vector<NamedFile> inputs = {{"--config", options.config}};
  for (const ConfigRun& run : runs)
    for (const NamedFile& file : files_of(run.spec)) inputs.push_back(file);
  check_outputs({{"--out", log_path},
                 {"--out", picture_path(options.out, false)},
                 {"--out", picture_path(options.out, true)}},
                inputs);
  RunLog log(log_path, identity_of(runs[0].spec.data, *task));

  const InterruptGuard guard;
  use_fastest_products();
  Closing closing;
  std::vector<RunResult> all;
  bool complete = true;
  for (int32_t turn = 1; complete && turn <= options.seeds; ++turn) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(turn) - 1;
    if (turn > 1 || !link) override_runs(runs, "", 0, static_cast<int64_t>(seed));
    Lab lab({.threads = options.threads, .backend = backend, .live_text = false});
    Progress progress(fmt::format("seed {} of {}", turn, options.seeds), runs[0].spec.train.steps);
    const auto start = std::chrono::steady_clock::now();
    complete = train_session(lab, runs, progress);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::shared_ptr<const LabView> view = lab.view();
    const double milliseconds = complete && view->step > 0 ? seconds * 1e3 / view->step : kUnknown;
    const std::vector<RunResult> results = results_of(*view, seed, runs[0].spec.data, task, milliseconds);
    all.insert(all.end(), results.begin(), results.end());
    if (turn == 1) say("{}", table(results));
    if (options.seeds == 1) say("One seed; --seeds 5 trains five and says how far they agree.\n");
    flush();
    log_results(log, *view, results);
    if (turn == 1 && complete) draw_pictures(lab, options.out, closing);
  }
  if (all.size() > runs.size()) say("{}", table(all));
  if (!complete) all.resize(all.size() - runs.size());  // the last seed did not get to its end
  print_summary(all);
  flush();
  closing.attempt([&] {
    log.check();
    say("wrote {}\n", log_path);
  });
  if (!complete) complain("interrupted");
  return closing.code(complete ? Exit::Ok : Exit::Interrupted);
}

void add_compare(CLI::App& app, Command& command) {
  const auto options = std::make_shared<MainOptions>();
  const auto files = std::make_shared<CompareOptions>();
  CLI::App& sub = *app.add_subcommand(
      "compare",
      "Put saved runs and logs side by side; without files train the three runs and print their table");
  sub.footer(kFooter);
  add_main_options(sub, *options);
  add_compare_files(sub, *files);
  sub.callback([&sub, options, files, &command] {
    name_outputs(sub, *files, options->out);
    command = [options, files] { return files->files.empty() ? compare(*options) : compare_files(*files); };
  });
}

}  // namespace normscope::cli
