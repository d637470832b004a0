// Placements by name, for tests that also run where the add-on of some of them is left out.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "engine/model/wiring.h"

namespace normscope::test {

inline bool is(Placement placement, std::string_view name) { return name == to_string(placement); }

/// Those of the names that this build has.
inline std::vector<Placement> known(std::initializer_list<std::string_view> names) {
  std::vector<Placement> all;
  for (const std::string_view name : names)
    for (const Placement p : placements())
      if (is(p, name)) all.push_back(p);
  return all;
}

}  // namespace normscope::test
