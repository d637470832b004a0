// The stages of the Sweep screen (tests/app/screens/stages.h).
#include "app/screens/stages.h"
#include "addons/sweep/tests/app/sweep_fixture.h"

namespace normscope::test_screens {
namespace {

using fixture::SweepDriver;

std::unique_ptr<LabDriver> sweep_of(const char* preset, bool trained) {
  auto sweep = std::make_unique<SweepDriver>();
  sweep->screen().show(sweep::preset_plan(preset));
  if (!trained) return sweep;
  sweep->train();
  for (const char* key : {"Right", "Shift+Right", "Shift+Up"}) sweep->driver.key(key);
  return sweep;
}

}  // namespace

void add_sweep_stages(std::vector<Stage>& all) {
  all.push_back({.name = "Sweep", .make = [] { return std::make_unique<SweepDriver>(); }, .told = true});
  all.push_back({.name = "Sweep that goes on training",
                 .make =
                     [] {
                       auto sweep = std::make_unique<SweepDriver>();
                       sweep->trainer->keeps_running = true;
                       return sweep;
                     },
                 .told = true});
  all.push_back({"Sweep that nobody opened", [] { return shown(Screen::Sweep, 214, true); }, "sweep/", true,
                 Screen::Sweep});
  for (const char* preset : {"warmup", "depth", "placement"})
    for (const bool trained : {false, true}) {
      const bool warmup = std::string_view(preset) == "warmup";
      // Two names of placements touch where the scale is another than 1.
      all.push_back({fmt::format("Sweep of {}, {}", preset, trained ? "trained" : "not trained"),
                     [=] { return sweep_of(preset, trained); }, "sweep/",
                     std::string_view(preset) != "placement", Screen::Sweep,
                     trained && warmup ? Keys::EveryLayout : Keys::Answer, warmup && !trained});
    }
  all.push_back({"Sweep over different data",
                 [] {
                   auto sweep = std::make_unique<SweepDriver>();
                   sweep->screen().show_kept(
                       {sweep::plan_from({}, {"data.name=corpus,copy", "train.lr=1e-3,3e-3"}), {}});
                   sweep->driver.frames(2);
                   sweep->train();
                   return sweep;
                 },
                 "sweep/", true, Screen::Sweep, Keys::Answer});
}

}  // namespace normscope::test_screens
