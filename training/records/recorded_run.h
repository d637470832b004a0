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

/// A run as it can be shown and compared without training: what its file says of it, no more.
struct RecordedRun {
  std::string name;  ///< "Post-LN, warm-up 200"; the file's stem where it does not say
  std::string path;  ///< the file it was read from
  Origin origin = Origin::Log;
  std::string maker;   ///< "normscope", "PyTorch 2.4"; empty where it does not say
  std::string letter;  ///< of our own logs, "A" to "D"; empty
  uint64_t seed = 0;   ///< 0: not said
  /// Key and value as text, in the file's order; empty: not in its log.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<RunSpec> spec;           ///< where the settings are ours and complete; edits applied
  std::optional<RunSpec> origin_spec{};  ///< before the edits; empty where the file does not say it
  DataIdentity data{};                   ///< that it reads, as far as the file says it
  std::vector<Edit> edits;
  std::string placement;  ///< "post", "pre", ... where the file names it
  /// Loss, rate and validation; stats are named as the engine names its own, "L03.attn.wq.grad_norm", so that the
  /// Lab's plots find them. NaN where a step has no such number.
  std::shared_ptr<const History> history;
  int32_t layers = 0;             ///< the highest layer that a stat names; 0: none
  double unigram = NAN;           ///< nats per symbol; NaN: not said
  std::string verdict;            ///< the result line's; empty: not said
  double tokens_per_step = NAN;   ///< padding included; NaN: not said
  double seconds_per_step = NAN;  ///< NaN: not said
  std::vector<std::string>
      missing;  ///< what cannot be shown, a sentence each: "gradient norms: not in this log"
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
