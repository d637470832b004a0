// What the tests of the Lab ask of its runs. Shared by test_lab and test_lab_time.
#pragma once

#include <memory>
#include <vector>

#include "engine/train/lab.h"
#include "small_runs.h"

namespace normscope::test {

inline std::vector<float> losses(const RunView& run) { return run.history->loss().values; }

// What the run computes by itself, with nobody looking.
inline std::vector<float> alone(const RunSpec& spec, int32_t count, const std::vector<Edit>& edits = {}) {
  const auto run = make_run(spec);
  run->schedule_edits(edits);
  steps(*run, count);
  return run->history()->loss().values;
}

inline std::shared_ptr<const LabView> rest(Lab& lab) {
  lab.wait_idle();
  return lab.view();
}

}  // namespace normscope::test
