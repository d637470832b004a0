// The stages of networks without a residual stream (tests/app/screens/stages.h).
#include "app/screens/stages.h"
#include "app/support/systems_view.h"

namespace normscope::test_screens {

void add_systems_stages(std::vector<Stage>& all) {
  for (const std::string system : {"convolutional", "parser"}) {
    const auto add = [&](const char* more, const std::function<std::unique_ptr<LabDriver>()>& make) {
      all.push_back({.name = "Lab of a " + system + " network" + more, .make = make, .told = true});
    };
    add("", [=] { return std::make_unique<LabDriver>(fixture::systems_view(system)); });
    add(" that trains", [=] { return std::make_unique<fixture::LiveDriver>(fixture::small_system(system)); });
  }
}

}  // namespace normscope::test_screens
