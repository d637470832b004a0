// A recorded run: what a file says of a run that was trained elsewhere or before, so that it can be drawn and compared
// like one of ours. It can do nothing that needs weights.
//
// Promises: a file is read once, in bounded memory (history.h thins what is long ago and keeps its extremes); a line
// that cannot be read is counted, named and skipped; what a file does not say is empty or NaN here and never made up.
// Called by `normscope compare FILE...` and `normscope record`; a log that still grows is log_follower.h's.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/data/identity/data_identity.h"
#include "training/measure/history.h"
#include "training/spec/spec.h"

namespace normscope::records {

/// Where a recorded run comes from.
enum class Origin : uint8_t {
  Saved,  ///< a saved run of ours: weights are in its file
  Log     ///< a log: numbers only
};

/// What is said of a run beside its numbers; also the head of a run to compare, live ones too (app/compare/comparison.h).
struct AboutRun {
  std::string name;   ///< "Post-LN, warm-up 200"; the file's stem where it does not say
  std::string maker;  ///< "normscope", "PyTorch 2.4"; empty: not said
  /// Key and value as text, in the file's order; empty: not said.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<RunSpec> spec;    ///< where the settings are ours and complete; edits applied
  std::optional<RunSpec> origin;  ///< before the edits; empty: not said
  std::vector<Edit> edits;
  DataIdentity data;  ///< that it reads, as far as it is said
  /// What cannot be shown, a sentence each: "gradient norms: not in this log".
  std::vector<std::string> missing;
};

/// One training of a run.
struct OneSeed {
  uint64_t seed = 0;  ///< 0: not said
  /// Loss, rate and validation; stats are named as the engine names its own, "L03.attn.wq.grad_norm", so that the
  /// Lab's plots find them. NaN where a step has no such number.
  std::shared_ptr<const History> history;
  std::string verdict{};          ///< as its file words it; empty: not said
  double unigram = NAN;           ///< nats per symbol; NaN: not said
  double tokens_per_step = NAN;   ///< padding included; NaN: not said
  double seconds_per_step = NAN;  ///< NaN: not said
};

/// A run as it can be shown and compared without training: what its file says of it, no more.
struct RecordedRun : AboutRun, OneSeed {
  std::string path;  ///< the file it was read from
  Origin from = Origin::Log;
  std::string letter;     ///< of our own logs, "A" to "D"; empty
  std::string placement;  ///< "post", "pre", ... where the file names it
  int32_t layers = 0;     ///< the highest layer that a stat names; 0: none
};

/// What was read from one file: a log of ours can hold several runs and seeds.
struct RecordedFile {
  std::vector<RecordedRun> runs;  ///< in order of first appearance
  int64_t lines = 0, broken = 0;
  std::vector<std::string> faults;  ///< the first ten broken lines: "line 17: ... "
};

/// A saved run by its first bytes, whatever it is called. Throws Error when the file cannot be read.
bool is_saved_run(const std::string& path);
/// A log (docs/log-format.md) or a saved run (.safetensors of `train --save`). Throws Error when it is neither, or
/// has no step. `mapping`: a file of name_mapping.h for the names of a log; empty: none.
RecordedFile read_recorded(const std::string& path, const std::string& mapping = "");

}  // namespace normscope::records
