// Draws columns of panels and the plots over time, and serves the mouse on one of them; lab_depth_plots.cpp
// draws plots by layer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/lab/lab_frame.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lab {

using namespace ui;

namespace {

using namespace panels;

// Keeps the decades that have room, the largest first. The lowest stays clear of the next plot.
void thin_ticks(plot::Axis& axis, float height) {
  constexpr double kApart = 15, kAboveEnd = 7;
  const double pixels_per_decade = height / std::log10(axis.hi / axis.lo);
  double above = axis.hi * 1e9;
  for (size_t i = axis.ticks.size(); i-- > 0;) {
    if (std::log10(above / axis.ticks[i].value) * pixels_per_decade < kApart ||
        std::log10(axis.ticks[i].value / axis.lo) * pixels_per_decade < kAboveEnd)
      axis.ticks.erase(axis.ticks.begin() + static_cast<std::ptrdiff_t>(i));
    else
      above = axis.ticks[i].value;
  }
}

// A panel's height in a column of this height. Panels that come first have their share of all of it,
// and the others share what is left.
float own_height(const std::vector<const Panel*>& panels, const Panel& panel, float height) {
  const auto of_all = [&](const Place& place) {
    return std::round(std::max(place.least, place.share * height));
  };
  if (panel.place.first) return of_all(panel.place);
  float left = height, shares = 0;
  for (const Panel* other : panels)
    if (other->place.first)
      left -= of_all(other->place);
    else
      shares += other->place.share;
  return std::round(left * panel.place.share / shares);
}

// How much is left of a line that the run of the present settings will replace in a moment.
constexpr float kStale = 0.3f;

// The gap below the n-th panel of a column that a user can drag.
std::optional<Gap> gap_below(PanelColumn column, size_t index) {
  if (index > 1) return {};
  if (column == PanelColumn::Time) return index == 0 ? Gap::Loss : Gap::Rate;
  return index == 0 ? Gap::First : Gap::Second;
}

}  // namespace

Metric& LabScreen::metric_of(const Panel& panel) {
  return metrics_.try_emplace(panel.id, panel.metric.value_or(Metric::Gradient)).first->second;
}

std::vector<plot::PlotSpec> LabScreen::plots(Frame& f, const Panel& panel) {
  std::vector<plot::PlotSpec> all =
      plots_of(panel, panel.at_cursor ? f.shown : f.view, data_, plot_, metric_of(panel));
  for (const RunView& run : f.view.runs) {
    if (!run.stale) continue;
    for (plot::PlotSpec& plot : all)
      for (plot::Series& s : plot.series)
        if (s.ink == plot::Ink::run(view::colour_of(run))) s.alpha *= kStale;
  }
  return all;
}

CellOptions LabScreen::cell_options(const Frame& f, const Panel& panel) {
  CellOptions options;
  options.stream = view::any_stream(f.view);
  options.help = help_of(panel, metric_of(panel));
  options.term = panel.term;
  if (panel.metric) options.metric = &metric_of(panel);
  if (panel.form == Form::Triangles && shows_weights(f.view, plot_)) {
    options.help =
        tr("Row: what is read behind a sub-layer, from 1 at the top, by the next sub-layer; the "
           "last row is the output's. Column: the input, then each branch. The more a cell stands "
           "out, the larger its weight, a mean over the tokens. A softmax's rows sum to 1; learned "
           "weights begin at 1 each and sum to anything.");
    options.term = "depth-weights";
  }
  return options;
}

void LabScreen::draw_column(Frame& f, Rect column, PanelColumn which) {
  const std::vector<const Panel*> panels = panels_of(which, f.size, few_);
  const float height = column.h - space::gap * static_cast<float>(panels.size() - 1);
  for (size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = *panels[i];
    if (i + 1 == panels.size()) return draw_panel(f, panel, column);
    float below = 0;
    for (size_t k = i + 1; k < panels.size(); ++k) below += panels[k]->place.least + space::gap;
    SplitRange range{own_height(panels, panel, height), panel.place.least, column.h - below};
    const std::optional<Gap> gap = gap_below(which, i);
    const float taken = gap ? split(f.ui, splits_, *gap, column, range)
                            : std::max(range.least, std::min(range.own, range.most));
    draw_panel(f, panel, column.take_top(taken, space::gap));
  }
}

void LabScreen::draw_panel(Frame& f, const Panel& panel, const Rect& rect) {
  switch (panel.form) {
    case Form::Steps:
      return draw_steps(f, panel, rect);
    case Form::Strips:
      return draw_strips(f, panel, rect, true);
    case Form::Layers:
      return draw_by_layer(f, panel, rect);
    case Form::Triangles:
      return draw_triangles(f, panel, rect, true);
  }
}

void LabScreen::time_hit(Frame& f, const std::string& name, const plot::View& view,
                         const plot::PlotHit& hit) {
  if (hit.hovered) hover_step_ = hit.x;
  // The cursor follows the mouse from the press until the button is up, beyond the ends too. A zoomed plot pans instead,
  // except for a press on the cursor itself.
  if (hit.pressed && (!view.zoomed() || hit.on_cursor)) cells_.scrubbing = name;
  const bool held = cells_.scrubbing == name;
  if (held && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) cells_.scrubbing.clear();
  if (!held && !hit.clicked) return;
  pin_cursor(transport_, f.view, static_cast<int>(std::lround(std::clamp(hit.x, 0.0, 1e9))));
}

void LabScreen::rate_handles(Frame& f, const plot::PlotHit& hit, const plot::PlotSpec& plot) {
  if (!hit.handle) {
    plot_.drag_rate.reset();
    plot_.drag_warmup.reset();
    plot_.drag_run = -1;
    return;
  }
  const std::string& name = plot.handles[static_cast<size_t>(*hit.handle)].name;
  if (name == "peak") {
    const double rate = std::clamp(hit.handle_y, 1e-6, 1.0);
    const std::string text = fmt::format("{:.2g}", rate);
    plot_.drag_run = -1;
    plot_.drag_rate = std::stod(text);
    if (hit.handle_done || f.view.instant) f.commands.emplace_back(session::EditField{-1, "train.lr", text});
    if (hit.handle_done) plot_.drag_rate.reset();
    return;
  }
  const int run = view::find_run(f.view, name.back());
  if (run < 0) return;
  const int warmup = std::max(0, static_cast<int>(std::lround(hit.handle_x)));
  if (hit.handle_done || f.view.instant)
    f.commands.emplace_back(session::EditField{run, "train.warmup", fmt::format("{}", warmup)});
  if (hit.handle_done) {
    plot_.drag_run = -1;
    plot_.drag_warmup.reset();
  } else {
    plot_.drag_run = run;
    plot_.drag_warmup = warmup;
  }
}

void LabScreen::draw_steps(Frame& f, const Panel& panel, const Rect& rect) {
  std::vector<plot::PlotSpec> shown = plots(f, panel);
  if (shown.empty()) return;
  plot::PlotSpec& plot = shown.front();
  if (panel.speaks_on_lines || f.compact()) plot.sentence.clear();
  // The plots over time stand below one another and share a margin, so that their cursors are in one line.
  f.pad_right = std::max(
      {f.pad_right, plot::needed_pad_right(f.ui, plot, rect.w - 8), f.compact() ? 0.f : over_time_pad_});
  plot.pad_right = f.pad_right;
  CellOptions options = cell_options(f, panel);
  constexpr float kLess = 62;
  const bool less =
      !f.compact() && std::string_view(panel.id) == "plot/rate";  // the first of those that would go
  if (less) options.right = kLess + 24;
  const plot::PlotHit hit = draw_cell(f.ui, panel.id, rect, plot, cells_, options);
  ButtonOptions look;
  look.style = {Face::Sans, type::tick};
  if (less && button(f.ui, "lab/less", {rect.right() - 28 - kLess, rect.y + 7, kLess, 22}, tr("fewer"),
                     tr("Hides all plots but the loss and the gradient by layer."), look))
    few_ = true;
  if (!plot.handles.empty()) rate_handles(f, hit, plot);
  if (!hit.handle) time_hit(f, panel.id, cells_.views[panel.id], hit);
}

// Draws the colours of a map, from the lowest number to the highest.
void LabScreen::map_scale(Frame& f, const Rect& bar) {
  constexpr int kParts = 32;
  const float w = bar.w / kParts;
  for (int i = 0; i < kParts; ++i)
    f.ui.paint().fill({bar.x + w * static_cast<float>(i), bar.y, w + 0.5f, bar.h},
                      heat_colour(f.ui.theme(), static_cast<float>(i) / (kParts - 1)));
}

void LabScreen::map_hit(Frame& f, const plot::PlotSpec& plot, const plot::PlotHit& hit) {
  if (!hit.hovered) return;
  const int layers = static_cast<int>(plot.y.hi - plot.y.lo);
  hover_layer_ = std::clamp(static_cast<int>(std::lround(hit.y)), 1, std::max(1, layers)) - 1;
  if (const std::string words = cell_words(plot, hit.x, hit.y); !words.empty()) f.ui.tooltip(words);
}

// Title, choices, and the key: layer 1 ... 6 or head 1 ... 4 in the colours of the lines, or the scale
// of a map.
Rect LabScreen::strips_panel(Frame& f, const Panel& panel, const Rect& rect, plot::PlotSpec head) {
  const bool of_matrix = panel.metric && info(metric_of(panel)).of_matrix, chooses = chooses_lines(f, panel);
  const bool both = view::any_both(f.view), heads = chooses && of_heads(metric_of(panel)) && plot_.heads_of;
  const bool map = head.heat.has_value();
  int lines = 1;
  for (const RunView& run : f.view.runs)
    lines = std::max(lines, heads ? run.spec->model.heads : view::layers_of(run, plot_.side));
  const float step = std::min(15.f, 96.f / static_cast<float>(lines));
  const std::string last =
      map ? significant(static_cast<double>(head.heat->full), 2) : fmt::format("{}", lines);
  Painter& p = f.ui.paint();
  const TextStyle small{Face::Sans, type::body};
  const std::string first = map     ? significant(static_cast<double>(head.heat->least), 2)
                            : heads ? tr("head {head}", {{"head", 1}})
                                    : tr("layer {layer}", {{"layer", 1}});
  const float named = p.text_width(small, first) + 16;  // "layer 1" and the gap to the choices
  const float squares = map ? 96 : step * static_cast<float>(lines), right = rect.right() - space::pad - 38;
  float x = right - p.text_width(small, last) - 6 - squares;
  CellOptions options = cell_options(f, panel);
  options.right = rect.right() - x + named - 8 - space::pad;
  const float matrix_w = matrix_width();
  if (of_matrix) options.right += matrix_w + 10;
  if (chooses) options.right += kLinesWidth + 18;
  if (both) options.right += kStackWidth + 8;
  if (!map) head.sentence.clear();  // it stands on the lines
  const Rect inner = cell_panel(f.ui, panel.id, rect, head, options);
  if (of_matrix)
    draw_matrix_choice(f, panel, {x - named - matrix_w, rect.y + 6, matrix_w, 24},
                       std::string("plot/matrix") + panel.lists);
  if (chooses) draw_lines_choice(f, panel, {x - named - kLinesWidth, rect.y + 6, kLinesWidth, 24});
  if (both) {
    const float taken = named + (of_matrix ? 8 + matrix_w : chooses ? 8 + kLinesWidth : 0);
    draw_stack_choice(f, {x - taken - kStackWidth, rect.y + 6, kStackWidth, 24},
                      std::string("plot/stack") + panel.lists);
  }
  const float cy = rect.y + space::title_row / 2;
  p.text({right, cy + 4}, small, f.ui.theme().ink3, last, Align::Right);
  p.text({x - 6, cy + 4}, small, f.ui.theme().ink3, first, Align::Right);
  if (map) map_scale(f, {x, cy - 5, squares, 10});
  for (int line = 0; !map && line < lines; ++line, x += step)
    depth_square(f.ui, {x, cy - 5, std::max(1.f, step - 2), 10}, line, lines);
  return inner;
}

void LabScreen::draw_strips(Frame& f, const Panel& panel, const Rect& rect, bool with_panel) {
  std::vector<plot::PlotSpec> plots = this->plots(f, panel);
  if (plots.empty()) return;
  const std::string name = panel.id, help = help_of(panel, metric_of(panel));
  for (plot::PlotSpec& plot : plots)
    if (cells_.turned[name]) turn_axis(plot);
  Rect inner = with_panel ? strips_panel(f, panel, rect, plots.front()) : rect;
  const float bottom = plots.back().pad_bottom;
  const float each = (inner.h - bottom) / static_cast<float>(plots.size());
  float labels = 0;  // width of the labels, beside which the tiles stand
  for (const plot::PlotSpec& plot : plots)
    labels = std::max(labels, plot::needed_pad_right(f.ui, plot, inner.w - 30) + 26);
  constexpr float kFree = 16 + 26;  // where they fit left of the end of the axis they need none
  over_time_pad_ = with_panel && labels > kFree + 1 ? labels : 0;
  for (size_t i = 0; i < plots.size(); ++i) {
    plot::PlotSpec& plot = plots[i];
    const bool last = i + 1 == plots.size();
    plot.pad_right = with_panel ? f.pad_right : labels;
    if (plot.y.scale == plot::AxisScale::Log) thin_ticks(plot.y, each - plot.pad_top - 4);
    const Rect place = inner.take_top(each + (last ? bottom : 0));
    plot.tile.reset();  // the panel's corner has it, clear of the lines
    const std::string part = fmt::format("{}/{}", name, f.view.runs[i].letter);
    const std::string lit =
        plot_.hover_layer ? fmt::format("layer {}", *plot_.hover_layer + 1) : std::string{};
    const plot::PlotHit hit = plot::draw_plot(f.ui, part, place, plot, cells_.views[name], help, lit);
    if (plot.heat) map_hit(f, plot, hit);
    if (hit.nearest) layer_of_series(plot.series[static_cast<size_t>(*hit.nearest)].id);
    time_hit(f, part, cells_.views[name], hit);
    tile(f.ui, {place.right() - (with_panel ? 26.f : 18.f), place.y + plot.pad_top, 16, 16},
         f.view.runs[i].letter - 'A');
  }
  if (with_panel) cell_menu(f.ui, name, rect, plots, cells_);
}

void LabScreen::layer_of_series(const std::string& id) {
  if (id.starts_with("layer ")) hover_layer_ = std::atoi(id.c_str() + 6) - 1;
}

}  // namespace normscope::lab
