// Runs for lessons. A run that is in the store of finished runs (lab/run_cache.h, shared with the Lab) is not
// trained again; one that is not is trained, measured and stored there. What a lesson wants to know of a finished
// run beside its history (shares of branches, what the model writes) is computed once and kept here. Any number of
// threads may ask at once, each through a RunStore of its own (`beside`): they share all results, and each trains
// on its own backend.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/data/task.h"
#include "engine/tape/backend.h"
#include "engine/train/history.h"
#include "engine/lab/run_cache.h"

namespace normscope::lessons {

using ShareMap =
    std::vector<std::vector<double>>;  ///< beta^2: row i has columns 0..i+1, see residual_dependency

/// A finished run as lessons see it.
struct RunResult {
  double level = 0;  ///< loss of a model that knows letter frequencies only
  std::string text;  ///< what the model writes at the end
  std::shared_ptr<const History> history;
  ShareMap shares_start, shares_end;
};

/// Where a training stands, told after every step, from the thread that trains.
struct RunProgress {
  std::string key;  ///< of the run
  int32_t step = 0, steps = 0;
  std::shared_ptr<const History> history;  ///< grows on; safe to read from any thread
  double level = 0;
};
/// Returns false to stop: Cancelled is thrown then.
using OnStep = std::function<bool(const RunProgress&)>;
struct Cancelled : Error {
  Cancelled() : Error("stopped") {}
};

class RunStore {
 public:
  /// threads 0 = one per physical core. `finished`: the store that is shared; null: its own.
  explicit RunStore(int threads = 0, std::shared_ptr<RunCache> finished = nullptr);
  ~RunStore();
  /// Another one for another thread, with the same results.
  std::unique_ptr<RunStore> beside(int threads) const;
  int threads() const { return threads_; }

  /// The finished run, trained now when it is not there. Throws Error, and Cancelled.
  std::shared_ptr<const RunResult> get(const RunSpec& spec, const std::vector<Edit>& edits,
                                       const OnStep& on_step);
  /// nullptr when no get() asked for it yet.
  std::shared_ptr<const RunResult> find(const std::string& key) const;
  static std::string key_of(const RunSpec& spec, const std::vector<Edit>& edits);

  Backend& backend() { return *backend_; }
  std::shared_ptr<const Task> task(const DataSpec& data);
  int32_t trained() const;  ///< how many runs were really trained

 private:
  struct Shared {
    std::shared_ptr<RunCache> finished;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::shared_ptr<const RunResult>> results;
    std::set<std::string> under_way;  ///< keys that a thread is training
    std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>> tasks;
    int32_t trained = 0;
  };
  RunStore(int threads, std::shared_ptr<Shared> shared);
  std::shared_ptr<const RunResult> make(const RunSpec& spec, const std::vector<Edit>& edits,
                                        const std::string& key, const OnStep& on_step);

  int threads_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace normscope::lessons
