// `number` finds one of a step's measurements by its name.
#pragma once

#include <string>
#include <vector>

#include "catch.hpp"
#include "training/measure/step_metrics.h"

namespace normscope::test {

inline double number(const LiveMeasurements& live, const std::vector<double>& numbers,
                     const std::string& name) {
  for (size_t i = 0; i < numbers.size(); ++i)
    if (live.layout()[i].name == name) return numbers[i];
  FAIL("no measurement named " << name);
  return 0;
}

}  // namespace normscope::test
