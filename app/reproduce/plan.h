// Which runs a claim needs, and its lines from what was taken of them. Called by the reader (can every cell be made?),
// trainer.h and the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/course/curves.h"
#include "app/reproduce/claim.h"
#include "training/experiments/store/result_store.h"
#include "training/experiments/study.h"
#include "training/experiments/taken.h"

namespace normscope::reproduce {

using experiments::Taken;

/// How many seeds, from 1, a claim is measured with.
struct Seeds {
  int32_t count = 0;   ///< 0: as each claim says
  bool quick = false;  ///< as each claim says for a quick look
  int32_t of(const Claim& claim) const;
};

/// The trained runs of one line, in the order of its x; none of a line without training. Throws Error for values that do
/// not go together.
std::vector<experiments::Experiment> experiments_of(const Claim& claim, const Line& line, uint64_t seed);
/// Those of all lines, each once and behind what it starts from.
std::vector<experiments::Experiment> experiments_of(const Claim& claim, uint64_t seed);
/// Those that choose the controls of a claim: each cell of each with every one of kTuningSeeds.
std::vector<experiments::Experiment> tuning_of(const Claim& claim);
/// Those of all lines without a control among them: what can be trained before any is chosen.
std::vector<experiments::Experiment> experiments_without_controls(const Claim& claim, uint64_t seed);
/// What stands for a run in the calls above and below.
std::string key_of_run(const experiments::Experiment& run);

/// What was taken of a run by key_of_run(); nullptr where it is not there.
using FindTaken = std::function<const Taken*(const std::string&)>;
/// The line of one seed, of whose runs all are there; otherwise, and for fresh models, nothing. Throws Error where a run
/// has no such number ("[curve.g1] the run has no number L09.ffn.w2.grad_norm").
std::optional<course::CurveData> curve_of(const Claim& claim, const Line& line, uint64_t seed,
                                          const FindTaken& find);

/// The claim with the cell of every control that has the lowest validation loss over kTuningSeeds; nothing while a run is
/// missing. One that was not finite counts as infinite.
std::optional<Claim> resolved(const Claim& claim, const FindTaken& find);

/// Runs and steps that a claim takes with so many seeds, controls included, and their arithmetic (step_flop); of lines without training that
/// of a step for each model.
struct Cost {
  int32_t runs = 0;
  int64_t steps = 0;
  double flop = 0;
};
Cost cost_of(const Claim& claim, int32_t seeds);

}  // namespace normscope::reproduce
