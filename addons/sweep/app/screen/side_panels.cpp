// The right column shows the cell under the mouse with its curves and wiring, and the chosen region.
#include <imgui.h>

#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/settings/settings.h"
#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/io/text.h"

namespace normscope::sweep {
using namespace ui;
namespace {

constexpr size_t kMaxGrey = 100;  ///< the most curves of other cells

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

/// Draws the seeds of one cell in ink, and behind them in grey the first seeds of other cells that read its data.
plot::PlotSpec SweepScreen::curves_of(const Cell& cell) {
  plot::PlotSpec spec{.id = "sweep-cell", .title = grid_->text_of(cell)};
  spec.x.label = tr("step");
  spec.x.integer = true;
  spec.x.hi = base_.train.steps;
  spec.y.label = tr("loss");
  spec.y.unit = tr("nats");
  double high = 1, low = std::numeric_limits<double>::infinity();
  const auto add = [&](const RunNumbers& run, bool own, size_t seed) {
    if (run.curve.empty()) return;
    plot::Series line;
    line.id = fmt::format("{}, seed {}", own ? "cell" : "other", seed);
    line.y = plot::Column::of(std::vector<float>(run.curve.begin(), run.curve.end()));
    line.x0 = (run.stride + 1) / 2.0;
    line.dx = run.stride;
    line.ink = {own ? plot::Ink::Role::Ink : plot::Ink::Role::Ink3, 0, 1};
    line.alpha = own ? 1 : 0.25f;
    line.width = own ? line::depth : 1;
    line.end_label = line.end_marker = own;
    if (own) {
      line.name = tr("seed {seed}##curves", {{"seed", seed}});
      line.value = words::with_decimal(fixed(run.loss, 2));
    }
    spec.x.hi = std::max(spec.x.hi, static_cast<double>(run.steps));
    for (const double loss : run.curve) {
      if (!std::isfinite(loss)) continue;
      low = std::min(low, loss);
      if (own) high = std::max(high, loss);
    }
    spec.series.push_back(std::move(line));
  };
  for (const Cell& other : grid_->cells)
    if (spec.series.size() < kMaxGrey && !other.runs.empty() && other.runs[0] && &other != &cell &&
        other.data == cell.data)
      add(*other.runs[0], false, 1);
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) add(*cell.runs[i], true, i + 1);
  if (std::isfinite(cell.level)) {
    plot::RefLine level;
    level.value = cell.level;
    level.short_label = words::spoken(frequencies_of(unit_of(grid_->data[cell.data])));
    level.label = fmt::format("{} {}", level.short_label, words::with_decimal(fixed(cell.level, 2)));
    spec.lines.push_back(level);
    high = std::min(std::max(high, cell.level * 1.05), cell.level * 1.6);
  }
  spec.y.lo = std::isfinite(low) ? std::max(0.0, low - 0.08 * (high - low)) : 0;
  spec.y.hi = high;
  spec.pad_right = 96;
  spec.labels_inside = false;
  return spec;
}

void SweepScreen::draw_curves(Ui& ui, const Rect& rect, const Cell& cell) {
  plot::PlotSpec spec = curves_of(cell);
  spec.pad_right = std::max(spec.pad_right, plot::needed_pad_right(ui, spec, rect.w));
  plot::draw_plot(
      ui, "sweep/curves", rect, spec, curve_view_,
      tr("Training loss of this cell's seeds; grey: one seed of every other cell with its data."));
}

void SweepScreen::draw_cell_panel(Ui& ui, const Rect& rect) {
  const std::optional<Place> place = shown_cell();
  if (!place) {
    Rect rest = panel(ui, rect, {tr("Cell"), "", "", 0, false});
    const std::string& text =
        tr("Point at a cell, or choose one with the arrow keys: its curves stand here.");
    ui.mark("sweep/cell", rest, text, tr("The cell under the hand."));
    ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().ink2, text, 18);
    return;
  }
  const Cell& cell = grid_->at(place->column, place->row);
  const std::string title = capitalised(grid_->text_of(cell));
  const bool fits = ui.paint().text_width({Face::Bold, type::title}, title) < rect.w - 2 * space::pad;
  Rect rest = panel(ui, rect, {fits ? title : tr("Cell"), "", "", 0, false});
  ui.mark("sweep/cell", rest, title, tr("The cell under the hand, or the one that was pinned."));
  const RunSpec* spec = spec_at(*place);
  Rect buttons = rest.take_bottom(34, 8);
  Rect head = rest.take_top(48, 6);
  if (spec) view::draw_wiring_glyph(ui, {head.right() - 82, head.y - 6}, spec->model, ui.theme().ink2);
  head.take_right(96);
  badge(ui, {head.x, head.y}, cell_badge(cell),
        cell.verdict == Verdict::Stuck ? BadgeKind::Solid : BadgeKind::Outline);
  const Rect words{rest.x, head.y + 26, rest.w - 96, 36};
  rest.take_top(12);
  const TextStyle body{Face::Sans, type::body};
  const std::string sentence = is_predicted(metric_) ? predicted_sentence(cell) : cell_sentence(cell);
  ui.mark("sweep/cell/sentence", words, sentence, tr("Why this cell got its verdict."));
  // The reason why a cell cannot be trained, or its prediction, takes space from the curves.
  if (cell.failed() || is_predicted(metric_)) {
    const float height = std::min(rest.h, ui.paint().wrapped_height(rest.w, body, sentence, 17));
    ui.paint().text_wrapped(rest.take_top(height, 10), body, ui.theme().ink2, sentence, 17);
  } else if (ui.paint().wrapped_height(words.w, body, sentence, 17) <= words.h) {
    ui.paint().text_wrapped(words, body, ui.theme().ink2, sentence, 17);
  }
  if (cell.known > 0 && !cell.failed() && rest.h > 90) draw_curves(ui, rest, cell);
  if (button(ui, "sweep/open", buttons.take_left(std::min(204.f, buttons.w - 60), 10),
             tr("Open as run D in the Lab"),
             tr("Trains this cell as run D from step 0 (click on the cell, or Enter)."),
             {.enabled = spec != nullptr, .primary = true}))
    open_cell(*place);
}

void SweepScreen::draw_region_rows(Ui& ui, Rect rest) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  std::vector<const Cell*> cells;
  for (const Cell& cell : grid_->cells)
    if (brush_->holds(cell.column, cell.row)) cells.push_back(&cell);
  // Cells whose seeds disagree come first, because they call for more seeds.
  std::ranges::stable_sort(cells, [](const Cell* a, const Cell* b) { return a->differs() > b->differs(); });
  const TextStyle mono{Face::Mono, type::tick}, body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  const float seeds_w = std::min(150.f, rest.w / 2);
  const size_t axes = plan_.axes.size();
  const float column = (rest.w - seeds_w) / static_cast<float>(axes);
  Rect heads = rest.take_top(18);
  for (size_t i = 0; i < axes; ++i)
    p.text_in(heads.take_left(column), small, t.ink3, p.fit(small, plan_.axes[i].label(), column - 8));
  p.text_in(heads, small, t.ink3, tr("its seeds"));
  for (const Cell* cell : cells) {
    if (rest.h < 24) return;
    Rect row = rest.take_top(24);
    p.hairline({row.x, row.y}, {row.right(), row.y}, t.border);
    Rect seeds = row.take_right(seeds_w);
    for (size_t i = 0; i < axes; ++i) {
      const std::string value = plan_.axes[i].said(i == 0 ? cell->column : cell->row);
      p.text_in(row.take_left(column), mono, t.ink, p.fit(mono, value, column - 8));
    }
    Rect strip = seeds.take_left(std::min(66.f, 18.f * static_cast<float>(cell->runs.size())), 8);
    picture().paint_seeds(ui.paint(), ui.theme(), strip.inset(0, 6), *cell);
    const std::string words = cell->words();
    if (p.text_width(body, words) < seeds.w) p.text_in(seeds, body, t.ink2, words);
  }
}

void SweepScreen::draw_region(Ui& ui, const Rect& rect) {
  if (!brush_) {
    Rect rest = panel(ui, rect, {tr("Chosen region"), "", "", 0, false});
    const std::string& text = tr("Drag over the grid, or Shift and the arrow keys: a region for more seeds.");
    ui.mark("sweep/region", rest, text, tr("The cells that were chosen by a drag."));
    ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().ink2, text, 18);
    return;
  }
  Rect rest = panel(ui, rect,
                    {tr("Chosen region"), tr("{count} cell | {count} cells", {{"count", brush_->cells()}}),
                     region_sentence(*grid_, *brush_), 0, false});
  ui.mark("sweep/region", rest, region_sentence(*grid_, *brush_),
          tr("The cells that were chosen by a drag."));
  Rect buttons = rest.take_bottom(28, 8);
  Rect row = rest.take_top(26, 8);
  double seeds = seeds_in(plan_, *brush_);
  const FieldOptions many{.lo = 1, .hi = 20, .step = 1, .integer = true};
  const Brush there = *brush_;
  if (field(ui, "sweep/region/seeds", row.take_left(170, 10).inset(0, 1), tr("seeds in each cell"), seeds,
            tr("At least this many seeds in every cell of the region (+ adds one)."), many) == Change::Done)
    change(with_seeds(plan_, there, static_cast<int32_t>(seeds)));
  const std::string left =
      tr("{runs} runs left", {{"runs", static_cast<int64_t>(runs_.size()) - grid_->known}});
  if (ui.paint().text_width({Face::Sans, type::body}, left) < row.w)
    ui.paint().text_in(row, {Face::Sans, type::body}, ui.theme().ink2, left);
  if (brush_ && brush_->columns().last < grid_->plan.columns() && brush_->rows().last < grid_->plan.rows())
    draw_region_rows(ui, rest);
  if (button(ui, "sweep/region/narrow", buttons.take_left(184, 8), tr("Narrow the axes to this"),
             tr("The axes keep only these values."))) {
    change(narrowed(plan_, there));
    brush_.reset();
  }
  const std::string& clear = tr("Clear");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, clear) + 20);
  if (button(ui, "sweep/region/clear", buttons.take_left(wide), clear,
             tr("No region is chosen any more (Escape).")))
    brush_.reset();
}

void SweepScreen::draw_right(Ui& ui, Rect rect) {
  if (size_ != Size::Compact) {
    const float lower = size_ == Size::Full ? 0.36f : 0.4f;
    const Rect below = rect.take_bottom(rect.h * lower, space::gap);
    draw_cell_panel(ui, rect);
    return draw_region(ui, below);
  }
  const std::vector<words::Label> labels{words::label("Cell"), words::label("Chosen region")};
  const Rect tabs = rect.take_top(26, 6);
  segmented(ui, "sweep/right", {tabs.x, tabs.y + 1, std::min(tabs.w, segmented_width(ui, labels)), 24},
            labels, right_tab_, tr("The cell under the hand, or the chosen region."));
  if (right_tab_ == 0)
    draw_cell_panel(ui, rect);
  else
    draw_region(ui, rect);
}

/// Makes a change of the plan; the error of a refused change becomes the message.
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
  ButtonOptions options{.style = {Face::Bold, type::body}};
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
  FieldOptions value{.track = false};
  // The field lets a typed number exceed its range: the axis itself refuses invalid values.
  const double low = std::min(from, to), high = std::max(from, to);
  value.log = axis.kind == Axis::Kind::Log;
  value.lo = value.log ? low / 100 : std::min(0.0, 2 * low);
  value.hi = value.log ? high * 100 : std::max(1.0, 2 * high);
  value.step = (high - low) / 20;
  value.least = -INFINITY;
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

/// Handles one yellow handle. During a drag every change starts from the axis before it, so that a value that the
/// handle passes reappears afterwards.
void SweepScreen::hold_handle(Ui& ui, const Rect& line, size_t which, size_t handle) {
  const bool held = held_ && held_->which == which;
  const Axis axis = held ? held_->axis : plan_.axes[which];
  const Rail rail = held ? held_->rail : rail_of(axis);
  const double value = handles_of(axis)[handle],
               under = rail.value(std::clamp((ui.mouse().x - line.x) / line.w, 0.f, 1.f));
  const bool in_hand = held && held_->handle == handle, moved_before = in_hand && held_->moved;
  const Vec at{line.x + static_cast<float>(rail.share(moved_before ? under : value)) * line.w,
               line.centre().y};
  HitOptions options{.arrows = Arrows::Either, .radius = 12};
  const bool list = axis.kind == Axis::Kind::List;
  const Hit hit = ui.hit(
      fmt::format("{}/{}", control_name(which, "rail"), handle + 1), centred(at, 24, 24), ui::number(value),
      list ? tr("One value: drag it, Delete removes it.") : tr("An end of the range: drag it."), options);
  ui.paint().accent_disc(ui.theme(), at, hit.held || hit.hovered ? 7.5f : 6.5f);
  // Only a press starts a drag: after an undo the handle stays free until the next press.
  if (hit.pressed) held_ = HandleDrag{which, handle, axis, rail, ImGui::GetFrameCount()};
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
  HitOptions surface{.focusable = false, .overlap = true};
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
  if (choice(ui, "sweep/metric", last, labels_of(metrics), metric,
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
