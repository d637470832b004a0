// Keeps results of finished runs on disk, under a key of all that decides the run's bits. So a run is trained only once
// for the lessons' checks, all comparisons and all studies. Each result is a file, a JSON object with format, key,
// measurement and result. Where the run's state may be needed again, a checkpoint lies next to the result.
//
// Promises: any number of threads, programs and machines may share a folder, as files are replaced whole. A file that
// cannot be read, or that belongs to another key, counts as absent and is named by damaged(); its run is trained again.
// A result that cannot be written does not lose the trained run (attempt()). A folder that the user named keeps
// everything. The user's cache has a limit; above it the least recently used results are removed, never the newest. A
// store that is opened read-only is not changed in any way. Without a folder nothing is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/io/input_value.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

/// A run of a study: its specification (seed included), and the edits that change it while it trains.
struct StudyRun {
  RunSpec spec;
  std::vector<Edit> edits{};
  /// The run of the same study whose final weights this one starts with, as by train.init_from; null: it starts afresh.
  std::shared_ptr<const StudyRun> from{};
  std::string refused{};       ///< why its settings are incompatible: it is not trained
  size_t column = 0, row = 0;  ///< its cell in a table; runs that differ in the seed alone share it

  /// Names the run among the runs of a study or lesson, by its settings alone (settings_text). The key of a stored
  /// result is key_of(), and of a run in memory RunIdentity::key().
  std::string key() const;
};

/// All that decides the run's bits, a line each: settings_read(), hash of the data, numbers_of(), and a hash of `start`,
/// the key of the run that it starts from, if any.
std::string key_of(const StudyRun& run, uint64_t data_hash, Backend& backend, const std::string& start = {});

inline constexpr uint64_t kCacheBudget = uint64_t{2} << 30;  ///< bytes of results in the user's cache

/// The folder of a store, its limit and the permission to change it.
struct StorePlace {
  StorePlace(const char* named) : folder(named) {}
  StorePlace(std::string named = {}, uint64_t bytes = 0, bool looks = false)
      : folder(std::move(named)), budget(bytes), reads_only(looks) {}
  std::string folder;       ///< empty: nothing is kept
  uint64_t budget = 0;      ///< bytes; 0: no limit, as in every folder that the user named
  bool reads_only = false;  ///< makes, writes, touches and removes nothing
};

/// The store in the user's cache, for when the user names no folder. Its folder is empty where there is no cache.
StorePlace results_in_cache(bool reads_only = false);

class ResultStore {
 public:
  /// Makes the folder, unless the store is read-only. Throws Error.
  explicit ResultStore(StorePlace place);

  std::optional<InputValue> find(const std::string& key, std::string_view measurement);
  void put(const std::string& key, std::string_view measurement,
           const nlohmann::json& result);  ///< throws Error

  /// The path of a finished run's checkpoint; empty without a folder.
  std::string state_path(const std::string& key, std::string_view measurement) const;

  /// The path by which processes that share the folder tell each other who trains a run; empty without a folder that may
  /// be changed.
  std::string reservation_path(const std::string& key, std::string_view measurement) const;

  /// Notes a state that could not be used; damaged() lists `path` too.
  void note_damaged(const std::string& path);
  /// Whether another run can load the weights of a state. An unreadable state counts as damaged.
  bool opens(const std::string& state);
  /// Calls `write`, which stores something under `key`. An Error is not passed on, as the trained run still counts, in
  /// memory: unkept_count() counts the key until a later attempt succeeds. Throws DeviceError: no fault of the store.
  void attempt(const std::string& key, const std::function<void()>& write);

  /// Removes results down to the limit.
  void trim();

  const StorePlace& place() const { return place_; }
  const std::string& folder() const { return place_.folder; }
  std::vector<std::string> damaged() const;  ///< files that could not be read, each named once
  Message unkept() const;                    ///< the first reason why something was not kept; empty: none
  int32_t unkept_count() const;              ///< number of keys that are not kept now
  int32_t let_go() const;                    ///< results that were removed because of the limit

 private:
  std::string path(const std::string& key, std::string_view measurement, std::string_view ending) const;
  std::optional<InputValue> read(const std::string& name, const std::string& key,
                                 std::string_view measurement);
  void write(const std::string& name, const std::string& key, std::string_view measurement,
             const nlohmann::json& result);

  StorePlace place_;
  struct SharedState;
  std::shared_ptr<SharedState> shared_;
};

// A run's bits depend on three things outside its specification: the engine's number version, backend and instruction
// set. They are part of the key of every stored result, so that no result outlives the arithmetic that made it.

/// Raised with every change to the engine that changes a bit of what training computes.
/// tests/training/experiments/test_numbers.cpp has the checksums of some runs with each instruction set, and fails when
/// they change and this number has not.
inline constexpr int32_t kNumbersVersion = 1;

/// Small runs whose bits change with the arithmetic: Post-LN with dropout and label smoothing,
/// Pre-LN with GELU and clipping, Admin with RMSNorm, and plain SGD with an output table of its own.
std::vector<RunSpec> checksum_runs();
/// The checksum of losses, weights and optimizer state after `steps` steps, bit for bit.
uint64_t checksum(const RunSpec& spec, int32_t steps, Backend& backend);

/// "numbers 1 CPU avx3 5f0c1a2b3c4d5e6f". The last word is a checksum of three steps of each of checksum_runs() on this
/// machine, computed once a process: a compiler or processor that rounds differently has another key.
std::string numbers_of(Backend& backend);

}  // namespace normscope::experiments
