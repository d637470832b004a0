// Results of finished runs on disk: what was measured of a run is kept under a key of all that decides the run's
// bits, so that the same run is trained once, whoever asks for it: the lessons' checks, the zoo, a reproduction.
// A file a result, a JSON object with format, key, measurement and result; the state of a run of which more may
// be asked lies beside it as a checkpoint, and that of an interrupted run under another name.
//
// Promises: any number of threads and programs may share a folder, as files are replaced whole. A file that
// cannot be read, or that belongs to another key, counts as absent and is named by damaged(); its run is trained
// again. Above the budget, what was unused for longest goes first. Without a folder nothing is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/input_value.h"
#include "engine/spec/spec.h"
#include "engine/tape/backend.h"

namespace normscope::experiments {

/// A run: specification, seed in it, and what changes while it trains.
struct Experiment {
  RunSpec spec;
  std::vector<Edit> edits;
  /// It starts with the weights that this one ends with, as train.init_from has it. Null: afresh.
  std::shared_ptr<const Experiment> from{};
};

/// All that decides its bits, a line each: specification and edits (run_key), hash of the data, numbers_of(), and of one
/// that starts from another a hash of `start`, that one's key. A setting that the run does not read
/// (spec/unused_settings.h) stands there with its default, whatever it is, and so does the name of a file of sentence
/// pairs: their hash counts.
std::string key_of(const Experiment& experiment, uint64_t data_hash, Backend& backend,
                   const std::string& start = {});

class ResultStore {
 public:
  static constexpr uint64_t kBudget = uint64_t{2} << 30;

  /// Makes the folder, unless it is empty, and lets go what is over the budget. Throws Error.
  explicit ResultStore(std::string folder, uint64_t budget = kBudget);

  std::optional<InputValue> find(const std::string& key, std::string_view measurement);
  void put(const std::string& key, std::string_view measurement,
           const nlohmann::json& result);  ///< throws Error

  /// Where the state of a finished run is kept; empty without a folder.
  std::string state_path(const std::string& key, std::string_view measurement) const;
  /// What was measured of an interrupted run so far, and its state.
  std::optional<InputValue> find_partial(const std::string& key, std::string_view measurement);
  std::string partial_state_path(const std::string& key, std::string_view measurement) const;
  void put_partial(const std::string& key, std::string_view measurement, const nlohmann::json& result);
  void drop_partial(const std::string& key, std::string_view measurement);

  /// A state that could not be used; damaged() lists `path` too.
  void note_damaged(const std::string& path);
  const std::string& folder() const { return folder_; }
  std::vector<std::string> damaged() const;  ///< files that could not be read, each named once
  void trim();                               ///< down to the budget

 private:
  std::string path(const std::string& key, std::string_view measurement, std::string_view ending) const;
  std::optional<InputValue> read(const std::string& name, const std::string& key,
                                 std::string_view measurement);
  void write(const std::string& name, const std::string& key, std::string_view measurement,
             const nlohmann::json& result);

  std::string folder_;
  uint64_t budget_;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// The results of one measurement in a folder, whatever run they are of; what cannot be read is left out.
std::vector<InputValue> results_in(const std::string& folder, std::string_view measurement);

struct Merged {
  int32_t taken = 0, known = 0;      ///< results; those that were there already
  std::vector<std::string> damaged;  ///< files that are no results; left out
  std::vector<std::string> numbers;  ///< numbers_of() of the results, each once
};
/// Takes the results of other folders into `into`: those of shards, or of other machines. Throws Error, also for
/// shards that overlap (shards.h), before anything is taken.
Merged merge(const std::string& into, const std::vector<std::string>& folders);

/// A number, or null where it is not finite; and back: NaN for null.
nlohmann::json number_json(double value);
nlohmann::json list_json(const std::vector<double>& values);
double number_from(const InputValue& json);

}  // namespace normscope::experiments
