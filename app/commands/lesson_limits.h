// normscope lesson limits: how far the effect of each lesson reaches (app/course/limits.h).
#pragma once

#include <string>

#include "app/cli/exit_code.h"

namespace normscope::cli {

struct LimitsOptions {
  std::string id;                                    ///< of one lesson; empty: all
  std::string folder;                                ///< of the lessons; empty: the course's
  std::string results = "out/limits/results.jsonl";  ///< keeps what was measured
  std::string text;  ///< another text; empty: the system's licences, where there are any
  bool all = false, write = false;
  int threads = 0;
};

Exit lesson_limits(const LimitsOptions& options);

}  // namespace normscope::cli
