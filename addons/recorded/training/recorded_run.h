// A run to be drawn and compared without training it: from a file of a run that was trained
// elsewhere or earlier, or from the Lab.
//
// Promises: a file is read once, in bounded memory (history.h thins older steps and keeps their extremes); a line that
// cannot be read is counted, named and skipped; a value that a file lacks is empty or NaN and never made up. A step
// without a loss has none in the history; a step whose loss is not finite has NaN there. Called by `normscope compare
// FILE...` and `normscope record`; LogFollower (log_reader.h) reads a log that still grows.
#pragma once

#include <filesystem>

#include "training/run/run_record.h"

namespace normscope::records {

/// How much of a log could be read.
struct LinesRead {
  int64_t lines = 0, broken = 0;
  std::vector<Message> faults;  ///< the first ten, "line 17: ..."; a line that lacks a part is not broken
  void note(const Message& fault);
  /// The same in a line; empty: all could be read.
  Message fault() const;
};

// Measurements of a whole training: nats per symbol; padding included.
inline constexpr const char *kUnigram = "unigram", *kTokensPerStep = "tokens per step",
                            *kSecondsPerStep = "seconds per step";

/// One training. From a log it has its seed (origin.seed, 0: unknown) and its history: loss, rate and validation, and
/// stats under the engine's names, "L03.attn.wq.grad_norm", so that the Lab's plots find them. NaN where a step has no
/// such number.
struct SeedRecord : RunRecord {
  std::map<std::string, double> measured{};
  std::string said{};                            ///< its verdict in the words of its file; empty: unknown
  double number(const std::string& name) const;  ///< of `measured`; NaN: unknown
};

struct Recording {
  std::string name;   ///< "Post-LN, warm-up 200"; without one, the file's stem
  std::string maker;  ///< "normscope", "PyTorch 2.4"; empty: unknown
  /// Key and value as text, in the file's order; empty: unknown.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<RunSpec> spec;    ///< if the settings are ours and complete; with the edits
  std::optional<RunSpec> origin;  ///< before the edits; empty: unknown
  std::vector<Edit> edits;
  DataIdentity data;  ///< as far as it is known
  /// Measurements that the file lacks, a sentence each: "gradient sizes: not in this log".
  std::vector<Message> missing;
  bool took_place = false;  ///< of another run in its file while that was followed; `missing` has the sentence
  LinesRead read;          ///< of its whole log, as a line that cannot be read is of no run
  std::string path;        ///< the file it was read from; empty: it is the Lab's
  std::string log_letter;  ///< in our own logs, "A" to "D"; else empty
  std::string placement;   ///< "post", "pre", ... if the file names it
  int32_t layers = 0;      ///< the highest layer that a stat names; 0: none
  char letter = 0;         ///< its letter on screen; 0: by its place, A to D
  /// At least one; the first is shown.
  std::vector<SeedRecord> seeds;
  /// Its file's name; empty: it is the Lab's.
  std::string source() const { return std::filesystem::path(path).filename().string(); }
};

/// The runs of one file: our logs can hold several runs and seeds.
struct RecordedFile : LinesRead {
  std::vector<Recording> runs;  ///< in order of first appearance, with one seed each
};

/// Whether the file is a saved run, by its name or its beginning. A changed one is read anew as a whole. Throws Error
/// when the file cannot be read.
bool is_saved_run(const std::string& path);
/// Reads a log (docs/log-format.md), a file or folder of another tracker (run_files.h) or a saved run (.safetensors of
/// `train --save`). Throws Error when the file is neither, or has no step. `mapping`: a file (tensor_names.h) for the names of a log; empty:
/// none.
RecordedFile read_recorded(const std::string& path, const std::string& mapping = "");

}  // namespace normscope::records
