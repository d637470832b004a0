// No two texts overlap and none is cut whatever a plot cell shows: every metric of the table in each of the
// cells, at six sizes and three scales, in one theme or the other.
#include "app/panels/panels.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

using namespace normscope;
using fixture::kScales;
using fixture::kSizes;
using fixture::LabDriver;

namespace {

void check_texts(LabDriver& lab, const std::string& what) {
  INFO(what);
  lab.driver.move_to(ui::Vec{4, 4});
  lab.driver.frames(1);
  CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
}

void choose(LabDriver& lab, const std::string& cell, const char* quantity) {
  lab.driver.click(cell + "/quantity");
  lab.driver.click(fmt::format("{}/quantity/{}", cell, quantity));
  CHECK(lab.driver.value(cell + "/quantity") == quantity);
}

}  // namespace

TEST_CASE("every metric in every cell, six sizes, three scales") {
  LabDriver lab(fixture::lab_view({.fork = true}));
  int place = 0;
  for (ui::Vec size : kSizes)
    for (float scale : kScales) {
      lab.loop.resize(size);
      lab.state.look.scale = scale;
      lab.state.look.dark = ++place % 2;
      lab.driver.frames(3);
      const bool compact =
          lab.ui.registry().find("plot/tab/Gradient by layer") || !lab.ui.registry().find("plot/hidden-norm");
      for (const panels::MetricInfo& q : panels::metrics()) {
        const std::string what = fmt::format("{}, {}x{} at {}", q.id, size.x, size.y, scale);
        if (!compact) {
          for (const panels::Panel& panel : panels::panels())
            if (panel.metric) choose(lab, panel.id, q.id);
          check_texts(lab, what);
          continue;
        }
        INFO(what);
        // The cell below the loss: the tabs are called by what they show, so they are taken by their place.
        for (const auto& [tab, cell] :
             {std::pair{0, "plot/gradient-by-layer"}, std::pair{1, "plot/gradient-over-time"}}) {
          std::vector<std::string> tabs;
          for (const ui::Control& c : lab.ui.registry().all())
            if (c.name.starts_with("plot/tab/")) tabs.push_back(c.name);
          REQUIRE(tabs.size() >= 5);
          lab.driver.click(tabs[static_cast<size_t>(tab)]);
          choose(lab, cell, q.id);
          check_texts(lab, what);
        }
      }
    }
}
