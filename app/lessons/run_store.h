// The store of finished runs: a run is specification + seed + events, and the same one is never trained
// twice, whichever lesson or check asks for it. What a run leaves behind is measured once, while it trains.
// In memory only: a file of results would outlive the engine that measured them. One thread at a time trains;
// any thread may ask what is there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/task.h"
#include "engine/core/error.h"
#include "tape/backend.h"
#include "train/history.h"
#include "train/run.h"

namespace normscope::lessons {

using ShareMap =
    std::vector<std::vector<double>>;  ///< beta^2: row i has columns 0..i+1, see residual_dependency

struct FinishedRun {
  RunSpec spec;
  RunState state = RunState::Training;
  int32_t learning_since = 0;
  double level = 0;  ///< loss of a model that knows letter frequencies only
  std::string text;  ///< what the model writes at the end
  std::shared_ptr<const History> history;
  std::vector<double>
      token_cosine;  ///< in the last layer, in the forward pass of step 1, 2, ... (as far as kCosineSteps)
  ShareMap shares_start, shares_end;
};

/// Where a training stands, told after every step.
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
  static constexpr int32_t kCosineSteps = 100;

  /// threads 0 = one per physical core.
  explicit RunStore(int threads = 0);
  ~RunStore();

  /// The finished run, trained now when it is not there. Throws Error, and Cancelled.
  std::shared_ptr<const FinishedRun> get(const RunSpec& spec, const std::vector<Edit>& edits,
                                         const OnStep& on_step);
  /// nullptr when it was not trained yet.
  std::shared_ptr<const FinishedRun> find(const std::string& key) const;
  static std::string key_of(const RunSpec& spec, const std::vector<Edit>& edits);

  Backend& backend() { return *backend_; }
  std::shared_ptr<const Task> task(const DataSpec& data);
  int32_t trained() const;  ///< how many runs were really trained

 private:
  std::unique_ptr<Backend> backend_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const FinishedRun>> runs_;
  std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>> tasks_;
};

}  // namespace normscope::lessons
