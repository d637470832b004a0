// A study of tiny runs, for tests of the workers that train one.
#pragma once

#include "training/experiments/study.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

/// Post-LN and Pre-LN of one layer, each without and with warm-up.
inline experiments::Study tiny_study(int32_t steps, uint64_t seeds) {
  experiments::Study study{.name = "tiny"};
  for (const char* placement : {"post", "pre"})
    for (const char* warmup : {"0", "2"})
      for (uint64_t seed = 1; seed <= seeds; ++seed) {
        RunSpec spec = test::with_fields(test::tiny_spec(placement, steps, 1), {{"train.warmup", warmup}});
        spec.seed = seed;
        study.runs.push_back({spec});
      }
  return study;
}

}  // namespace normscope::fixture
