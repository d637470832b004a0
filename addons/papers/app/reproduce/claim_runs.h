// The runs of a claim: which ones it needs, the study that trains them with the store of results, the claim's lines
// from the numbers of these runs, and the verdict. A shard trains its part. The store also keeps numbers of fresh
// models. The reader (can every cell be made?), the command and the tests call it.
#pragma once

#include "addons/papers/app/reproduce/finding.h"

namespace normscope::reproduce {

using experiments::RunNumbers;

/// How many seeds, from 1, a claim is measured with.
struct Seeds {
  int32_t count = 0;   ///< 0: as each claim says
  bool quick = false;  ///< as each claim says for a quick look
  int32_t of(const Claim& claim) const;
};

/// The trained runs of one line, in the order of its x; none for a line without training.
/// Throws Error for values that do not fit together.
std::vector<experiments::StudyRun> runs_of(const Claim& claim, const Line& line, uint64_t seed);
/// The runs of all of a claim's lines, each once and after the run that it starts from.
std::vector<experiments::StudyRun> runs_of(const Claim& claim, uint64_t seed);
/// The runs that choose the controls of a claim: every cell of each control with every one of kTuningSeeds.
std::vector<experiments::StudyRun> tuning_of(const Claim& claim);

/// The numbers of each run, by StudyRun::key(); its failure where it could not be trained.
using NumbersByKey = std::map<std::string, RunNumbers>;
/// The line of one seed. It returns nothing while a run is missing, and nothing for fresh models.
/// Throws Error where a run has no such number ("[curve.g1] the run has no number L09.ffn.w2.grad_norm").
std::optional<course::CurveData> curve_of(const Claim& claim, const Line& line, uint64_t seed,
                                          const NumbersByKey& numbers);

/// The claim with every control set to its cell with the lowest validation loss over kTuningSeeds;
/// nothing while a run is missing. A loss that is not finite counts as infinite.
std::optional<Claim> resolved(const Claim& claim, const NumbersByKey& numbers);

/// The runs and steps of a claim with `seeds` seeds, controls included, and their arithmetic (step_flop). A line
/// without training counts as one step for each model.
struct Cost {
  int32_t runs = 0;
  int64_t steps = 0;
  double flop = 0;
};
Cost cost_of(const Claim& claim, int32_t seeds);

/// The results of the runs of all claims, and the outcome of each claim.
struct Visit : experiments::StudyResults {
  std::vector<Outcome> outcomes;
};

/// Leaves a claim Unknown, with the reason, where one of its runs could not be trained. Throws Error when the
/// store cannot be written.
Visit visit(const std::vector<const Claim*>& claims, const Seeds& seeds, experiments::ResultStore& store,
            const experiments::RunnerOptions& options, const experiments::OnProgress& on_progress);

}  // namespace normscope::reproduce
