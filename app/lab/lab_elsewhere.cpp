// Lists controls that exist and are not drawn now, for the palette to show beside those on screen, and brings
// them forth.
#include <fmt/format.h>

#include <algorithm>

#include "app/lab/lab_frame.h"
#include "app/settings/settings.h"
#include "app/words/words.h"

namespace normscope::lab {

namespace {

constexpr std::string_view kSettings = "settings/", kDiagram = "diagram/", kMenu = "/menu/";

/// Controls of the pace with their help.
constexpr std::pair<const char*, const char*> kPace[] = {
    {"transport/budget", "How many steps the runs take: more continues, fewer stops early."},
    {"transport/speed", "How fast training goes."},
    {"transport/speed/slow", "Four steps a second."},
    {"transport/speed/1×", "Twenty steps a second."},
    {"transport/speed/max", "As fast as training can go."},
    {"transport/speed/instant",
     "A small model, of which every change trains all steps anew within moments: whatever you move, the plots show how "
     "the training would have ended (N)."}};

// True for the first of runs with one schedule, because such runs share its handle. A warm-up that
// is over has none.
bool has_warmup_handle(const LabView& view, size_t index) {
  const Schedule& schedule = view.runs[index].spec->train.schedule;
  if (schedule.target > 0 || (!view.instant && schedule.warmup <= view.runs[index].step) ||
      schedule.warmup > std::max(view.budget, view.step))
    return false;
  return std::none_of(view.runs.begin(), view.runs.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const RunView& run) { return run.spec->train.schedule == schedule; });
}

}  // namespace

void LabScreen::remember_diagram(const ui::Registry& registry) {
  diagram_controls_.clear();
  for (const ui::Control& c : registry.all())
    if (c.interactive && c.enabled && c.name.starts_with(kDiagram))
      diagram_controls_.push_back({c.name, c.help});
}

std::vector<Elsewhere> LabScreen::elsewhere(const ui::Registry& registry, const LabView& view) {
  std::vector<Elsewhere> list;
  if (view.runs.empty()) return list;
  const auto add = [&](std::string name, std::string_view help) {
    if (!registry.find(name)) list.push_back({std::move(name), std::string(help)});
  };
  for (const auto& [control, help] : kPace) add(control, tr(help));
  add("lab/luck", tr("Seed variability: trains every run again with four other seeds and shows how far their "
                     "losses lie apart."));
  for (const Field* field : settings::differing_fields(view))
    for (const RunView& run : view.runs)
      add(fmt::format("{}{}/{}", kSettings, field->key, run.letter), settings::spoken_help(*field));
  for (size_t i = 0; i < view.runs.size(); ++i)
    if (has_warmup_handle(view, i))
      add(fmt::format("plot/rate/warmup/{}", view.runs[i].letter),
          tr("The end of its warm-up, on the plot."));
  for (const RunView& run : view.runs)
    add(fmt::format("settings/edits/{}", run.letter),
        tr("Whether a change to a shared setting applies to run {run} too.", {{"run", run.letter}}));
  for (const panels::Panel& panel : panels::panels()) {
    if (!panels::stands_in(panel, layout_)) continue;
    const std::string name = panel.id;
    add(name + "/menu", tr("Save or copy this plot, change its axis."));
    const bool map = panel.form == panels::Form::Strips && plot_.map && panels::of_map(metric_of(panel));
    for (const panels::MenuEntry& entry : panels::menu_entries(map || panel.form == panels::Form::Triangles))
      add(fmt::format("{}/menu/{}", name, entry.id), entry.help);
    if (panel.metric) add(name + "/quantity", tr("What this plot shows."));
    for (const panels::PanelControl& own : panel.controls) add(name + std::string(own.name), own.help);
  }
  if (layout_ != ui::Size::Full && left_tab_ != 0)
    for (const Elsewhere& control : diagram_controls_) add(control.name, control.help);
  return list;
}

void LabScreen::reveal(std::string_view control, const ui::Registry& registry) {
  if (control.starts_with(kSettings) || control == "lab/luck") {
    if (left_tab_ == 0) remember_diagram(registry);
    left_tab_ = 1;
    if (control.starts_with(kSettings) && !control.starts_with("settings/edits/"))
      settings_.reveal =
          control.substr(kSettings.size(), control.find('/', kSettings.size()) - kSettings.size());
  }
  if (control.starts_with(kDiagram)) left_tab_ = 0;
  if (const panels::Panel* panel = panels::panel_of(control); panel && !panel->place.at_first) few_ = false;
  if (control.starts_with("transport/")) transport_.open_pace = true;
  const std::vector<const panels::Panel*> tabs = panels::tab_panels();
  for (size_t i = 0; i < tabs.size(); ++i)
    if (tabs[i] == panels::panel_of(control)) plot_tab_ = static_cast<int>(i);
  if (const size_t menu = control.find(kMenu); menu != control.npos)
    cells_.open_menu = control.substr(0, menu);
}

}  // namespace normscope::lab
