// A link gives back the run of every row of the zoo.
#include "addons/papers/app/zoo/zoo.h"
#include "app/link/link.h"
#include "catch.hpp"

namespace normscope {

TEST_CASE("links of every row of the zoo give it back", "[zoo]") {
  for (const sweep::StudyPart& part : zoo::study_of({}).parts)
    for (const sweep::StudyRow& row : part.rows) {
      INFO(row.name);
      link::LinkedView view;
      view.runs.push_back({'A', preset_run(part.plan.preset), {}});
      for (const std::string& set : row.set) sweep::assign(view.runs[0].spec, set);
      const link::LinkedView back = link::read_link(link::link_fragment(view));
      REQUIRE(back.runs.size() == 1);
      CHECK(back.runs[0].spec == view.runs[0].spec);
    }
}

}  // namespace normscope
