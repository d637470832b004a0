// Keeps results of finished runs on disk, under a key of all that decides the run's bits. So the same run is trained
// once, whoever asks for it: the lessons' checks, a comparison, a study. Each result is a file, a JSON object with
// format, key, measurement and result. The state of a run that may be asked for more is beside it as a checkpoint.
//
// Promises: any number of threads, programs and machines may share a folder, as files are replaced whole. A file that
// cannot be read, or that belongs to another key, counts as absent and is named by damaged(); its run is trained again.
// A result that cannot be kept costs no run that was trained (attempt()). A folder that somebody named keeps
// everything. The user's cache has a limit, above which the results that were unused for longest are removed, never the
// newest. A store that is opened to be looked at is not changed in any way. Without a folder nothing is kept.
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

/// A run of a study: specification, seed in it, and what changes while it trains.
struct StudyRun {
  RunSpec spec;
  std::vector<Edit> edits{};
  /// The run of the same study whose final weights this one starts with, as by train.init_from; null: it starts afresh.
  std::shared_ptr<const StudyRun> from{};
  std::string refused{};       ///< why its settings do not go together: it is not trained
  size_t column = 0, row = 0;  ///< its cell in a table; runs that differ in the seed alone share it

  std::string key() const;  ///< equal for equal runs; a store of results has keys of its own
};

/// All that decides the run's bits, a line each: specification and edits (RunIdentity::key), hash of the data,
/// numbers_of(), and a hash of `start`, the key of the run that it starts from, if any. A setting that the run does not
/// read (spec/spec.h) has its default there, and so has the name of a file of sentence pairs, whose hash counts.
std::string key_of(const StudyRun& run, uint64_t data_hash, Backend& backend, const std::string& start = {});

inline constexpr uint64_t kCacheBudget = uint64_t{2} << 30;  ///< bytes of results in the user's cache

/// Where results are, and what may be done there.
struct StorePlace {
  StorePlace(const char* named) : folder(named) {}
  StorePlace(std::string named = {}, uint64_t bytes = 0, bool looks = false)
      : folder(std::move(named)), budget(bytes), reads_only(looks) {}
  std::string folder;       ///< empty: nothing is kept
  uint64_t budget = 0;      ///< bytes; 0: no limit, as in every folder that somebody named
  bool reads_only = false;  ///< nothing there is made, written, touched or removed
};

/// Where results are kept unless somebody names a folder. It has no folder where there is no cache.
StorePlace results_in_cache(bool reads_only = false);

class ResultStore {
 public:
  /// The constructor makes the folder, unless the folder is only read. Throws Error.
  explicit ResultStore(StorePlace place);

  std::optional<InputValue> find(const std::string& key, std::string_view measurement);
  void put(const std::string& key, std::string_view measurement,
           const nlohmann::json& result);  ///< throws Error

  /// Where the state of a finished run is kept; empty without a folder.
  std::string state_path(const std::string& key, std::string_view measurement) const;

  /// Notes a state that could not be used; damaged() lists `path` too.
  void note_damaged(const std::string& path);
  /// Whether another run can take the weights of a state. An unreadable state counts as damaged.
  bool opens(const std::string& state);
  /// Carries out what writes something of `key` here. An exception is noted until a later attempt succeeds, and ends
  /// nothing: the run that was trained counts, in memory. DeviceError is not a fault of the store, and is thrown.
  void attempt(const std::string& key, const std::function<void()>& write);

  /// Removes results down to the limit.
  void trim();

  const StorePlace& place() const { return place_; }
  const std::string& folder() const { return place_.folder; }
  std::vector<std::string> damaged() const;  ///< files that could not be read, each named once
  Message unkept() const;        ///< why something could not be kept at first; empty: everything was
  int32_t unkept_count() const;  ///< number of keys that are not kept now
  int32_t let_go() const;        ///< results that were removed for others

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

// Three things decide a run's bits beside its specification: the version of the engine's numbers, the backend and the
// instruction set. They are part of the key of every stored result, so that none outlives the arithmetic that made it.

/// Raised with every change to the engine that changes a bit of what training computes.
/// tests/training/experiments/test_numbers.cpp holds checksums of what some runs compute with each instruction set, and
/// fails by name when they change and this has not.
inline constexpr int32_t kNumbersVersion = 1;

/// Small runs whose bits change with the arithmetic: Post-LN with dropout and label smoothing,
/// Pre-LN with GELU and clipping, Admin with RMSNorm, and plain SGD with an output table of its own.
std::vector<RunSpec> checksum_runs();
/// The checksum of losses, weights and optimizer state after `steps` steps, bit for bit.
uint64_t checksum(const RunSpec& spec, int32_t steps, Backend& backend);

/// "numbers 1 CPU avx3 5f0c1a2b3c4d5e6f". The last word is a checksum of three steps of each of these runs on this very
/// machine, made once a process: a compiler or processor that computes them otherwise has another key.
std::string numbers_of(Backend& backend);

}  // namespace normscope::experiments
