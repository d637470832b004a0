#include "addons/compare/app/commands/compare_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "app/cli/options.h"
#include "app/commands/picture.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/session/lab.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

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

/// Removes the event that a run was put by and gone on with: its bits are the same.
void take_back_resumed(History& history) {
  for (const RunEvent& event : history.events())
    if (event.kind == RunEvent::Kind::Resumed) history.take_back(event);
}

}  // namespace

CompareStudy::CompareStudy(std::vector<ConfigRun> runs, int32_t seeds, bool own_seed)
    : runs_(std::move(runs)) {
  const bool lettered = runs_.front().letter == 'A';
  for (size_t i = 0; i < runs_.size(); ++i) {
    ConfigRun& run = runs_[i];
    if (!lettered) run.letter = static_cast<char>('A' + i);
    run.spec.train.steps = runs_.front().spec.train.steps;
    std::ranges::stable_sort(run.edits, {}, &Edit::step);
    const auto same = std::find_if(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const ConfigRun& other) { return other.spec.data == run.spec.data; });
    const auto place = static_cast<size_t>(same - runs_.begin());
    tasks_.push_back(place < i ? tasks_[place] : task_of(run.spec));
  }
  const auto first = static_cast<int64_t>(own_seed ? runs_.front().spec.seed : 1);
  if (!own_seed) override_runs(runs_, "", 0, first);
  for (int32_t turn = 0; turn < seeds; ++turn) {
    std::vector<ConfigRun> now = runs_;
    if (turn > 0) override_runs(now, "", 0, first + turn);
    for (ConfigRun& run : now) study_.runs.push_back({std::move(run.spec), std::move(run.edits)});
  }
  study_.name = "compare";
  study_.on_run = [this](size_t place, Run& run) { keep(place, run); };
}

void CompareStudy::require_buildable(int32_t shards) const {
  const EndsAtOnce at_once("interrupted: nothing was trained");  // networks of any size are built
  with_exit(Exit::Usage, [&] {
    int64_t bytes = 0;
    for (const ConfigRun& run : runs_) bytes += estimated_bytes(run.spec);
    require_bytes("compare", bytes);
    require_bytes(fmt::format("compare with {} seeds", seeds()), bytes + history_bytes() / shards);
  });
}

int64_t CompareStudy::history_bytes() const {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  size_t bytes = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    Run run(runs_[i].spec, tasks_[i], *backend);
    run.schedule_edits(runs_[i].edits);
    const size_t frames = static_cast<size_t>(run.spec().train.steps) + 1;
    bytes += seeds() * std::min(kHistoryBudget, frames * run.history()->layout().size() * sizeof(float));
  }
  return static_cast<int64_t>(bytes);
}

void CompareStudy::keep(size_t place, Run& run) {
  take_back_resumed(*run.history());
  // The loss is rounded as in the history of a stored run.
  const auto validation = static_cast<double>(static_cast<float>(run.last_validation_loss()));
  RunEnd ended{run.record(place < runs_.size()), run.state(), validation};
  ended.record.history = run.history();
  const Message notice = run.take_notice();
  const std::lock_guard lock(mutex_);
  ended_[place] = std::move(ended);
  if (!notice.empty()) notices_.push_back(fmt::format("run {}: {}", runs_[run_of(place)].letter, notice));
}

StudyResults CompareStudy::train(experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                                 const OnProgress& on_progress) {
  require_buildable(runner.shard.count);
  ended_.assign(study_.runs.size(), std::nullopt);
  StudyResults studied = experiments::train(study_, store, runner, on_progress);
  collect(studied);
  return studied;
}

/// Makes results of what was kept; equal runs get one each.
void CompareStudy::collect(const experiments::StudyResults& studied) {
  for (size_t place = 0; place < study_.runs.size(); ++place) {
    const std::optional<experiments::RunNumbers>& taken = studied.runs[place];
    const size_t run = run_of(place), first = studied.first[place];
    const RunSpec& spec = study_.runs[place].spec;
    if (taken && taken->failed() && failed_.empty())
      failed_ = fmt::format("run {}, seed {}: {}", runs_[run].letter, spec.seed, taken->what());
    if (!taken || !ended_[first]) continue;
    const RunEnd& ended = *ended_[first];
    const RunRecord& record = ended.record;
    RunSpec now = record.edits.empty() ? spec : record.spec();  // a stored run may have another name
    now.name = spec.name;
    fit_to_data(now, *tasks_[run]);
    const double milliseconds = taken->seconds > 0 && taken->steps > 0
                                    ? taken->seconds * 1e3 / taken->steps
                                    : std::numeric_limits<double>::quiet_NaN();
    results_.push_back(result_of({runs_[run].letter, spec.seed}, now, record.edits, ended.state,
                                 *record.history, *tasks_[run], ended.validation, milliseconds));
    histories_.push_back(record.history);
    if (first != place) ended_[place] = ended_[first];
  }
  for (const std::string& notice : notices_) complain(notice);
}

void CompareStudy::log(const std::string& path) const {
  RunLog log(path, identity_of(runs_.front().spec.data, *tasks_.front()));
  for (size_t i = 0; i < results_.size(); ++i) {
    log_run(log, results_[i].label, *histories_[i]);
    log.result(results_[i]);
  }
  log.check();
}

std::string lab_picture_path(const std::string& folder, bool dark) {
  return fmt::format("{}/lab-{}.png", folder, dark ? "dark" : "light");
}

void CompareStudy::draw(const StudyOptions& options, const std::string& folder, Closing& closing) const {
  const auto finished = std::make_shared<RunCache>(std::numeric_limits<size_t>::max());
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (!ended_[i]) return;
    RunRecord run = ended_[i]->record;
    run.origin = runs_[i].spec;  // a stored run may have another name
    fit_to_data(run.origin, *tasks_[i]);
    finished->put(std::move(run));
  }
  closing.attempt([&] {
    Lab lab({.threads = options.threads,
             .backend = backend_of(options.backend),
             .finished = finished,
             .live_text = false});
    begin(lab, runs_, true);
    for (const bool dark : {false, true})
      closing.attempt([&] { draw_lab(lab, {.dark = dark}, lab_picture_path(folder, dark)); });
  });
}

void CompareStudy::require_trained() const {
  if (!failed_.empty()) throw CommandError(Exit::Internal, "compare: " + failed_);
}

}  // namespace normscope::commands
