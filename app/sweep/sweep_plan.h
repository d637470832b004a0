// Which runs a sweep needs: a base run, one or two axes over it, seeds for every cell and more for regions; each a
// complete specification. A plan is a value: the command line makes it of its options, the screen of its fields, and
// copy_text.h writes it as options again. Called by the command, the screen and the tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/axis.h"
#include "training/experiments/study.h"
#include "training/spec/spec.h"

namespace normscope::sweep {

/// Runs of one sweep, at most.
inline constexpr int64_t kMostRuns = 100'000;

/// Places of an axis, both ends included.
struct Span {
  size_t first = 0, last = 0;
  bool holds(size_t place) const { return first <= place && place <= last; }
  bool operator==(const Span&) const = default;
};

/// So many seeds more in a rectangle of cells. Where regions overlap, all of them count.
struct MoreSeeds {
  int32_t count = 1;
  Span columns, rows;
  bool operator==(const MoreSeeds&) const = default;
};

struct Plan {
  std::vector<std::string> set;  ///< KEY=VALUE on the default comparison's Post-LN run
  std::vector<Axis> axes;        ///< across, and up where there are two
  int32_t steps = 0;             ///< budget of every run; 0: as the base run has it
  int32_t seeds = 1;             ///< seeds 1..seeds in every cell
  std::vector<MoreSeeds> more;

  size_t columns() const { return axes[0].values.size(); }
  size_t rows() const { return axes.size() > 1 ? axes[1].values.size() : 1; }
  int32_t seeds_of(size_t column, size_t row) const;
  int64_t runs() const;
  bool operator==(const Plan&) const = default;
};

/// The run that the axes change. Throws Error.
RunSpec base_of(const Plan& plan);

/// "2@train.lr=0.0014:0.0065,train.warmup=6:50": two seeds more where both lie between these values, ends included; one
/// value alone is that row or column, an axis that is not named counts whole. Throws Error.
MoreSeeds more_seeds_from(std::string_view text, const Plan& plan);
std::string to_text(const MoreSeeds& more, const Plan& plan);

/// The plan as a command line and a session write it: --set, --axis, --more-seeds, --steps, --seeds.
struct PlanText {
  std::vector<std::string> set{}, axes{}, more_seeds{};
  int32_t steps = 0, seeds = 1;
};
PlanText text_of(const Plan& plan);
Plan plan_from(const PlanText& text);  ///< throws Error

/// One run. A cell whose values do not go together (a width that the heads do not divide) has why in `refused` and
/// is not trained; the others are.
struct Job {
  size_t column = 0, row = 0;
  uint64_t seed = 1;
  RunSpec spec;
  std::string refused;
};
/// Seed by seed, so that what ends early has something of every cell; within a seed row by row. Throws Error for a plan
/// that is none: no axis, a setting twice, one that no run takes notice of, too many runs.
std::vector<Job> jobs_of(const Plan& plan);
/// Its runs are the jobs, by the same places.
experiments::Study study_of(const std::vector<Job>& jobs);

/// Sweeps that are ready to start: "warmup", "depth", "placement".
struct Preset {
  const char* name;  ///< what it is: sweep.preset.NAME in assets/words
  std::vector<const char*> axes;
};
const std::vector<Preset>& presets();
/// Throws Error that names the nearest.
Plan preset_plan(std::string_view name);

}  // namespace normscope::sweep
