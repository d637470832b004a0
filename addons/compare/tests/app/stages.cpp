// The stages of the Compare screen (tests/app/screens/stages.h).
#include "app/screens/stages.h"

#include "addons/compare/tests/app/compare_driver.h"

namespace normscope::test_screens {
namespace {

using fixture::CompareDriver;

std::shared_ptr<const LabView> first_runs(size_t count) {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  view->runs.resize(count);
  return view;
}

}  // namespace

void add_compare_stages(std::vector<Stage>& all) {
  add_at_steps(Screen::Compare, "Compare", "compare/tab/", all);
  const auto add_told = [&](const char* name, const std::function<std::shared_ptr<const LabView>()>& view) {
    all.push_back(
        {.name = name, .make = [view] { return std::make_unique<CompareDriver>(view()); }, .told = true});
  };
  add_told("Compare", [] { return fixture::lab_view(); });
  add_told("Compare of two runs", [] { return first_runs(2); });
  add_told("Compare of one run", [] { return first_runs(1); });
  add_told("Compare of no run", [] { return std::make_shared<LabView>(); });
  add_told("Compare with a fork", [] { return fixture::four_runs(); });
}

}  // namespace normscope::test_screens
