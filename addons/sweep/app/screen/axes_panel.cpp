// The axes panel shows sweeps that are ready to start, the axes, and what all runs have in common.
#include <fmt/format.h>

#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::sweep {

using namespace ui;

void SweepScreen::draw_presets(Ui& ui, Rect& rest) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  static const std::vector<Plan> plans = [] {
    std::vector<Plan> all;
    for (const Preset& preset : presets()) all.push_back(preset_plan(preset.name));
    return all;
  }();
  for (size_t i = 0; i < plans.size(); ++i) {
    const Preset& preset = presets()[i];
    const Plan& ready = plans[i];
    const std::string& title = tr(preset.title);
    const Rect row = rest.take_top(size_ == Size::Compact ? 24.f : 28.f, 2);
    const bool shown = ready.axes == plan_.axes;
    const Hit hit = ui.hit(fmt::format("sweep/preset/{}", preset.name), row, shown ? tr("shown") : "",
                           tr("A sweep that is ready to start: {title}.", {{"title", title}}));
    if (shown || hit.hovered) p.fill(row, t.dark ? t.field : t.sunk, 6);
    if (shown) p.accent_box(t, {row.x - 3, row.y + 5, 5, row.h - 10}, 2);
    const TextStyle style{shown ? Face::Bold : Face::Sans, type::body};
    p.text_in(row.inset(10, 0), style, shown ? t.ink : t.ink2, capitalised(title));
    if (hit.clicked) show(ready);
  }
}

void SweepScreen::draw_rest_of_runs(Ui& ui, const Rect& row) {
  std::vector<words::Label> labels{words::label("the rest: as set now"),
                                   words::label("the rest: Post-LN, defaults")};
  for (const OpenRun& run : open_)
    labels.push_back(words::label("the rest: run {run}", {{"run", run.letter}}));
  int chosen = 0;
  if (!choice(ui, "sweep/rest", row, labels, chosen,
              tr("All settings that the axes do not change: the defaults, or those of a run in the Lab.")))
    return;
  if (chosen == 1)
    change(with_rest(plan_, preset_run("post")));
  else if (chosen > 1)
    change(with_rest(plan_, *open_[static_cast<size_t>(chosen) - 2].spec));
}

void SweepScreen::draw_rest(Ui& ui, Rect rest) {
  draw_rest_of_runs(ui, rest.take_top(space::field_h, 6));
  Rect row = rest.take_top(space::field_h, 6);
  const float half = (row.w - 8) / 2;
  double steps = base_.train.steps, seeds = plan_.seeds;
  const bool own_steps = std::none_of(plan_.axes.begin(), plan_.axes.end(),
                                      [](const Axis& axis) { return axis.key == "train.steps"; });
  FieldOptions of_steps{.lo = 10, .hi = 2000, .step = 10, .log = true, .integer = true};
  of_steps.enabled = own_steps;
  if (field(ui, "sweep/steps", row.take_left(half, 8), tr("steps"), steps,
            tr("How many steps every run trains."), of_steps) == Change::Done) {
    Plan next = plan_;
    next.steps = static_cast<int32_t>(steps);
    change(std::move(next));
  }
  const FieldOptions of_seeds{.lo = 1, .hi = 10, .step = 1, .integer = true, .unit = tr("per cell")};
  if (field(ui, "sweep/seeds", row, tr("seeds##axes"), seeds,
            tr("Seeds in every cell. To ask for more of them, choose a region of the grid."),
            of_seeds) == Change::Done) {
    Plan next = plan_;
    next.seeds = static_cast<int32_t>(seeds);
    change(std::move(next));
  }
  std::vector<std::string> metrics;
  for (const std::string_view name : metric_names()) metrics.push_back(info(metric_from(name)).name);
  int metric = static_cast<int>(metric_);
  Rect last = rest.take_top(space::field_h, 8);
  ui.paint().text_in(last.take_left(48), {Face::Sans, type::body}, ui.theme().ink2, tr("colour"));
  if (choice(ui, "sweep/metric", last, metrics, metric,
             tr("What the colour of a cell shows: loss, first step off the plateau, gradient, ratio of "
                "gradients, shares, or what theory predicts of the untrained network."))) {
    metric_ = static_cast<Metric>(metric);
    key_ = {0, 1};
  }
  if (message_.empty()) return;
  ui.mark("sweep/message", rest, message_, tr("Why the sweep stays as it was."));
  if (ui.paint().wrapped_height(rest.w, {Face::Sans, type::tick}, message_, 15) <= rest.h)
    ui.paint().text_wrapped(rest, {Face::Sans, type::tick}, ui.theme().ink, message_, 15);
}

void SweepScreen::draw_axes(Ui& ui, const Rect& rect) {
  Rect rest = panel(ui, rect, {.title = tr("What is swept"), .note = extent_words(plan_), .term = "sweep"});
  const auto line = [&](float gap) {
    rest.take_top(gap);
    ui.paint().hairline({rest.x, rest.y}, {rest.right(), rest.y}, ui.theme().border);
    rest.take_top(gap);
  };
  draw_presets(ui, rest);
  const float gap = size_ == Size::Compact ? 3 : 7;
  line(gap);
  draw_axis(ui, rest, 0);
  line(gap);
  draw_axis(ui, rest, 1);
  line(gap);
  draw_rest(ui, rest);
}

}  // namespace normscope::sweep
