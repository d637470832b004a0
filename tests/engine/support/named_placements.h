// Placements and positions by name, for tests that also run where the add-on of some of them is left out.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "engine/model/model_config.h"

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

/// Positions by name, or others where this build has none of that name.
inline Positions positions_or(std::string_view name, Positions others) {
  const auto row = std::ranges::find(kPositions, name, &PositionsRow::name);
  return row == std::end(kPositions) ? others : static_cast<Positions>(row - kPositions);
}

}  // namespace normscope::test
