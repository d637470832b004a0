// What is swept: the sweeps that are ready to start, the fields of each axis (its setting, its kind, list, lin or log,
// the rail with its handles, and the same as text), the rest of the runs, and the regions with more seeds.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "addons/sweep/app/screen/edit.h"
#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "app/settings/settings.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/text.h"

namespace normscope::sweep {

using namespace ui;

namespace {

constexpr const char* kNames[] = {"across", "up"};

std::string control_name(size_t which, std::string_view part) {
  return fmt::format("sweep/{}/{}", kNames[which], part);
}

std::string setting_words(std::string_view key) {
  const Field* field = find_field(key);
  return field ? words::spoken(field->label) : std::string(key);
}

/// Returns settings whose label or key contains the typed letters, whatever their case.
std::vector<std::string> matching_keys(const std::string& typed) {
  const std::string search = small_letters(typed);
  std::vector<std::string> keys = axis_keys();
  std::erase_if(keys, [&](const std::string& key) {
    return small_letters(setting_words(key)).find(search) == std::string::npos &&
           small_letters(key).find(search) == std::string::npos;
  });
  return keys;
}

/// Writes the two ends of the line below it.
void draw_rail_ends(Painter& p, const Theme& t, const Rect& line, const Rail& rail) {
  const TextStyle mono{Face::Mono, type::tick};
  for (const bool low : {true, false}) {
    const double value = low ? rail.low : rail.high;
    const std::string text =
        rail.log ? power_of_ten(static_cast<int>(std::lround(std::log10(value)))) : ui::number(value);
    p.text({low ? line.x : line.right(), line.centre().y + 20}, mono, t.ink3, text,
           low ? Align::Left : Align::Right);
  }
}

}  // namespace

/// Makes a change of the plan; why it is refused becomes the message.
void SweepScreen::attempt(const std::function<void()>& change) {
  try {
    change();
  } catch (const Error& error) {
    message_ = why_not(error.message);
  }
}

void SweepScreen::draw_setting(Ui& ui, const Rect& rect, size_t which) {
  const std::string name = control_name(which, "setting");
  const bool there = which < plan_.axes.size();
  ButtonOptions options;
  options.style = {Face::Bold, type::body};
  const std::string label = there ? plan_.axes[which].label() : tr("add an axis");
  if (ui.paint().text_width(options.style, label) + 38 < rect.w) options.icon = Icon::ChevronDown;
  if (button(ui, name, rect, label, tr("Which setting this axis is; type to search."), options)) {
    search_[which].clear();
    ui.open_popup(name);
  }
  constexpr float kRow = 24;
  const auto most = static_cast<size_t>(std::min(14.f, (ui.size().y - 120) / kRow));
  Rect list{rect.x, rect.bottom() + 4, 280, kRow * static_cast<float>(most + 1) + 20};
  list.y = std::min(list.y, ui.size().y - list.h - 4);
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  text_field(ui, name + "/search", rest.take_top(kRow, 4), tr("search##axis"), search_[which],
             tr("Letters of the setting's name."));
  std::optional<std::string> chosen;
  if (which == 1 && there && search_[1].empty())
    if (button(ui, name + "/none", rest.take_top(kRow), tr("one axis only"), tr("Takes this axis away."),
               {.quiet = true, .left = true}))
      chosen = "";
  for (const std::string& key : matching_keys(search_[which])) {
    if (rest.h < kRow) break;
    const bool taken = plan_.axes.size() > 1 - which && plan_.axes[1 - which].key == key;
    if (button(ui, name + "/" + key, rest.take_top(kRow), setting_words(key),
               settings::spoken_help(*find_field(key)),
               {.enabled = !taken, .quiet = true, .left = true, .style = {Face::Sans, type::body}}))
      chosen = key;
  }
  if (chosen) ui.close_popup();
  ui.end_popup();
  if (!chosen) return;
  if (chosen->empty()) return change(without_second_axis(plan_));
  attempt([&] { edit(which, first_axis(*chosen, base_)); });
}

void SweepScreen::draw_range(Ui& ui, Rect row, size_t which) {
  const Axis& axis = plan_.axes[which];
  const std::vector<double> ends = handles_of(axis);
  const float third = (row.w - 12) / 3;
  double from = ends[0], to = ends[1], count = axis.count;
  FieldOptions value;
  value.track = false;
  // The field lets a typed number exceed its range, because the axis itself refuses what the setting cannot be.
  const double low = std::min(from, to), high = std::max(from, to);
  value.log = axis.kind == Axis::Kind::Log;
  value.lo = value.log ? low / 100 : std::min(0.0, 2 * low);
  value.hi = value.log ? high * 100 : std::max(1.0, 2 * high);
  value.step = (high - low) / 20;
  value.hard_lo = value.hard_hi = false;
  const bool one = field(ui, control_name(which, "from"), row.take_left(third, 6), tr("from"), from,
                         tr("The first value."), value) == Change::Done;
  const bool other = field(ui, control_name(which, "to"), row.take_left(third, 6), tr("to"), to,
                           tr("The last value."), value) == Change::Done;
  const FieldOptions many{.lo = 2, .hi = 20, .step = 1, .integer = true, .unit = tr("values")};
  const bool more = field(ui, control_name(which, "count"), row, "", count,
                          tr("How many values, both ends included."), many) == Change::Done;
  if (!one && !other && !more) return;
  attempt([&] { edit(which, with_range(axis, from, to, static_cast<int32_t>(count), base_)); });
}

void SweepScreen::draw_typed(Ui& ui, const Rect& row, size_t which) {
  const Axis& axis = plan_.axes[which];
  const std::string name = control_name(which, "values");
  std::string& text = typed_[which];
  if (ui.edit().name != name) text = typed_text(axis);
  // A text that is too long for the row is shown whole only while it is typed.
  std::string shown = text;
  if (ui.edit().name != name && ui.paint().text_width({Face::Sans, type::body}, text) > row.w - 20)
    shown = tr("{count} values", {{"count", axis.values.size()}});
  const bool swap = shown != text;
  Rect place = row;
  if (swap) {
    if (ui::row(ui, name, place, shown, "", "", tr("Type the values here."))) ui.edit() = {name, text, true};
  } else if (text_field(ui, name, place, tr("values"), text,
                        tr("The values, separated by blanks; words, separated by commas.")))
    attempt([&] { edit(which, with_typed(axis, text, base_)); });
}

void SweepScreen::draw_axis(Ui& ui, Rect& rest, size_t which) {
  const float tight = size_ == Size::Compact ? 3 : 6;
  Rect head = rest.take_top(space::field_h, tight);
  ui.paint().text_in(head.take_left(48), {Face::Sans, type::body}, ui.theme().ink2,
                     which == 0 ? tr("Across") : tr("Up"));
  const std::vector<words::Label> kinds{words::label("list"), words::label("lin"), words::label("log")};
  const bool there = which < plan_.axes.size();
  const bool numbers = there && is_numeric(plan_.axes[which]);
  const float width = segmented_width(ui, kinds);
  const Rect right = head.take_right(width, 8);
  draw_setting(ui, head, which);
  if (which >= plan_.axes.size()) return;  // the axis may just have been removed
  if (numbers) {
    int kind = static_cast<int>(plan_.axes[which].kind);
    if (segmented(ui, control_name(which, "kind"), right, kinds, kind,
                  tr("Single values, or a range in equal steps (lin) or by equal factors (log).")))
      attempt([&] { edit(which, with_kind(plan_.axes[which], static_cast<Axis::Kind>(kind), base_)); });
    draw_rail(ui, rest.take_top(34, tight), which);
  }
  const Rect row = rest.take_top(space::field_h, 0);
  if (plan_.axes[which].kind == Axis::Kind::List)
    draw_typed(ui, row, which);
  else
    draw_range(ui, row, which);
}

/// Drops a handle that was not drawn in the last frame: another screen was shown, or its axis is
/// gone.
void SweepScreen::drop_lost_handle() {
  if (held_ && held_->frame + 1 != ImGui::GetFrameCount()) let_go();
}

/// Handles one yellow handle. While it is held everything follows from the axis as it was, so that a
/// value which it passes is restored once it is past.
void SweepScreen::hold_handle(Ui& ui, const Rect& line, size_t which, size_t handle) {
  const bool held = held_ && held_->which == which;
  const Axis axis = held ? held_->axis : plan_.axes[which];
  const Rail rail = held ? held_->rail : rail_of(axis);
  const double value = handles_of(axis)[handle],
               under = rail.value(std::clamp((ui.mouse().x - line.x) / line.w, 0.f, 1.f));
  const bool in_hand = held && held_->handle == handle, moved_before = in_hand && held_->moved;
  const Vec at{line.x + static_cast<float>(rail.share(moved_before ? under : value)) * line.w,
               line.centre().y};
  HitOptions options;
  options.arrows = true;
  options.radius = 12;
  const bool list = axis.kind == Axis::Kind::List;
  const Hit hit = ui.hit(
      fmt::format("{}/{}", control_name(which, "rail"), handle + 1), centred(at, 24, 24), ui::number(value),
      list ? tr("One value: drag it, Delete removes it.") : tr("An end of the range: drag it."), options);
  ui.paint().accent_disc(ui.theme(), at, hit.held || hit.hovered ? 7.5f : 6.5f);
  // Only a press takes the handle, so that a handle which undo has dropped is not held again before the next press.
  if (hit.pressed) held_ = Held{which, handle, axis, rail, ImGui::GetFrameCount()};
  if (in_hand) {
    held_->frame = ImGui::GetFrameCount();
    held_->moved = held_->moved || hit.dragging;
    const bool moved = held_->moved;
    if (!hit.held) held_.reset();
    if (moved) edit(which, with_handle(axis, handle, under, base_), !hit.held);
    if (moved && hit.held)
      ui.tooltip(fmt::format("{}: {}", ui::number(snapped(axis, under)), extent_words(plan_)));
    return;
  }
  if (const int by = hit.arrow_x + hit.arrow_y; by != 0)
    edit(which, with_handle(axis, handle, stepped(axis, rail, value, by), base_));
  if (hit.focused && !ui.typing() && ImGui::IsKeyPressed(ImGuiKey_Delete, false))
    edit(which, without_handle(axis, handle, base_));
}

void SweepScreen::draw_rail(Ui& ui, const Rect& rect, size_t which) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool held = held_ && held_->which == which;
  const Axis axis = plan_.axes[which];
  const Rail rail = held ? held_->rail : rail_of(axis);
  const Rect line{rect.x + 8, rect.y, rect.w - 16, 20};
  HitOptions surface;
  surface.overlap = true;
  surface.focusable = false;
  const bool list = axis.kind == Axis::Kind::List;
  const Hit on = ui.hit(control_name(which, "rail"), line.inset(-8, 0), typed_text(axis),
                        list ? tr("Drag a value; a double click adds one, Delete removes it.")
                             : tr("Drag an end of the range."),
                        surface);
  p.hairline({line.x, line.centre().y}, {line.right(), line.centre().y}, t.axis);
  draw_rail_ends(p, t, line, rail);
  for (const std::string& value : axis.values) {
    const float x = line.x + static_cast<float>(rail.share(std::atof(value.c_str()))) * line.w;
    if (!list) p.hairline({x, line.centre().y - 4}, {x, line.centre().y + 4}, t.ink2);
  }
  try {
    if (on.double_clicked && list && !held_)
      edit(which, with_value(axis, rail.value((ui.mouse().x - line.x) / line.w), base_));
    const auto handles = [&] {
      return handles_of(held_ && held_->which == which ? held_->axis : plan_.axes[which]).size();
    };
    for (size_t i = 0, most = handles(); i < most; ++i)
      if (i < handles()) hold_handle(ui, line, which, i);
  } catch (const Error& error) {
    refuse(why_not(error.message));
  }
}

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
  const bool own_steps =
      std::ranges::none_of(plan_.axes, [](const Axis& axis) { return axis.key == "train.steps"; });
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
