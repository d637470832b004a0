#include "app/reproduce/claim.h"

#include <algorithm>

namespace normscope::reproduce {

const char* to_string(Finding finding) {
  constexpr const char* kFindings[] = {"not run", "reproduced", "not at this scale", "contradicted here",
                                       "no system yet"};
  return kFindings[static_cast<size_t>(finding)];
}

const Line* Claim::line(std::string_view line_id) const {
  const auto it =
      std::find_if(lines.begin(), lines.end(), [&](const Line& one) { return one.id == line_id; });
  return it == lines.end() ? nullptr : &*it;
}

std::vector<int32_t> ladder() {
  return {1, 2, 3, 5, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000};
}

}  // namespace normscope::reproduce
