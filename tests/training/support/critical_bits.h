// What holds of a run of any network whose critical rate is measured.
#pragma once

#include "training/support/small_runs.h"

namespace normscope::test {

/// No bit of the run changes, and the rate is measured when it is due.
inline void check_critical_rate_is_watched(const RunSpec& spec) {
  RunSpec watched = spec;
  watched.train.critical_every = 5;
  const auto plain = make_run(spec, 12), run = make_run(watched, 12), later = make_run(spec);
  steps(*later, 6);
  later->edit("train.critical_every", "1");
  steps(*later, 6);
  for (const Run* other : {run.get(), later.get()}) {
    CHECK(first_difference(plain->store(), const_cast<Run*>(other)->store()) == "");
    CHECK(same_bits(plain->history()->loss().values, other->history()->loss().values));
  }
  const auto values = [](const Run& r) {
    return r.history()->series(r.history()->find(kCriticalStat)).values;
  };
  REQUIRE(values(*run).size() == 12);
  for (size_t i = 0; i < 12; ++i) {
    INFO("step " << i + 1);
    CHECK(std::isfinite(values(*run)[i]) == (i % 5 == 0));
    CHECK(std::isfinite(values(*later)[i]) == (i >= 6));
    CHECK(std::isnan(values(*plain)[i]));
  }
  CHECK(values(*run)[10] == values(*later)[10]);  // whatever was measured before
}

}  // namespace normscope::test
