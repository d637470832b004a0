// The classroom of a window.
#pragma once

#include "addons/classroom/app/shell/teacher.h"
#include "app/shell/app_state.h"
#include "catch.hpp"

namespace normscope::fixture {

inline shell::classroom::Classroom& classroom_of(shell::AppState& state) {
  for (const auto& part : state.parts)
    if (auto* const found = dynamic_cast<shell::classroom::Classroom*>(part.get())) return *found;
  FAIL("the window has no classroom");
  throw 0;
}
inline shell::classroom::Teaching& teaching_of(shell::AppState& state) {
  return classroom_of(state).teaching;
}

}  // namespace normscope::fixture
