// These tests drag the gaps between the Lab's panels, move them by keys and put them back; every text stays whole.
#include "app/lab/split.h"

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::lab;
using fixture::LabDriver;

namespace {

std::vector<std::string> gaps(const ui::Ui& ui) {
  std::vector<std::string> names;
  for (const ui::Control& c : ui.registry().all())
    if (c.name.starts_with("split/")) names.push_back(c.name);
  return names;
}

double place(LabDriver& lab, const std::string& name) { return std::stod(lab.driver.value(name)); }

void double_click(LabDriver& lab, const std::string& name) {
  lab.driver.click(name);
  lab.click(name);
}

}  // namespace

TEST_CASE("a gap between panels is dragged, moved by arrows, and put back by a double click or Enter") {
  LabDriver lab(fixture::lab_view(), {1920, 1200});
  const Splits none{};
  REQUIRE(gaps(lab.ui).size() == none.size());
  for (const std::string& name : gaps(lab.ui)) {
    INFO(name);
    const double own = place(lab, name);
    const bool columns = lab.driver.control(name).rect.h > lab.driver.control(name).rect.w;
    lab.driver.drag_by(name, columns ? ui::Vec{-20, 0} : ui::Vec{0, -20});
    lab.driver.frames(2);
    CHECK(place(lab, name) == Approx(own - 20).margin(1.01));
    CHECK(lab.state.screens.lab.splits() != none);
    double_click(lab, name);
    CHECK(place(lab, name) == own);
    CHECK(lab.state.screens.lab.splits() == none);
    lab.ui.focus(name);
    lab.driver.frames(1);
    lab.key(columns ? "Left" : "Up");
    CHECK(place(lab, name) == Approx(own - 8).margin(1.01));
    lab.key(columns ? "Right" : "Down");
    CHECK(place(lab, name) == Approx(own).margin(1.01));
    lab.key("Enter");
    CHECK(lab.state.screens.lab.splits() == none);
    CHECK(lab.log.empty());
    lab.ui.focus("");
  }
}

TEST_CASE(
    "with every gap at either end no text overlaps or is cut, and a smaller window takes its own places") {
  for (ui::Vec size : {ui::Vec{1400, 840}, ui::Vec{1600, 1000}, ui::Vec{1920, 1200}, ui::Vec{2560, 1440}}) {
    LabDriver lab(fixture::lab_view({.fork = true}), size);
    for (const float end : {0.001f, 0.999f}) {
      lab.state.screens.lab.splits().fill(end);
      lab.driver.frames(3);
      for (const std::string& fault : fixture::text_faults(lab.ui))
        FAIL_CHECK(fmt::format("{}x{}, {}: {}", size.x, size.y, end, fault));
    }
    lab.loop.resize({1024, 600});
    lab.driver.frames(3);
    CHECK(gaps(lab.ui).empty());
    CHECK(fixture::text_faults(lab.ui).empty());
  }
}
