// `OlderShares` derives from what a line says of each residual sum who made the state behind it. The line has each
// sub-layer's own share of its sum; what is older shrinks from sum to sum (Liu et al. 2020, section 4.1). With sum I
// adding branch b_I to x_I,
//     beta2.I.I = Var(b_I) / Var(x_I + b_I)                  as recorded
//     beta2.I.J = beta2.(I-1).J  Var(x_I) / Var(x_I + b_I)   J < I; J = 0: the embedding, which is all of x_1
// It is the engine's own measure (measure/step_metrics.h) where no norm stands on the stream, and where one does, as
// far as it scales all tokens and features alike. Called by run_builder.cpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "addons/recorded/training/log_line.h"

namespace normscope::records {

class OlderShares {
 public:
  /// Has "beta2.I.J", J < I, and "beta2.I.sum"; nothing where the line has such numbers itself, lacks one of those
  /// that are needed, or is of more than kMostSublayers. Valid until the next call.
  std::span<const LogStat> of(const LogStep& step);

  static constexpr size_t kMostSublayers = 96;

 private:
  /// A residual sum of the line.
  struct Sum {
    float own = NAN, branch = NAN, input = NAN;
  };
  bool gather(const LogStep& step);
  void name_row();

  std::vector<Sum> sums_;
  std::vector<double> shares_;  ///< of the state behind a sum, from the embedding on
  std::vector<LogStat> found_;
  std::deque<std::vector<std::string>> names_;  ///< by row: from the embedding on, and of the sum
};

}  // namespace normscope::records
