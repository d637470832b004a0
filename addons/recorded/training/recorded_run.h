// `RecordedRun` is what a file says of a run that was trained elsewhere or earlier, so that it can be drawn and
// compared like one of ours. Nothing that needs weights can be done with it.
//
// Promises: a file is read once, in bounded memory (history.h thins older steps and keeps their extremes); a line
// that cannot be read is counted, named and skipped; what a file does not say is empty or NaN and never made up. A step
// whose loss is not said has none in the history; one whose loss is not finite has NaN there.
// Called by `normscope compare FILE...` and `normscope record`; LogFollower (log_reader.h) reads a log that still
// grows.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/data/data_identity.h"
#include "training/measure/history.h"
#include "training/spec/spec.h"

namespace normscope::records {

/// Where a recorded run comes from.
enum class Origin : uint8_t {
  Saved,  ///< a saved run of ours: weights are in its file
  Log     ///< a log: numbers only
};

/// Says how much of a log could be read.
struct LinesRead {
  int64_t lines = 0, broken = 0;
  std::vector<std::string>
      faults;  ///< the first ten: "line 17: ..."; a line that lacks only a part is not broken
  /// Says it in a line; empty: all could be read.
  std::string fault() const;
};

/// What is said of a run beside its numbers. It is also the head of a run to compare, live ones too
/// (app/compare/comparison.h).
struct AboutRun {
  std::string name;   ///< "Post-LN, warm-up 200"; without one, the file's stem
  std::string maker;  ///< "normscope", "PyTorch 2.4"; empty: unknown
  /// Key and value as text, in the file's order; empty: unknown.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<RunSpec> spec;    ///< if the settings are ours and complete; with the edits
  std::optional<RunSpec> origin;  ///< before the edits; empty: unknown
  std::vector<Edit> edits;
  DataIdentity data;  ///< what it reads, as far as that is known
  /// What cannot be shown, a sentence each: "gradient sizes: not in this log".
  std::vector<std::string> missing;
  LinesRead read;  ///< of its whole log, as a line that cannot be read is of no run
};

/// One training of a run.
struct OneSeed {
  uint64_t seed = 0;  ///< 0: unknown
  /// Loss, rate and validation; stats have the engine's names, "L03.attn.wq.grad_norm", so that the Lab's plots find
  /// them. NaN where a step has no such number.
  std::shared_ptr<const History> history;
  std::string verdict{};          ///< as its file words it; empty: unknown
  double unigram = NAN;           ///< nats per symbol; NaN: unknown
  double tokens_per_step = NAN;   ///< padding included; NaN: unknown
  double seconds_per_step = NAN;  ///< NaN: unknown
};

/// `RecordedRun` can be shown and compared without training.
struct RecordedRun : AboutRun, OneSeed {
  std::string path;  ///< the file it was read from
  Origin from = Origin::Log;
  std::string letter;     ///< in our own logs, "A" to "D"; else empty
  std::string placement;  ///< "post", "pre", ... if the file names it
  int32_t layers = 0;     ///< the highest layer that a stat names; 0: none
};

/// What was read from one file: our logs can hold several runs and seeds.
struct RecordedFile : LinesRead {
  std::vector<RecordedRun> runs;  ///< in order of first appearance
};

/// Recognises a saved run by its first bytes. Throws Error when the file cannot be read.
bool is_saved_run(const std::string& path);
/// Reads a log (docs/log-format.md) or a saved run (.safetensors of `train --save`). Throws Error
/// when the file is neither, or has no step. `mapping`: a file (tensor_names.h) for the names of a log; empty: none.
RecordedFile read_recorded(const std::string& path, const std::string& mapping = "");

}  // namespace normscope::records
