// What decides a run's bits, as one value. Equal keys are equal runs, to the bit: what is known under a key is never
// trained again, and nothing else is ever shown in its place. Stored results have a key of their own, which outlives
// the process: experiments/result_store.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/tape/backend.h"
#include "training/data/task.h"
#include "training/spec/spec.h"

namespace normscope {

/// The backend and instruction set of all steps after `step`, "CPU avx2".
struct Arithmetic {
  int32_t step = 0;
  std::string name;
  bool operator==(const Arithmetic&) const = default;
};
std::string arithmetic_of(const Backend& backend);

/// A checkpoint that a run goes on from. Its weights need not follow from the specification: another machine, another
/// version or a hand may have written it.
struct StartingPoint {
  std::string hash;  ///< of the file
  int32_t step = 0;
};

struct RunIdentity {
  RunSpec origin;                      ///< the specification at step 0
  std::vector<Edit> edits, scheduled;  ///< applied edits, in order; edits whose step has not come yet
  DataIdentity data{};
  std::string weights{};                 ///< content_hash() of train.init_from
  std::optional<StartingPoint> start{};  ///< nothing: it began at step 0
  std::vector<Arithmetic> arithmetic{};  ///< by step

  std::vector<Edit> all_edits() const;  ///< `edits`, then `scheduled`
  RunSpec spec() const;                 ///< with the applied edits
  /// All of it as text, except name and budget, which change no bit, and the settings that the run does not read.
  std::string key() const;
  /// The same run, trained from step 0 as it began.
  RunIdentity from_scratch() const;
  /// Notes which backend makes the steps after `step`; what was noted of them before is forgotten.
  void go_on(const Backend& on, int32_t step);
};

/// The identity of a run from step 0 with these edits to come.
RunIdentity identity_of(RunSpec origin, std::vector<Edit> edits, const Task& task, const Backend& backend);

/// The settings as text, a line each, then the edits, but without the name. A specification has the same text before
/// and after complete().
std::string settings_text(const RunSpec& origin, const std::vector<Edit>& edits);
/// The same with the default of every setting that the run does not read, and of every file that counts by its hash
/// (TaskKind::by_content). An edit may make a run read another setting: with edits every setting counts.
std::string settings_read(const RunSpec& origin, const std::vector<Edit>& edits);

}  // namespace normscope
