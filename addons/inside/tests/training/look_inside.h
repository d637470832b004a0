// The whole look at a run, where the Lab takes it part by part.
#pragma once

#include <memory>

#include "addons/inside/training/inside.h"

namespace normscope::test {

inline std::shared_ptr<const RunInside> look_inside(Run& run, const InsideRequest& asked = {}) {
  InsideLook look(run, nullptr, asked);
  while (look.next()) {
  }
  return look.found();
}

}  // namespace normscope::test
