// The plan says which runs `normscope zoo` needs: entries x depths x {without, with warm-up} x seeds, each a complete
// specification. app/commands/zoo.cpp and the tests call it.
#pragma once

#include <string>
#include <vector>

#include "addons/papers/app/zoo/entries.h"
#include "training/experiments/study.h"

namespace normscope::zoo {

inline constexpr int32_t kShallow = 8;  ///< layers up to which the default comparison's setting is used

/// The entries of the question at which depth Post-LN stops learning while others go on. They
/// are the entries that the earlier study trained beyond kShallow layers.
std::vector<std::string> depth_question();

struct Plan {
  std::vector<Entry> entries{};
  std::vector<int32_t> depths = {6};
  std::vector<std::string> deep{};  ///< the only entries beyond kShallow layers; empty: all of them
  int32_t seeds = 3;
  int32_t steps = 0;                ///< 0: see base_setting()
  int32_t warmup = 0;               ///< of the second arm; 0: see base_setting()
  std::vector<std::string> base{};  ///< KEY=VALUE, before what an entry sets
};

/// How the default model trains, which is the model that the entries change. Up to eight layers it
/// trains as the default comparison does (rate 3e-3, 300 steps). Deeper models get the setting of the study of deep
/// stacks (rate 1e-3, 400 steps), because at a rate of 3e-3 no deep Post-LN placement learns, whatever is on its skip
/// path.
struct BaseSetting {
  const char* rate;
  int32_t steps, warmup;
};
BaseSetting base_setting(int32_t layers);

struct Job {
  size_t entry = 0;    ///< in Plan::entries
  int32_t layers = 0;  ///< 0: of another system, which has its own depth
  bool warm = false;
  uint64_t seed = 1;
  RunSpec spec;
};
/// Lists the runs depth by depth (other systems with the first depth) and within a depth seed by seed, so
/// that a study stopped early has results for every entry; then entry by entry, without warm-up first. Throws Error
/// when an entry and the base do not fit together.
std::vector<Job> jobs_of(const Plan& plan);
/// Makes a study whose runs are the jobs, in the same order.
experiments::Study study_of(const std::vector<Job>& jobs);
/// Writes the setting of one depth: "rate 0.003, 300 steps, warm-up 0 or 200, ..."
std::string setting_text(const Plan& plan, int32_t layers);
/// `setting_text` of a system: "preset convnet, a convolutional network ...; batches of 32, rate 0.001, 300 steps,
/// warm-up 0 or 100; 3 seeds"
std::string setting_text(const Plan& plan, const System& system);

}  // namespace normscope::zoo
