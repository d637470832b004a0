// The Lab runs are what the tests of the Lab start and ask of its runs.
#pragma once

#include "training/session/lab.h"
#include "training/support/small_runs.h"

namespace normscope::test {

// The options of a Lab that only trains.
inline LabOptions quiet() {
  return LabOptions{.threads = 2, .live_text = false, .line_length = 8, .validation_every = 25};
}

inline std::vector<RunSpec> three() {
  return {small_spec("post"), small_spec("post-warmup"), small_spec("pre")};
}

/// A Lab of these runs, which wait.
struct LabOf : Lab {
  explicit LabOf(std::vector<RunSpec> runs, LabOptions options = quiet()) : Lab(std::move(options)) {
    post(session::ReplaceRuns{std::move(runs), {}, false});
  }
};

inline session::ForkRequest request(const LabView& view, int32_t source, const std::string& placement,
                                    bool from_start = false) {
  session::ForkRequest fork;
  fork.source = source;
  fork.spec = *view.runs[static_cast<size_t>(source)].spec;
  set_field(fork.spec, "model.placement", placement);
  fork.from_start = from_start;
  fork.note = "norms moved";
  return fork;
}

inline std::vector<float> losses(const RunView& run) { return run.history->loss().values; }

// What the run computes by itself, with nobody looking.
inline std::vector<float> alone(const RunSpec& spec, int32_t count, const std::vector<Edit>& edits = {}) {
  const auto run = make_run(spec);
  run->schedule_edits(edits);
  steps(*run, count);
  return run->history()->loss().values;
}

// The mean of `count` values from one on.
inline double mean(const std::vector<float>& values, size_t from, size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) / static_cast<double>(count);
}

inline std::shared_ptr<const LabView> rest(Lab& lab) {
  lab.wait_idle();
  return lab.view();
}

/// The wish for a run from step 0 to the end of its budget.
inline Wish wish_of(const RunSpec& spec, Wish::Numbers numbers = {}, std::vector<Edit> edits = {}) {
  return {identity_of(spec, std::move(edits), *small_task(spec.data), shared_backend()), numbers};
}

/// What the Lab shows once it has done a command.
inline std::shared_ptr<const LabView> view_after(Lab& lab, session::Command command) {
  lab.post(std::move(command));
  return rest(lab);
}

}  // namespace normscope::test
