// Numbers of a trained run that take long to measure, so that they are measured where a study names them alone. The core
// has none; an add-on brings rows MEASUREMENT(a constant) of measurements.def.
#pragma once

#include <initializer_list>
#include <string_view>

#include "training/run/run.h"

namespace normscope::experiments {

struct EndNumber {
  std::string_view name;    ///< "bleu"
  double (*measure)(Run&);  ///< not finite where the run has no such number; changes no bit of the run
};

#define MEASUREMENT(number) extern const EndNumber number;
#include "chosen/measurements.def"
#undef MEASUREMENT

inline constexpr std::initializer_list<const EndNumber*> kEndNumbers = {
#define MEASUREMENT(number) &number,
#include "chosen/measurements.def"
#undef MEASUREMENT
};

}  // namespace normscope::experiments
