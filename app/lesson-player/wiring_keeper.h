// A keeper keeps a wiring that the learner put together under a name: an add-on's row in wiring_keepers.def.
#pragma once

#include <string>
#include <vector>

#include "app/words/words.h"

namespace normscope::lessons {

struct WiringKeeper {
  /// Keeps the settings, as KEY=VALUE, beside the file of the learner's progress, and returns their name. Throws Error.
  std::string (*keep)(const std::string& progress_path, const std::vector<std::string>& set);
  std::string (*label)(const words::Language&,
                       const std::string& name);  ///< of the button; no name: not kept yet
  std::string (*help)(const words::Language&, bool measured);
  std::string (*told)(const words::Language&, const std::string& name);  ///< below the text, once it is kept
};

#define WIRING_KEEPER(get) const WiringKeeper& get();
#include "chosen/wiring_keepers.def"
#undef WIRING_KEEPER

}  // namespace normscope::lessons
