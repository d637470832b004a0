// The Lab's columns of panels with their plots, and the mouse on the plots.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/lab/lab_screen.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lab {

using namespace ui;

namespace {

using namespace panels;

// Drops ticks of decades that are too close together, keeping the largest, and ticks too close to the axis' lower end.
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

// A panel's default height in a column of this height: with Place::first its share of the whole column, else its share
// of the rest.
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

constexpr float kStackWidth = 88;    // width of the list "decoder, encoder"
constexpr float kWeightsWidth = 94;  // width of the list "β², weights"
constexpr float kLinesWidth = 128;   // width of the list "layers, heads of layer 1, ..."

// The opacity of the lines of a stale run, which a run with the present settings is about to replace.
constexpr float kStale = 0.3f;

// The gap below the n-th panel of a column that a user can drag.
std::optional<Gap> gap_below(PanelColumn column, size_t index) {
  if (index > 1) return {};
  if (column == PanelColumn::Time) return index == 0 ? Gap::Loss : Gap::Rate;
  return index == 0 ? Gap::First : Gap::Second;
}

}  // namespace

Metric& LabScreen::metric_of(const Panel& panel) {
  return metrics_.try_emplace(panel.id, panel.metric.value_or(&kGradNorm)).first->second;
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
  CellOptions options{
      .help = help_of(panel, metric_of(panel)), .stream = view::any_stream(f.view), .term = panel.term};
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
  const Ui::Group group(f.ui, "plots");
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
  // The cursor follows the mouse from the press until the button is up, beyond the ends too. A zoomed plot pans
  // instead, except for a press on the cursor itself.
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
  // The plots over time are below each other and share the right margin, so that their cursors are aligned.
  f.pad_right = std::max(
      {f.pad_right, plot::needed_pad_right(f.ui, plot, rect.w - 8), f.compact() ? 0.f : over_time_pad_});
  plot.pad_right = f.pad_right;
  CellOptions options = cell_options(f, panel);
  constexpr float kLess = 62;
  const bool less = !f.compact() && !few_ && std::string_view(panel.id) == "plot/rate";
  if (less) options.right = kLess + 24;
  const plot::PlotHit hit = draw_cell(f.ui, panel.id, rect, plot, cells_, options);
  if (less && button(f.ui, "lab/less", {rect.right() - 28 - kLess, rect.y + 7, kLess, 22}, tr("fewer"),
                     tr("Hides gradients over time and hidden states."), {.style = {Face::Sans, type::tick}}))
    few_ = true;
  if (!plot.handles.empty()) rate_handles(f, hit, plot);
  if (!hit.handle) time_hit(f, panel.id, cells_.views[panel.id], hit);
}

// Draws the colour scale of the maps, from the lowest number to the highest.
void LabScreen::map_scale(Frame& f, const Rect& bar) {
  colour_scale(f.ui.paint(), bar, 32, true, [&](float share) { return heat_colour(f.ui.theme(), share); });
}

void LabScreen::map_hit(Frame& f, const plot::PlotSpec& plot, const plot::PlotHit& hit) {
  if (!hit.hovered) return;
  const int layers = static_cast<int>(plot.y.hi - plot.y.lo);
  hover_layer_ = std::clamp(static_cast<int>(std::lround(hit.y)), 1, std::max(1, layers)) - 1;
  if (const std::string words = cell_words(plot, hit.x, hit.y); !words.empty()) f.ui.tooltip(words);
}

// Draws title, choices and the legend: layer 1 ... 6 or head 1 ... 4 in the lines' colours, or the scale of a map.
Rect LabScreen::strips_panel(Frame& f, const Panel& panel, const Rect& rect, plot::PlotSpec head) {
  const bool of_matrix = panel.metric && metric_of(panel)->of_matrix(), chooses = chooses_lines(f, panel);
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
    const std::string lit = plot_.hover_layer ? panels::layer_id(*plot_.hover_layer) : std::string{};
    const plot::PlotHit hit = plot::draw_plot(f.ui, part, place, plot, cells_.views[name], help, lit);
    if (plot.heat) map_hit(f, plot, hit);
    if (hit.nearest)
      if (const int layer = plot.series[static_cast<size_t>(*hit.nearest)].layer; layer >= 0)
        hover_layer_ = layer;
    time_hit(f, part, cells_.views[name], hit);
    tile(f.ui, {place.right() - (with_panel ? 26.f : 18.f), place.y + plot.pad_top, 16, 16},
         f.view.runs[i].letter - 'A');
  }
  if (with_panel) cell_menu(f.ui, name, rect, plots, cells_);
}

// ---- These are the plots by layer at the cursor's step, the triangles of residual dependency, and the one cell of
// the compact layout.

namespace {

constexpr float kBatchWidth = 82;

int most_streams(const LabView& view) {
  int most = 0;
  for (const RunView& run : view.runs)
    for (const view::Side side : view::sides_of(run)) most = std::max(most, view::streams_of(run, side));
  return most;
}

std::string why_empty(const RunView& run, bool weights, view::Side side, int step) {
  if (!view::has_stream(run)) return tr("no residual stream");
  if (weights && !view::over_depth(run, side)) return tr("no weights over depth");
  if (run.forked_from >= 0 && step < run.fork_step)
    return tr("starts at step {step}", {{"step", grouped(run.fork_step)}});
  return tr(run.state == RunState::NonFinite ? "not finite" : "not measured yet");
}

std::string at_step(int step) { return tr("at step {step}", {{"step", grouped(step)}}); }

}  // namespace

void LabScreen::draw_matrix_choice(Frame& f, const Panel& panel, const Rect& rect, const std::string& name) {
  std::vector<words::Label> labels;
  const int most = most_streams(f.view);
  plot_.stream = std::min(plot_.stream, most);
  if (!view::any_stream(f.view)) {
    int only = 0;
    choice(f.ui, name, rect, labels_of({matrix_label(f.view, 0)}), only,
           tr("Each layer of these runs has one matrix."));
    return;
  }
  for (const view::Matrix& matrix : view::kMatrices)
    if (view::any_both(f.view) || !std::string_view(matrix.path).starts_with("cross"))
      labels.push_back({matrix.label, matrix.label});
  const int matrices = static_cast<int>(labels.size());
  plot_.matrix = std::min(plot_.matrix, matrices - 1);
  // Gradients are also measured of each stream, where a run has several.
  const int streams = metric_of(panel) == &kGradNorm ? most : 0;
  for (int stream = 1; stream <= streams; ++stream)
    labels.push_back({fmt::format("stream {}", stream), tr("stream {stream}", {{"stream", stream}})});
  const bool of_stream = streams > 0 && plot_.stream > 0;
  int chosen = of_stream ? matrices + plot_.stream - 1 : plot_.matrix;
  choice(f.ui, name, rect, labels, chosen,
         tr(streams > 0
                ? "W₁ and W₂ are the first and the second matrix of the feed-forward network; W_Q, W_K, "
                  "W_V and W_O are those of attention.\n"
                  "Which of them is shown, of every layer, or which of several residual streams behind it."
                : "W₁ and W₂ are the first and the second matrix of the feed-forward network; W_Q, W_K, "
                  "W_V and W_O are those of attention.\n"
                  "Which of them is shown, of every layer."));
  if (chosen < matrices) plot_.matrix = chosen;
  if (streams > 0) plot_.stream = std::max(chosen - matrices + 1, 0);
}

void LabScreen::draw_weights_choice(Frame& f, const Rect& rect, const std::string& name) {
  const std::vector<words::Label> labels{{"β²", "β²"}, {"weights", tr("weights")}};
  int selected = plot_.weights;
  if (choice(f.ui, name, rect, labels, selected,
             tr("The shares of variance β², or the weights with which each sub-layer reads what lies "
                "below it.")))
    plot_.weights = selected == 1;
}

void LabScreen::draw_stack_choice(Frame& f, const Rect& rect, const std::string& name) {
  int selected = plot_.side == view::Side::Encoder ? 1 : 0;
  if (choice(f.ui, name, rect, labels_of({"decoder", "encoder"}), selected,
             tr("Which of the two stacks stands here, encoder or decoder.")))
    plot_.side = selected == 1 ? view::Side::Encoder : view::Side::Main;
}

bool LabScreen::chooses_lines(const Frame& f, const Panel& panel) {
  const Metric metric = metric_of(panel);
  return panel.form == Form::Strips && (of_heads(metric) || of_map(metric)) && view::any_stream(f.view);
}

void LabScreen::draw_lines_choice(Frame& f, const Panel& panel, const Rect& rect) {
  if (of_map(metric_of(panel))) {
    const std::vector<words::Label> labels{{"lines", tr("lines")}, {"map", tr("map")}};
    int selected = plot_.map;
    choice(f.ui, "plot/map", rect, labels, selected,
           tr("A line for each layer, or a map of all sub-layers with what theory says of the start "
              "beside it."));
    plot_.map = selected == 1;
    return;
  }
  const int layers = view::most_layers(f.view);
  std::vector<words::Label> labels{{"layers", tr("layers")}};
  for (int layer = 1; layer <= layers; ++layer)
    labels.push_back({fmt::format("{}", layer), tr("heads, layer {layer}", {{"layer", layer}})});
  int selected = plot_.heads_of ? std::min(*plot_.heads_of + 1, layers) : 0;
  choice(f.ui, "plot/heads", rect, labels, selected,
         tr("One line per layer, or one per head of a layer. A layer's number says nothing of a "
            "single head whose attention has collapsed."));
  plot_.heads_of = selected > 0 ? std::optional(selected - 1) : std::nullopt;
}

// Draws the colour scale of the maps, with its ends in numbers, at the right of a row, if it fits right of `from`.
void LabScreen::draw_map_key(Frame& f, const Panel& panel, const Rect& row, float from) {
  constexpr float kWidest = 72, kNarrowest = 24, kGap = 6;
  const std::vector<plot::PlotSpec> shown = plots(f, panel);
  if (shown.empty() || !shown.front().heat) return;
  const TextStyle tick{Face::Sans, type::tick};
  const std::string least = significant(static_cast<double>(shown.front().heat->least), 2),
                    full = significant(static_cast<double>(shown.front().heat->full), 2);
  Painter& p = f.ui.paint();
  const float behind = p.text_width(tick, full) + kGap, before = p.text_width(tick, least) + kGap;
  const float bar = std::min(kWidest, row.right() - from - behind - before);
  if (bar < kNarrowest) return;
  p.text_in(row, tick, f.ui.theme().ink3, full, Align::Right);
  map_scale(f, {row.right() - behind - bar, row.centre().y - 4, bar, 8});
  const float end = row.right() - behind - bar - kGap;
  p.text_in({row.x, row.y, end - row.x, row.h}, tick, f.ui.theme().ink3, least, Align::Right);
}

void LabScreen::depth_hit(const plot::PlotHit& hit, int layers) {
  if (hit.hovered)
    hover_layer_ = std::clamp(static_cast<int>(std::ceil(hit.x - 0.5)), 1, std::max(1, layers)) - 1;
}

void LabScreen::draw_by_layer(Frame& f, const Panel& panel, const Rect& rect) {
  std::vector<plot::PlotSpec> shown = plots(f, panel);
  if (shown.empty()) return;
  Painter& p = f.ui.paint();
  const TextStyle small{Face::Sans, type::body};
  const std::string at = at_step(plot_.step);
  const float at_w = p.text_width(small, at);
  if (panel.metric && metric_of(panel) == &kGradNorm && !view::any_both(f.view))
    shown.front().sentence.clear();  // stands on the line itself
  CellOptions options = cell_options(f, panel);
  const bool of_matrix = panel.metric && metric_of(panel)->of_matrix();
  const float matrix_w = matrix_width();
  options.right = at_w + (of_matrix ? matrix_w + 16 : 8.f);
  depth_hit(draw_cell(f.ui, panel.id, rect, shown.front(), cells_, options), view::most_layers(f.view));
  p.text({rect.right() - space::pad, rect.y + space::title_row / 2 + 4}, small, f.ui.theme().ink3, at,
         Align::Right);
  if (of_matrix)
    draw_matrix_choice(f, panel, {rect.right() - space::pad - at_w - matrix_w - 10, rect.y + 6, matrix_w, 24},
                       std::string("plot/matrix") + panel.lists);
}

// Draws the colour scale of the shares, with 1, 0.5 and 0 beside it, or of weights, which may be larger and negative.
void LabScreen::triangles_scale(Frame& f, const Rect& bar, const plot::HeatMap& heat) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  colour_scale(p, bar, std::max(11, static_cast<int>(bar.h / 2)), true, [&](float share) {
    return heat.signed_data ? signed_colour(t, 2 * share - 1) : heat_colour(t, share);
  });
  const TextStyle tick{Face::Mono, type::tick};
  const double most = static_cast<double>(heat.full);
  const std::string full = significant(most, 2), half = heat.signed_data ? "0" : significant(most / 2, 2);
  p.text({bar.right() + 6, bar.y + 9}, tick, t.ink3, full);
  if (bar.h > 46) p.text({bar.right() + 6, bar.centre().y + 4}, tick, t.ink3, half);
  p.text({bar.right() + 6, bar.bottom()}, tick, t.ink3, heat.signed_data ? "−" + full : "0");
}

// Draws title, choices and step, and a button that measures the whole batch where the step has no such measurement.
Rect LabScreen::triangles_panel(Frame& f, const Panel& panel, const Rect& rect, const plot::PlotSpec& head) {
  Painter& p = f.ui.paint();
  const TextStyle small{Face::Sans, type::body};
  const bool whole = of_whole_batch(f.view.runs.front(), plot_.step);
  const bool both = view::any_both(f.view), chooses = view::any_over_depth(f.view);
  const float stack_w = both ? kStackWidth + 8 : 0.f, weights_w = chooses ? kWeightsWidth + 8 : 0.f;
  const float room =
      rect.w - 2 * space::pad - p.text_width({Face::Bold, type::title}, head.title) - 8 - stack_w - weights_w;
  // The button for the whole batch. Next to the list of weights it is only as wide as its text, and where even that
  // does not fit, only the palette has the command.
  const float batch_w =
      chooses ? p.text_width({Face::Sans, type::tick}, tr("whole batch")) + 20 : kBatchWidth;
  const bool asks = !whole && (!chooses || batch_w + 8 <= room);
  const float button_w = asks ? batch_w + 8 : 0.f;
  std::string at =
      whole ? tr("whole batch, step {step}", {{"step", grouped(plot_.step)}}) : at_step(plot_.step);
  // The list of stacks replaces the step, and so does the list of weights where there is no space for both.
  if (both || (chooses && p.text_width(small, at) + button_w + 8 > room)) at = whole ? tr("whole batch") : "";
  CellOptions options = cell_options(f, panel);
  const float right = rect.right() - space::pad - stack_w;
  const float at_w = p.text_width(small, at) + button_w;
  options.right = at_w + stack_w + (both ? 0.f : 8.f) + weights_w;
  const Rect inner = cell_panel(f.ui, panel.id, rect, head, options);
  if (both)
    draw_stack_choice(f, {right + 8, rect.y + 6, kStackWidth, 24}, std::string("plot/stack") + panel.lists);
  p.text({right, rect.y + space::title_row / 2 + 4}, small, f.ui.theme().ink3, at, Align::Right);
  if (asks) batch_button(f, panel, {right - at_w, rect.y + 7, batch_w, 22});
  if (chooses)
    draw_weights_choice(f, {right - at_w - kWeightsWidth - 8, rect.y + 6, kWeightsWidth, 24}, "plot/weights");
  return inner;
}

void LabScreen::batch_button(Frame& f, const Panel& panel, const Rect& rect) {
  ButtonOptions look{.enabled = view::any_stream(f.view), .style = {Face::Sans, type::tick}};
  if (button(f.ui, std::string(panel.id) + "/batch", rect, tr("whole batch"),
             look.enabled
                 ? tr("The triangles follow one sequence, the same at every step. This button measures all "
                      "sequences of the newest step.")
                 : view::no_stream(),
             look)) {
    f.commands.emplace_back(session::MeasureBatch{});
    transport_.pinned_step.reset();
  }
}

void LabScreen::draw_triangles(Frame& f, const Panel& panel, const Rect& rect, bool with_panel) {
  std::vector<plot::PlotSpec> plots = this->plots(f, panel);
  if (plots.empty()) return;
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const bool weights = shows_weights(f.view, plot_);
  const std::string name = panel.id, help = cell_options(f, panel).help;
  const TextStyle small{Face::Sans, type::body};
  Rect inner = with_panel ? triangles_panel(f, panel, rect, plots.front()) : rect;
  f.ui.mark(name, rect, plots.front().sentence, help);
  const std::string below =
      tr(weights ? "A softmax's rows sum to 1; learned weights begin at 1 each."
                 : "Rows sum to 1 at first: less as branches agree, more as they cancel.");
  const bool room = inner.h > 170 && p.text_width(small, below) < rect.w - 2 * space::pad;
  const auto shown = std::ranges::find_if(plots, [](const plot::PlotSpec& s) { return s.heat.has_value(); });
  if (room && shown != plots.end()) p.text({rect.x + space::pad, rect.bottom() - 14}, small, t.ink3, below);
  if (room) inner.h -= 22;

  constexpr float labels = 34, gap = 14, scale = 46, under = 38;
  const float n = static_cast<float>(plots.size());
  const float width = (inner.w - labels - scale - gap * (n - 1)) / n;
  float x = inner.x + labels;
  float triangle = inner.h - under;
  for (size_t i = 0; i < plots.size(); ++i, x += width + gap) {
    plot::PlotSpec& plot = plots[i];
    const float left = i == 0 ? 24.f : 0.f;
    plot.pad_left = left;
    plot.pad_right = 0;
    plot.pad_top = 2;
    plot.pad_bottom = under - 2;
    plot.title.clear();
    plot.sentence.clear();
    if (!plot.heat) {  // its place stays and says why it is empty
      tile(f.ui, {x, inner.y + 2, 16, 16}, f.view.runs[i].letter - 'A');
      p.text_wrapped({x, inner.y + 24, width, 32}, small, t.ink3,
                     why_empty(f.view.runs[i], weights, plot_.side, plot_.step), 16);
      continue;
    }
    if (i > 0) {
      plot.heat->row_first.clear();
      plot.heat->row_last.clear();
    }
    triangle = std::min(triangle,
                        width / static_cast<float>(plot.heat->columns) * static_cast<float>(plot.heat->rows));
    const char letter = f.view.runs[i].letter;
    const plot::PlotHit hit =
        plot::draw_plot(f.ui, fmt::format("{}/{}", name, letter), {x - left, inner.y, width + left, inner.h},
                        plot, cells_.views[name], help);
    const bool crosses = view::has_both(f.view.runs[i]) && plot_.side == view::Side::Main;
    if (hit.hovered) hover_layer_ = static_cast<int>(hit.y) / static_cast<int>(view::subs_of(crosses).size());
  }
  if (shown != plots.end())
    triangles_scale(f, {inner.right() - scale + 10, inner.y + 2, 10, triangle}, *shown->heat);
  if (with_panel) cell_menu(f.ui, name, rect, this->plots(f, panel), cells_);
}

// Draws the tabs, the controls of the open tab, and the step of plots at a step.
void LabScreen::compact_head(Frame& f, const Rect& head) {
  const std::vector<const Panel*> tabs = tab_panels();
  Rect controls = head.inset(0, 6);
  controls.x -= 4;
  // Tabs are named after the metrics they show if all these names fit, else after their usual metrics.
  std::vector<words::Label> words, usual;
  for (const Panel* tab : tabs) {
    usual.push_back({tab->place.tab, std::string(shown_label(tab->place.tab))});
    const Number& about = info(metric_of(*tab));
    const bool own = !tab->metric || metric_of(*tab) == *tab->metric;
    words.push_back(own ? usual.back()
                        : words::label(tab->form == Form::Strips ? about.over_time : about.by_layer));
  }
  if (segmented_width(f.ui, words) > head.w) words = usual;
  // The px for the colour scale behind the tabs. Where the row cannot hold tabs and controls, the tabs are a list.
  constexpr float kKeyRoom = 104;
  const Panel& chosen = *tabs[static_cast<size_t>(plot_tab_)];
  const bool map = chooses_lines(f, chosen) && plot_.map && of_map(metric_of(chosen));
  const bool of_triangles = chosen.form == Form::Triangles && view::any_over_depth(f.view);
  const float behind = 24 + 6 + (map ? kLinesWidth + 8 + kKeyRoom : matrix_width() + 8) +
                       (view::any_both(f.view) ? kStackWidth + 8 : 0) +
                       (of_triangles ? kWeightsWidth + 8 : 0);
  const float row = segmented_width(f.ui, words) - 40;
  constexpr const char* kName = "plot/tab";
  const std::string& help = tr("Which plot stands here.");
  if (row + 8 + behind <= head.w) {
    segmented(f.ui, kName, controls.take_left(row, 8), words, plot_tab_, help);
  } else {
    float widest = 0;
    for (const words::Label& each : words)
      widest = std::max(widest, f.ui.paint().text_width({Face::Sans, type::title}, each.shown));
    choice(f.ui, kName, controls.take_left(widest + 40, 8), words, plot_tab_, help);
  }
  const Panel& tab = *tabs[static_cast<size_t>(plot_tab_)];
  if (tab.metric)
    metric_button(f.ui, tab.id, controls.take_left(24, 6), metric_of(tab), view::any_stream(f.view));
  if (tab.metric && metric_of(tab)->of_matrix())
    draw_matrix_choice(f, tab, controls.take_left(matrix_width(), 8), "plot/matrix");
  if (chooses_lines(f, tab)) draw_lines_choice(f, tab, controls.take_left(kLinesWidth, 8));
  if (view::any_both(f.view) && tab.one_stack)
    draw_stack_choice(f, controls.take_left(kStackWidth, 8), "plot/stack");
  if (chooses_lines(f, tab) && plot_.map && of_map(metric_of(tab))) draw_map_key(f, tab, head, controls.x);
  const bool triangles = tab.form == Form::Triangles;
  const bool whole = triangles && of_whole_batch(f.view.runs.front(), plot_.step);
  if (of_triangles) draw_weights_choice(f, controls.take_left(kWeightsWidth, 8), "plot/weights");
  if (triangles && !whole) batch_button(f, tab, controls.take_left(kBatchWidth, 8).inset(0, 2));
  const std::string at =
      whole ? tr("whole batch, step {step}", {{"step", grouped(plot_.step)}}) : at_step(plot_.step);
  const TextStyle tick{Face::Sans, type::tick};
  const bool of_a_step = triangles || tab.form == Form::Layers;
  if (of_a_step && head.right() - controls.x > f.ui.paint().text_width(tick, at) + 4)
    f.ui.paint().text_in(head, tick, f.ui.theme().ink3, at, Align::Right);
}

// Draws the plot of the open tab and returns it.
std::vector<plot::PlotSpec> LabScreen::compact_plot(Frame& f, const Rect& rect, const Panel& panel) {
  if (panel.form == Form::Strips || panel.form == Form::Triangles) {
    if (panel.form == Form::Strips)
      draw_strips(f, panel, rect, false);
    else
      draw_triangles(f, panel, rect, false);
    return plots(f, panel);
  }
  std::vector<plot::PlotSpec> shown = plots(f, panel);
  if (shown.empty()) return shown;
  plot::PlotSpec& plot = shown.front();
  const std::string name = panel.id;
  if (cells_.turned[name]) turn_axis(plot);
  const plot::PlotHit hit =
      plot::draw_plot(f.ui, name, rect, plot, cells_.views[name], help_of(panel, metric_of(panel)));
  if (panel.form == Form::Layers) {
    depth_hit(hit, view::most_layers(f.view));
  } else {
    if (!plot.handles.empty()) rate_handles(f, hit, plot);
    if (!hit.handle) time_hit(f, name, cells_.views[name], hit);
  }
  return shown;
}

void LabScreen::draw_compact(Frame& f, Rect column) {
  const Ui::Group group(f.ui, "plots");
  draw_panel(f, panel_above_tabs(), column.take_top(std::round((column.h - 6) * 0.55f), 6));
  panel(f.ui, column, {});
  Rect inner = column.inset(space::pad, 0);
  compact_head(f, inner.take_top(38));
  inner.h -= 6;
  const Panel& tab = *tab_panels()[static_cast<size_t>(plot_tab_)];
  cell_menu(f.ui, tab.id, column, compact_plot(f, inner, tab), cells_);
}

}  // namespace normscope::lab
