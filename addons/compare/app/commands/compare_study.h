// The runs of `normscope compare` without files as a study: seed after seed. Results, log and pictures are made from
// the history that each run keeps. compare.cpp calls it.
#pragma once

#include "app/cli/study.h"
#include "app/commands/run_log.h"

namespace normscope::commands {

class CompareStudy {
 public:
  /// Takes seeds 1 to `seeds` of each run, with the budget of the first run; with `own_seed`, as many seeds from the
  /// first run's own seed upwards. Throws CommandError for data that cannot be used.
  CompareStudy(std::vector<ConfigRun> runs, int32_t seeds, bool own_seed);
  CompareStudy(const CompareStudy&) = delete;
  CompareStudy& operator=(const CompareStudy&) = delete;

  int64_t runs() const { return static_cast<int64_t>(study_.runs.size()); }
  const std::vector<ConfigRun>& letters() const { return runs_; }  ///< one run each, with the first seed
  /// An upper bound of the bytes in the histories of all seeds, which are kept for the log. It builds each run, and
  /// throws Error for one that the engine refuses.
  int64_t history_bytes() const;

  /// Throws CommandError for runs that cannot be built, before anything is trained.
  experiments::StudyResults train(experiments::ResultStore& store, const experiments::RunnerOptions& runner,
                                  const cli::OnProgress& on_progress);

  /// The results of the finished runs, seed after seed.
  const std::vector<RunResult>& results() const { return results_; }
  bool complete() const { return results_.size() == study_.runs.size(); }
  /// Throws CommandError where the file cannot be written.
  void log(const std::string& path) const;
  /// Draws the Lab with the runs of the first seed, once all of them are there. It trains nothing.
  void draw(const cli::StudyOptions& options, const std::string& folder, cli::Closing& closing) const;
  /// Throws CommandError where a run could not be trained.
  void require_trained() const;

 private:
  struct RunEnd {
    RunRecord record;  ///< with weights for the first seed, for the pictures
    RunState state;
    double validation;
  };
  /// Refuses runs that the engine or this machine's memory refuses, before any is trained. Each of
  /// the shards keeps its own part of the histories.
  void require_buildable(int32_t shards) const;
  void keep(size_t place, Run& run);
  void collect(const experiments::StudyResults& studied);
  size_t run_of(size_t place) const { return place % runs_.size(); }
  size_t seeds() const { return study_.runs.size() / runs_.size(); }

  std::vector<ConfigRun> runs_;
  std::vector<std::shared_ptr<const Task>> tasks_;  ///< by run
  experiments::Study study_;
  std::mutex mutex_;
  std::vector<std::optional<RunEnd>> ended_;  ///< by place
  std::vector<RunResult> results_;
  std::vector<std::shared_ptr<const History>> histories_;  ///< by result
  std::vector<std::string> notices_;
  std::string failed_;  ///< why a run could not be trained; empty: all could
};

}  // namespace normscope::commands
