// A link gives back the run of every entry of the zoo.
#include "addons/papers/app/zoo/entries.h"
#include "app/link/link.h"
#include "catch.hpp"

namespace normscope {

TEST_CASE("links of every entry of the zoo give it back", "[zoo]") {
  for (const zoo::Entry& entry : zoo::entries()) {
    INFO(entry.name);
    const zoo::System* const system = zoo::system_of(entry.group);
    link::LinkedView view;
    view.runs.push_back({'A', system ? preset_run(system->preset) : RunSpec(), {}});
    for (const std::string& set : entry.set) zoo::change(view.runs[0].spec, set);
    const link::LinkedView back = link::read_link(link::link_fragment(view));
    REQUIRE(back.runs.size() == 1);
    CHECK(back.runs[0].spec == view.runs[0].spec);
  }
}

}  // namespace normscope
