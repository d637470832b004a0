// Numbers of a trained run that take long to measure, so that they are measured on request alone (kNumbers). The core has none; an add-on brings rows MEASUREMENT(a constant) of measurements.def.
#pragma once

#include <span>
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

inline std::span<const EndNumber* const> end_numbers() {
  static constexpr const EndNumber* kAll[] = {
#define MEASUREMENT(number) &number,
#include "chosen/measurements.def"
#undef MEASUREMENT
      nullptr};
  return std::span(kAll).first(std::size(kAll) - 1);
}

}  // namespace normscope::experiments
