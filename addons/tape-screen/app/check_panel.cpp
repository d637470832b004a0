// "Check one element" compares the backward kernel with differences, and plots their error against their step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "addons/tape-screen/app/instruction_panel.h"
#include "addons/tape-screen/app/panel_frame.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr double kLeastError = 1e-16;  // what stands on a logarithmic axis for no error at all

std::optional<size_t> best_of(const NumericCheck& check) {
  const Difference* best = check.best_central();
  if (!best) return std::nullopt;
  return static_cast<size_t>(best - check.central.data());
}

const std::string& how_of(const NumericCheck& check) {
  return check.central.empty()
             ? tr("This norm holds a statistic constant on the way back. A difference would see it move, "
                  "so none is taken.")
             : tr("central differences of this instruction alone by its float32 kernels, added in float64; "
                  "rounding leaves 0.0001 to 0.001");
}

plot::Series errors_of(const std::vector<Difference>& all, const char* id, const char* name) {
  std::vector<std::pair<float, float>> points;
  for (const Difference& d : all)
    points.emplace_back(static_cast<float>(d.h), static_cast<float>(std::max(d.error, kLeastError)));
  std::ranges::sort(points);
  std::vector<float> x, y;
  for (const auto& [h, error] : points) {
    x.push_back(h);
    y.push_back(error);
  }
  plot::Series series;
  series.id = id;
  series.name = name;
  series.x = plot::Column::of(std::move(x));
  series.y = plot::Column::of(std::move(y));
  series.markers = plot::Markers::All;
  series.marker = Marker::Circle;
  series.width = line::depth;
  series.end_marker = false;
  return series;
}

/// Spans whole decades around the numbers.
void set_decades(plot::Axis& axis, double low, double high) {
  axis.scale = plot::AxisScale::Log;
  axis.lo = std::pow(10, std::floor(std::log10(low) - 0.05));
  axis.hi = std::pow(10, std::ceil(std::log10(high) + 0.05));
  const int from = static_cast<int>(std::lround(std::log10(axis.lo))),
            to = static_cast<int>(std::lround(std::log10(axis.hi)));
  const int every = std::max(1, (to - from + 3) / 4);
  for (int e = from; e <= to; e += every) axis.ticks.push_back({std::pow(10, e), power_of_ten(e)});
}

size_t nearest_h(const std::vector<Difference>& all, double h) {
  size_t nearest = 0;
  for (size_t i = 1; i < all.size(); ++i)
    if (std::abs(std::log(all[i].h / h)) < std::abs(std::log(all[nearest].h / h))) nearest = i;
  return nearest;
}

/// The next larger or the next smaller step.
size_t next_h(const std::vector<Difference>& all, size_t now, bool larger) {
  size_t next = now;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool beyond = larger ? all[i].h > all[now].h : all[i].h < all[now].h;
    const bool nearer = next == now || (larger ? all[i].h < all[next].h : all[i].h > all[next].h);
    if (beyond && nearer) next = i;
  }
  return next;
}

}  // namespace

plot::PlotSpec error_plot(const ElementCheck& checked, std::optional<size_t> h) {
  const NumericCheck& check = checked.check;
  plot::PlotSpec plot;
  plot.id = "tape-check";
  plot.title = tr("Error of the difference");
  plot.note = fmt::format("{}, {}[{}]", check.node, check.input, check.element);
  plot.sentence = how_of(check);
  plot.x.label = tr("step h");
  plot.y.label = tr("relative error");
  plot.pad_left = 48;
  double low = std::numeric_limits<double>::infinity(), high = 0, least = low, most = 0;
  for (const std::vector<Difference>* all : {&check.central, &check.refined})
    for (const Difference& d : *all) {
      least = std::min(least, d.h);
      most = std::max(most, d.h);
      if (!std::isfinite(d.error)) continue;
      low = std::min(low, std::max(d.error, kLeastError));
      high = std::max(high, d.error);
    }
  set_decades(plot.x, std::isfinite(least) ? least : 1e-4, most > 0 ? most : 1);
  set_decades(plot.y, std::isfinite(low) ? low : 1e-8, std::max(high, std::isfinite(low) ? low : 1));
  if (!check.central.empty()) {
    plot.series.push_back(errors_of(check.central, "central", ""));
    plot.series.push_back(errors_of(check.refined, "refined", ""));
    plot.series.back().ink = {plot::Ink::Role::Ink3, 0, 1};
    plot.series.back().dash = Dash{4, 3};
  }
  for (plot::Series& series : plot.series) series.end_label = false;
  const std::vector<Difference>& all = check.central;
  if (h && *h < all.size() && std::isfinite(all[*h].error))
    plot.handles.push_back({.name = "h",
                            .x = all[*h].h,
                            .y = std::max(all[*h].error, kLeastError),
                            .help = tr("The step of the difference. Drag it, or use the arrow keys."),
                            .value = number(all[*h].h)});
  return plot;
}

void InstructionPanel::draw_check(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
  rect.take_top(f.small() ? 4.f : 10.f);
  Rect head = rect.take_top(26, 6);
  const float title = p.text_in(head, kTitleBold, t.ink, tr("Check one element"));
  const InstructionView& shown = *f.shown;
  const ElementCheck* checked = f.checked;
  const std::string why = !shown.can_check ? tr("No gradient passes through this instruction.")
                          : checked && !checked->fault.empty() ? checked->fault
                                                               : "";
  std::string value = why;
  if (why.empty() && checked) {
    const NumericCheck& check = checked->check;
    value = fmt::format("{}/{}[{}]: {}", check.node, check.input, check.element, number(check.analytic, 6));
  }
  ui.mark("tape/check", {rect.x, head.y, rect.w, rect.bottom() - head.y}, value,
          tr("The gradient of one element: as the kernel computes it, and from differences."));
  if (!why.empty()) {
    if (p.wrapped_height(rect.w, kBodyWords, why, 17) <= rect.h)
      p.text_wrapped(rect, kBodyWords, t.ink2, why, 17);
    return;
  }
  head.take_left(title + 14);
  draw_fields(f, head);
  Rect numbers = rect.take_left(std::round(rect.w * 0.47f), 10);
  draw_numbers(f, numbers);
  draw_errors(f, rect);
}

/// Which element is checked, in yellow, as the ring on the picture is.
void InstructionPanel::draw_fields(Frame& f, Rect row) {
  const std::optional<Element> element = f.element(chosen_);
  const ShownTensor* t = element ? input_of(*f.shown, element->input) : nullptr;
  if (!t) return;
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const auto one = [&](const char* name, const std::string& label, int64_t now, size_t count, bool more,
                       const std::string& help) {
    auto value = static_cast<double>(now);
    FieldOptions options{.lo = 0, .hi = static_cast<double>(count - 1), .step = 1, .integer = true};
    options.hard_hi = true;
    options.track = false;
    constexpr float kField = 44, kFurther = 56 + kField;  // the field, and the labelled one after it
    const float words = p.text_width(kBodyWords, label) + 5;
    const bool labelled = row.w >= words + kField + (more ? kFurther : 0);
    const float wide = (labelled ? words : 0) + kField;
    if (row.w < wide) return now;
    Rect place = row.take_left(wide, 8);
    if (labelled) p.text_in(place.take_left(words), kBodyWords, ui.theme().ink2, label);
    p.fill(place, ui.theme().accent_soft, radius::field);
    const ui::Change change = field(ui, name, place.inset(0, 1), "", value, help, options);
    p.outline(place.inset(0, 1), ui.theme().accent, 2, radius::field);
    return change == ui::Change::None ? now : static_cast<int64_t>(value);
  };
  Element next = *element;
  if (t->rows > 1)
    next.row = one("tape/check/position", tr("position"), element->row, t->rows, true,
                   tr("Row of the element in the picture, from 0. Drag, type, or use the arrow keys."));
  next.column = one("tape/check/feature", tr("feature"), element->column, t->columns, false,
                    tr("Column of the element in the picture, from 0. Drag, type, or use the arrow keys."));
  if (next == *element) return;
  chosen_ = next;
  f.checked = nullptr;
}

void InstructionPanel::draw_numbers(Frame& f, Rect rect) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  if (!f.checked) {
    for (int i = 0; i < 3; ++i) p.fill(rect.take_top(18).inset(0, 5), t.trough, 3);
    return;
  }
  const NumericCheck& check = f.checked->check;
  const std::vector<Difference>& all = check.central;
  const std::optional<size_t> h = h_ && *h_ < all.size() ? h_ : best_of(check);
  struct Line {
    std::string label, value;
    bool strong = false;
  };
  std::vector<Line> lines{{tr("analytic"), number(check.analytic, 6)}};
  if (h) {
    lines.push_back({tr("numeric"), number(all[*h].numeric, 6)});
    lines.push_back({tr("relative error"), number(all[*h].error, 2), true});
    lines.push_back({tr("at h"), number(all[*h].h, 2)});
  }
  if (const Difference* refined = check.best_refined())
    lines.push_back({tr("refined"), number(refined->error, 2)});
  for (const Line& line : lines) {
    if (rect.h < 17) return;
    const Rect row = rect.take_top(17);
    const TextStyle style = line.strong ? kBodyBold : kBodyWords;
    const float label = p.text_width(style, line.label);
    const std::string value = fitting(p, kBodyMono, row.w - label - 6, {line.value});
    p.text_in(row, style, line.strong ? t.ink : t.ink2, fitting(p, style, row.w, {line.label}));
    p.text_in(row, kBodyMono, t.ink, value, Align::Right);
  }
  rect.take_top(6);
  const std::string how = how_of(check);
  if (p.wrapped_height(rect.w, kTickWords, how, 14) <= rect.h)
    p.text_wrapped(rect, kTickWords, t.ink3, how, 14);
}

void InstructionPanel::draw_errors(Frame& f, const Rect& rect) {
  if (!f.checked || rect.h < 50) return;
  const NumericCheck& check = f.checked->check;
  const std::vector<Difference>& all = check.central;
  const std::optional<size_t> now = h_ && *h_ < all.size() ? h_ : best_of(check);
  const plot::PlotHit hit =
      plot::draw_plot(f.ui, "tape/check/plot", rect, error_plot(*f.checked, now), view_,
                      tr("The relative error against the step h; dashed: in double precision."));
  if (!hit.handle || !now) return;
  if (!hit.handle_done || dragging_h_) {
    h_ = nearest_h(all, hit.handle_x);
    dragging_h_ = !hit.handle_done;
  } else {
    h_ = next_h(all, *now, hit.handle_x > all[*now].h);
  }
}

}  // namespace normscope::tape_screen
