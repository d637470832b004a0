#include "app/reproduce/claim.h"

#include <algorithm>

namespace normscope::reproduce {

const char* to_string(Finding finding) {
  constexpr const char* kFindings[] = {"not run",           "reproduced",    "not at this scale",
                                       "contradicted here", "no system yet", "cannot be told here",
                                       "parts differ"};
  return kFindings[static_cast<size_t>(finding)];
}

const Line* Claim::line(std::string_view line_id) const {
  const auto it =
      std::find_if(lines.begin(), lines.end(), [&](const Line& one) { return one.id == line_id; });
  return it == lines.end() ? nullptr : &*it;
}

const Control* Claim::control(std::string_view run_id) const {
  const auto it =
      std::find_if(controls.begin(), controls.end(), [&](const Control& one) { return one.run == run_id; });
  return it == controls.end() ? nullptr : &*it;
}

bool is_loss(std::string_view y) {
  return y == "final_loss" || y == "final_excess" || y == "validation_loss" || y == "validation_bits";
}

std::vector<int32_t> ladder() {
  return {1, 2, 3, 5, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000};
}

}  // namespace normscope::reproduce
