#include "addons/sweep/app/kept_sweep.h"

#include "app/link/link_text.h"
#include "app/link/percent.h"
#include "app/link/screen_settings.h"
#include "engine/core/error.h"
#include "training/spec/limits.h"

namespace normscope::sweep {
namespace {

using link::kPlace;

// They bound the work that a link asks of whoever opens it.
constexpr int64_t kMostLinkedRuns = 2000;
constexpr size_t kMostParts = 64;  // axes and settings

struct Read {
  PlanText text;
  Metric metric;
};

Read read(const ScreenSettings& settings, bool of_link) {
  link::ScreenSettingsReader reader(Screen::Sweep, settings);
  PlanText text;
  text.set = reader.all("set");
  text.axes = reader.all("axis");
  if (!of_link) text.more_seeds = reader.all("more_seeds");
  text.steps = reader.whole("steps", 0, kMostSteps, 0);
  text.seeds = reader.whole("seeds", 1, 1000, 1);
  const std::optional<std::string> metric = reader.text("metric");
  reader.done();
  return {std::move(text), metric ? metric_from(*metric) : KeptSweep{}.metric};
}

/// Refuses a part of a sweep, KEY=..., that decides which file is read.
void require_no_file(std::string_view part) {
  const std::string_view key = part.substr(0, part.find('='));
  if (names_file(key)) fail(kPlace, "the sweep sets {}: expected one that names no file", key);
}

}  // namespace

ScreenSettings settings_of(const KeptSweep& kept) {
  const PlanText text = text_of(kept.plan);
  ScreenSettings settings;
  for (const std::string& set : text.set) settings.emplace_back("set", set);
  for (const std::string& axis : text.axes) settings.emplace_back("axis", axis);
  for (const std::string& more : text.more_seeds) settings.emplace_back("more_seeds", more);
  if (text.steps > 0) settings.emplace_back("steps", std::to_string(text.steps));
  if (text.seeds > 1) settings.emplace_back("seeds", std::to_string(text.seeds));
  if (kept.metric != KeptSweep{}.metric) settings.emplace_back("metric", info(kept.metric).name);
  return settings;
}

ScreenSettings link_of(KeptSweep kept) {
  kept.plan.more.clear();
  return settings_of(kept);
}

KeptSweep sweep_from(const ScreenSettings& settings) {
  const Read all = read(settings, false);
  return {plan_from(all.text), all.metric};
}

void check_link(const ScreenSettings& settings) {
  const PlanText text = read(settings, true).text;
  for (const std::vector<std::string>* parts : {&text.set, &text.axes})
    for (const std::string& part : *parts) require_no_file(part);
  if (text.set.size() + text.axes.size() > kMostParts)
    fail(kPlace, "the sweep has more than {} parts: expected fewer", kMostParts);
  if (text.axes.empty() || text.axes.size() > 2)
    fail(kPlace, "the sweep has {} axes: expected one or two, as sweep.axis=KEY=VALUES", text.axes.size());
  const Plan plan = plan_from(text);
  if (plan.runs() > kMostLinkedRuns)
    fail(kPlace, "the sweep has {} runs: expected at most {} in a link", plan.runs(), kMostLinkedRuns);
  runs_of(plan);  // throws where the axes do not fit together
}

}  // namespace normscope::sweep
