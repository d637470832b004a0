// Makes the plots over time, a strip a run: a line for each layer, or for each head of one. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::panels {
namespace {

using namespace view;
using namespace plot;
using Series = plot::Series;  // not the history's

// Reaches from 0, or from below where values are negative, to a little above the largest.
void linear_axis(Axis& axis, double lowest, double hi) {
  axis.lo = std::min(0.0, lowest * 1.08);
  axis.hi = hi > 0 ? hi * 1.08 : 1;
  axis.max_ticks = 3;
}

// Names a layer's line for files, and for LabScreen::layer_of_series, which finds the line by this name.
std::string layer_id(int layer) { return fmt::format("layer {}", layer + 1); }

// A line's value at the last point up to a step; NaN where there is none.
float newest_until(const Series& s, int step) {
  const auto end = std::ranges::upper_bound(s.x.values, static_cast<float>(step));
  if (end == s.x.values.begin()) return std::numeric_limits<float>::quiet_NaN();
  return s.y[static_cast<size_t>(end - s.x.values.begin()) - 1];
}

// The value of a layer's line at the cursor.
float at_cursor(const PlotSpec& plot, int layer, int step) {
  const std::string id = layer_id(layer);
  for (const Series& s : plot.series)
    if (s.id == id) return newest_until(s, step);
  return std::numeric_limits<float>::quiet_NaN();
}

// Whether the first and the last layer were ever this many times apart.
bool was_apart(const std::vector<Series>& layers, double times) {
  if (layers.size() < 2) return false;
  const Column &first = layers.front().y, &last = layers.back().y;
  for (size_t k = 0; k < std::min(first.size(), last.size()); ++k)
    if (usable(first[k]) && usable(last[k]) &&
        (double(last[k]) > times * first[k] || double(first[k]) > times * last[k]))
      return true;
  return false;
}

// Draws a line, of a layer or a head; `range` and `lowest` grow to hold it.
void add_line(PlotSpec& plot, const std::shared_ptr<const Line>& line, Range& range, double& lowest,
              std::string id, std::string name, Ink ink) {
  if (line->empty()) return;
  lowest = std::min(lowest, double(line->span().lowest));
  range.add(line->span().lowest_positive);
  range.add(line->span().highest);
  Series s;
  s.id = std::move(id);
  s.name = std::move(name);
  s.ink = ink;
  s.x = Column(line->x);
  s.y = Column(line->y);
  s.x.owner = line;
  s.y.owner = line;
  s.width = ui::line::depth;
  s.end_label = false;
  s.end_marker = false;
  plot.series.push_back(std::move(s));
}

// Draws a line for each layer over the steps; `range` and `lowest` grow to hold them.
void add_layer_lines(PlotSpec& plot, LabData& data, const RunView& run, Metric metric,
                     const PlotOptions& options, Range& range, double& lowest) {
  const int layers = layers_of(run, options.side);
  for (int layer = 0; layer < layers; ++layer) {
    const auto line =
        metric == Metric::Gradient && options.stream > 0
            ? data.root(run, layer_stat(run, options.side, layer + 1, stream_path(options.stream)))
            : over_time(data, run, metric, options.matrix, layer, options.side);
    add_line(plot, line, range, lowest, layer_id(layer), tr("layer {layer}", {{"layer", layer + 1}}),
             Ink::depth(layer, layers));
  }
}

// Draws a line for each head of options.heads_of over the steps, where the run has that layer.
void add_head_lines(PlotSpec& plot, LabData& data, const RunView& run, Metric metric,
                    const PlotOptions& options, Range& range, double& lowest) {
  const int layer = *options.heads_of, heads = run.spec->model.heads;
  if (layer >= layers_of(run, options.side) || !has_stream(run)) return;
  for (int head = 0; head < heads; ++head) {
    const auto line = data.stat(run, head_stat(metric, layer + 1, head + 1, prefix_of(run, options.side)));
    add_line(plot, line, range, lowest, fmt::format("head {}", head + 1),
             tr("head {head}", {{"head", head + 1}}), Ink::depth(head, heads));
  }
  // The plot says which head is largest at the cursor, as that is the one to look at.
  const Series* largest = nullptr;
  float most = 0;
  for (const Series& s : plot.series)
    if (const float v = newest_until(s, options.step); std::isfinite(v) && (!largest || v > most)) {
      largest = &s;
      most = v;
    }
  if (!largest) return;
  plot.sentence =
      tr("{run}: {head} of layer {layer} is highest, at {value}.", {{"run", whose(run, options.side)},
                                                                    {"head", largest->name},
                                                                    {"layer", layer + 1},
                                                                    {"value", ui::number(most, 3)}});
  plot.notes.push_back({double(options.step), most, "", largest->name, {Ink::Role::Ink2, 0, 1}, 10, 18});
}

// Says at the ends of the lines, or beside them, how far the layers lie apart at the cursor.
void say_spread(PlotSpec& plot, const RunView& run, Metric metric, const PlotOptions& options) {
  const int layers = layers_of(run, options.side);
  std::vector<float> now;
  for (int layer = 0; layer < layers; ++layer) now.push_back(at_cursor(plot, layer, options.step));
  const double spread = spread_of(now);
  const std::optional<GradientDrop> less = metric == Metric::Gradient ? faded(now) : std::nullopt;
  if (less && spread >= 10 && plot.series.size() > 1) {
    Series &bottom = plot.series.front(), &top = plot.series.back();
    top.letter = std::exchange(top.name, {});
    top.end_label = true;
    bottom.letter = std::exchange(bottom.name, {});
    bottom.end_label = true;
    // The number is of the cursor's step: it stands at a line's end only where the cursor is there.
    Series& faint = less->first ? bottom : top;
    const std::string times = tr("{times} less", {{"times", less->times}});
    if (faint.x[faint.x.size() - 1] > static_cast<float>(options.step))
      plot.notes.push_back({double(options.step), newest_until(faint, options.step), "", times, faint.ink});
    else
      faint.name = times;
    plot.sentence = tr("{run}: {what}.", {{"run", whose(run, options.side)}, {"what", gets_less(now)}});
  } else if (spread > 0) {
    const bool recovered = metric == Metric::Gradient && was_apart(plot.series, 5 * spread);
    const std::string text =
        tr(recovered ? "spread {times}×, recovered" : "spread {times}×",
           {{"times", spread < 2 ? ui::number(spread, 2) : ui::grouped(std::llround(spread))}});
    plot.sentence = text;
    const float y = now[now.size() / 2];
    plot.notes.push_back(
        {double(options.step), usable(y) ? y : 1.0, "", text, {Ink::Role::Ink2, 0, 1}, 10, 18});
  }
}

}  // namespace

std::vector<PlotSpec> over_time_plots(const LabView& view, LabData& data, const PlotOptions& options,
                                      Metric metric) {
  std::vector<PlotSpec> plots;
  const MetricInfo& about = info(metric);
  const bool heads = options.heads_of && of_heads(metric), map = options.map && of_map(metric);
  Range range;
  double lowest = 0;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    PlotSpec plot;
    put_title(plot, about, about.over_time);
    plot.id = fmt::format("{}-over-time-{}", about.id, run.letter);
    plot.note = tr(about.log ? "one line per layer, log scale" : "one line per layer");
    if (heads) {
      plot.id = fmt::format("{}-heads-{}-{}", about.id, *options.heads_of + 1, run.letter);
      plot.note = tr("one line per head of layer {layer}", {{"layer", *options.heads_of + 1}});
    }
    plot.x.lo = 0;
    plot.x.hi = steps_shown(view);
    plot.x.label = tr("step");
    plot.x.integer = true;
    plot.x.max_ticks = 7;
    plot.x.show_labels = i + 1 == view.runs.size();
    plot.tile = colour_of(run);
    plot.pad_top = 4;
    plot.pad_bottom = plot.x.show_labels ? 26.f : 4.f;
    plot.y.label = of_run(axis_of(view, about, options), run);
    if (map) {
      plot.id = fmt::format("{}-map-{}", about.id, run.letter);
      plot.note = tr("one row per sub-layer, log colour");
    } else if (heads) {
      add_head_lines(plot, data, run, metric, options, range, lowest);
    } else {
      add_layer_lines(plot, data, run, metric, options, range, lowest);
      say_spread(plot, run, metric, options);
    }
    plot.cursor = Cursor{double(options.step), ""};
    plots.push_back(std::move(plot));
  }
  for (PlotSpec& plot : plots) {
    plot.hover = options.hover_step;
    if (map) continue;
    if (!about.log) {
      linear_axis(plot.y, lowest, range.hi);
      plot.y.max_ticks = 2;
      continue;
    }
    log_axis(plot.y, range.lo, range.hi);
  }
  if (map) put_maps(plots, view, data, options, metric);
  return plots;
}

}  // namespace normscope::panels
