// The plots over time, and what a hand on one of them does; those by layer are in lab_depth_plots.cpp.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/lab/lab_frame.h"
#include "app/ui/widgets.h"

namespace normscope::lab {

using namespace ui;

namespace {

// Small plots keep as many decades as have room, the largest first; the lowest stays clear of the next plot.
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

}  // namespace

void LabScreen::time_hit(Frame& f, const std::string& name, const plot::View& view,
                         const plot::PlotHit& hit) {
  if (hit.hovered) hover_step_ = hit.x;
  // The cursor follows the hand, from the press until the button is up, beyond the ends too; what is zoomed
  // pans, but for a press on the cursor itself.
  if (hit.pressed && (!view.zoomed() || hit.on_cursor)) cells_.scrubbing = name;
  const bool held = cells_.scrubbing == name;
  if (held && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) cells_.scrubbing.clear();
  if (!held && !hit.clicked) return;
  pin_cursor(transport_, f.view, static_cast<int>(std::lround(std::clamp(hit.x, 0.0, 1e9))));
}

void LabScreen::rate_handles(Frame& f, const plot::PlotHit& hit, const plot::PlotSpec& plot) {
  if (!hit.handle) {
    plot_.drag_rate.reset(), plot_.drag_warmup.reset(), plot_.drag_run = -1;
    return;
  }
  const std::string& name = plot.handles[static_cast<size_t>(*hit.handle)].name;
  if (name == "peak") {
    const double rate = std::clamp(hit.handle_y, 1e-6, 1.0);
    const std::string text = fmt::format("{:.2g}", rate);
    plot_.drag_run = -1, plot_.drag_rate = std::stod(text);
    if (hit.handle_done) f.commands.emplace_back(EditField{-1, "train.rate", text}), plot_.drag_rate.reset();
    return;
  }
  const int run = find_run(f.view, name.back());
  if (run < 0) return;
  const int warmup = std::max(0, static_cast<int>(std::lround(hit.handle_x)));
  if (hit.handle_done) {
    f.commands.emplace_back(EditField{run, "train.warmup", fmt::format("{}", warmup)});
    plot_.drag_run = -1, plot_.drag_warmup.reset();
  } else {
    plot_.drag_run = run, plot_.drag_warmup = warmup;
  }
}

void LabScreen::draw_time(Frame& f, Rect column) {
  const float height = column.h - 2 * space::gap;
  constexpr float kLoss = 243, kRate = 112, kOverTime = 228;
  const float own_rate = std::round(std::max(kRate, 0.167f * height));
  const float loss_h = split(f.ui, splits_, Gap::loss, column,
                             {std::round((height - own_rate) * 0.516f), kLoss, height - kRate - kOverTime});
  plot::PlotSpec loss = loss_plot(f.shown, data_, plot_);
  const Rect loss_rect = column.take_top(loss_h, space::gap);
  f.pad_right = std::max(plot::needed_pad_right(f.ui, loss, loss_rect.w - 8), over_time_pad_);
  loss.pad_right = f.pad_right;
  time_hit(f, "plot/loss", cells_.views["plot/loss"],
           draw_cell(f.ui, "plot/loss", loss_rect, loss, cells_, {kLossHelp}));

  plot::PlotSpec rate = rate_plot(f.view, data_, plot_);
  rate.pad_right = f.pad_right;
  rate.sentence.clear();  // the labels on its lines say it
  const float rate_h =
      split(f.ui, splits_, Gap::rate, column, {own_rate, kRate, column.h - space::gap - kOverTime});
  const plot::PlotHit hit =
      draw_cell(f.ui, "plot/rate", column.take_top(rate_h, space::gap), rate, cells_, {kRateHelp});
  rate_handles(f, hit, rate);
  if (!hit.handle) time_hit(f, "plot/rate", cells_.views["plot/rate"], hit);
  draw_over_time(f, column, true);
}

// Title, choices, and the depth key: layer 1 ... 6 in the colours of the lines.
Rect LabScreen::over_time_panel(Frame& f, const Rect& rect, plot::PlotSpec head) {
  const bool both = any_both(f.view);
  int layers = 1;
  for (const RunView& run : f.view.runs) layers = std::max(layers, layers_of(run, plot_.side));
  const float step = std::min(15.f, 96.f / static_cast<float>(layers));
  const std::string last = fmt::format("{}", layers);
  Painter& p = f.ui.paint();
  const TextStyle small{Face::sans, type::body};
  const float squares = step * static_cast<float>(layers), right = rect.right() - space::pad - 38;
  float x = right - p.text_width(small, last) - 6 - squares;
  CellOptions options;
  options.quantity = &over_time_;
  options.right = rect.right() - x + 52 - space::pad;
  const float matrix_w = matrix_width();
  if (info(over_time_).of_matrix) options.right += matrix_w + 10;
  if (both) options.right += kStackWidth + 8;
  head.sentence.clear();  // it stands on the lines
  const Rect inner = cell_panel(f.ui, kOverTime, rect, head, options);
  if (info(over_time_).of_matrix)
    draw_matrix_choice(f, {x - 60 - matrix_w, rect.y + 6, matrix_w, 24}, "plot/matrix-over-time");
  if (both) {
    const float taken = info(over_time_).of_matrix ? 68 + matrix_w : 60.f;
    draw_stack_choice(f, {x - taken - kStackWidth, rect.y + 6, kStackWidth, 24}, "plot/stack-over-time");
  }
  const float cy = rect.y + space::title_row / 2;
  p.text({right, cy + 4}, small, f.ui.theme().ink3, last, Align::right);
  p.text({x - 6, cy + 4}, small, f.ui.theme().ink3, "layer 1", Align::right);
  for (int layer = 0; layer < layers; ++layer, x += step)
    depth_square(f.ui, {x, cy - 5, std::max(1.f, step - 2), 10}, layer, layers);
  return inner;
}

void LabScreen::draw_over_time(Frame& f, const Rect& rect, bool with_panel) {
  std::vector<plot::PlotSpec> plots = over_time_plots(f.view, data_, plot_, over_time_);
  if (plots.empty()) return;
  const std::string name = kOverTime;
  for (plot::PlotSpec& plot : plots)
    if (cells_.turned[name]) turn_axis(plot);
  Rect inner = with_panel ? over_time_panel(f, rect, plots.front()) : rect;
  const float bottom = plots.back().pad_bottom;
  const float each = (inner.h - bottom) / static_cast<float>(plots.size());
  float labels = 0;  // the tiles stand beside the labels of the lines
  for (const plot::PlotSpec& plot : plots)
    labels = std::max(labels, plot::needed_pad_right(f.ui, plot, inner.w - 30) + 26);
  constexpr float kFree = 16 + 26;  // where they fit left of the end of the axis they need none
  over_time_pad_ = with_panel && labels > kFree + 1 ? labels : 0;
  for (size_t i = 0; i < plots.size(); ++i) {
    plot::PlotSpec& plot = plots[i];
    const bool last = i + 1 == plots.size();
    plot.pad_right = with_panel ? f.pad_right : labels;
    if (plot.y.scale == plot::AxisScale::log) thin_ticks(plot.y, each - plot.pad_top - 4);
    const Rect place = inner.take_top(each + (last ? bottom : 0));
    plot.tile.reset();  // stands in the panel's corner, clear of the lines
    const std::string part = fmt::format("{}/{}", name, f.view.runs[i].letter);
    const std::string lit =
        plot_.hover_layer ? fmt::format("layer {}", *plot_.hover_layer + 1) : std::string{};
    const plot::PlotHit hit = plot::draw_plot(f.ui, part, place, plot, cells_.views[name],
                                              info(over_time_).help + std::string(" A line a layer."), lit);
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
