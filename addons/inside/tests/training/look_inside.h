// The whole look at a run, where the Lab takes it part by part.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "addons/inside/training/inside.h"

namespace normscope::test {

inline std::shared_ptr<const RunInside> look_inside(Run& run, const std::string& text, bool left_out,
                                                    std::optional<int32_t> spectra_of = {}) {
  InsideLook look(run, nullptr, text, left_out, spectra_of);
  while (look.next()) {
  }
  return look.found();
}

}  // namespace normscope::test
