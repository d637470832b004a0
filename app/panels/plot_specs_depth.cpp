// Makes the plots by layer at a step. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::panels {
namespace {

using namespace view;
using namespace plot;
using Series = plot::Series;  // not the history's

// Shows where runs stood after their first step: one dotted line for those that began alike.
void add_start_line(PlotSpec& plot, const LabView& view, LabData& data, const PlotOptions& options,
                    size_t worst) {
  const std::vector<float> start = gradients_at(data, view.runs[worst], options, 1);
  if (start.empty() || !std::ranges::all_of(start, usable)) return;
  std::string letters;
  for (const RunView& run : view.runs) {
    const std::vector<float> other = gradients_at(data, run, options, 1);
    bool same = other.size() == start.size() && run.forked_from < 0;
    for (size_t i = 0; same && i < start.size(); ++i)
      same = std::abs(other[i] - start[i]) <= 0.02f * start[i];
    if (same) letters += (letters.empty() ? "" : ", ") + letter_of(run);
  }
  if (letters.empty()) return;
  Series s;
  s.id = tr("{runs} at step 1", {{"runs", letters}});
  s.x0 = 1;
  s.y = Column::of(start);
  s.ink = {Ink::Role::Ink3, 0, 1};
  s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off};
  s.width = ui::line::reference;
  s.end_label = false;
  s.end_marker = false;
  const size_t middle = start.size() / 2;
  plot.notes.push_back({double(middle + 1), start[middle], "", s.id, {Ink::Role::Ink3, 0, 1}, -36, -9});
  plot.series.insert(plot.series.begin(), std::move(s));
}

std::string matrix_gradient(const PlotOptions& options) {
  return std::string(kMatrices[options.matrix].path) + ".grad_norm";
}

void put_hover(PlotSpec& plot, const PlotOptions& options) {
  if (options.hover_layer) plot.hover = *options.hover_layer + 1.0;
}

}  // namespace

// Covers the decades of all values and labels three or four of them.
void log_axis(Axis& axis, double lo, double hi) {
  axis.scale = AxisScale::Log;
  if (!(lo > 0) || !(hi > 0) || lo > hi) {
    lo = 1e-3;
    hi = 1;
  }
  const double low = std::log10(lo) - 0.25;
  double high = std::max(std::log10(hi) + 0.2, low + 2);
  if (std::ceil(high) - high < 0.7) high = std::ceil(high) + 0.1;  // the decade above is close: name it
  const int first = static_cast<int>(std::ceil(low)), last = static_cast<int>(std::floor(high));
  const int stride = (last - first) > 7 ? 3 : (last - first) > 3 ? 2 : 1;
  axis.lo = std::pow(10.0, low);
  axis.hi = std::pow(10.0, high);
  for (int e = first; e <= last; ++e)
    if (e % stride == 0)
      axis.ticks.push_back({std::pow(10.0, e), e == 0 ? "1" : e == 1 ? "10" : ui::power_of_ten(e)});
}

Axis layer_axis(int layers) {
  Axis axis;
  axis.lo = 0.8;
  axis.hi = layers + 0.1;
  if (layers == 1) axis.hi = 1.2;
  axis.label = axis.short_label = tr("layer");
  axis.integer = true;
  axis.max_ticks = 12;
  const int stride = layers > 24 ? 8 : layers > 12 ? 4 : layers > 8 ? 2 : 1;
  for (int layer = 1; layer <= layers; layer += stride)
    axis.ticks.push_back({double(layer), fmt::format("{}", layer)});
  return axis;
}

double spread_of(const std::vector<float>& values) {
  Range range;
  int n = 0;
  for (float v : values) {
    n += usable(v);
    range.add(v);
  }
  return n < 2 ? 0 : range.hi / range.lo;
}

std::optional<GradientDrop> faded(const std::vector<float>& gradients) {
  if (gradients.size() < 2 || !usable(gradients.front()) || !usable(gradients.back())) return {};
  const double ratio = double(gradients.back()) / gradients.front();
  auto rounded = [](double r) {
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(r)) - 1));
    return ui::grouped(std::llround(std::round(r / unit) * unit));
  };
  if (ratio >= 10) return GradientDrop{true, rounded(ratio) + "×"};
  if (ratio <= 0.1) return GradientDrop{false, rounded(1 / ratio) + "×"};
  return {};
}

std::string gets_less(const std::vector<float>& gradients) {
  const std::optional<GradientDrop> less = faded(gradients);
  if (!less) return {};
  const size_t layers = gradients.size();
  return tr(
      "layer {layer} gets {times} less than layer {other}",
      {{"layer", less->first ? 1 : layers}, {"times", less->times}, {"other", less->first ? layers : 1}});
}

std::vector<float> gradients_at(LabData& data, const RunView& run, const PlotOptions& options, int step,
                                Side side) {
  if (options.stream == 0) return data.by_layer(run, matrix_gradient(options), step, side);
  std::vector<float> values = data.by_layer(run, stream_path(options.stream), step, side);
  for (float& v : values) v = std::sqrt(v);
  return values;
}

void put_title(PlotSpec& plot, const MetricInfo& about, const char* title) {
  plot.title = title;
  plot.question = about.question;
  plot.brief = about.brief;
}

PlotSpec gradient_by_layer_plot(const LabView& view, LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  plot.id = "gradient-by-layer";
  plot.note = tr(options.stream > 0 ? "root mean square of ∂L/∂s, log scale" : "‖∂L/∂W‖, log scale");
  put_title(plot, info(Metric::Gradient), info(Metric::Gradient).by_layer);
  plot.x = layer_axis(most_layers(view));
  plot.y.label = at_step(axis_of(view, info(Metric::Gradient), options), options.step);
  Range range;
  size_t worst = 0;
  double worst_spread = 0;
  for (size_t i = 0; i < view.runs.size(); ++i)
    for (const Side side : sides_of(view.runs[i])) {
      std::vector<float> values = gradients_at(data, view.runs[i], options, options.step, side);
      if (options.stream > streams_of(view.runs[i], side)) continue;
      for (float v : values) range.add(v);
      const double spread = side == Side::Main ? spread_of(values) : 0;
      if (spread > worst_spread) {
        worst_spread = spread;
        worst = i;
      }
      plot.series.push_back(layer_line(view, i, options.compact, side));
      plot.series.back().y = Column::of(std::move(values));
    }
  if (!view.runs.empty()) {
    const std::vector<float> values = gradients_at(data, view.runs[worst], options, options.step);
    const std::string less = gets_less(values);
    const size_t at = values.size() > 2 ? 1 : 0;
    if (has_both(view.runs[worst])) {
      plot.sentence =
          stacks_sentence(view.runs[worst].letter, values,
                          gradients_at(data, view.runs[worst], options, options.step, Side::Encoder));
    } else if (!less.empty()) {
      plot.notes.push_back({double(at + 1), values[at], letter_of(view.runs[worst]), less,
                            Ink::run(colour_of(view.runs[worst])), 18, 22});
      plot.sentence = tr("{run}: {what}.", {{"run", view.runs[worst].letter}, {"what", less}});
    } else if (worst_spread > 0) {
      plot.sentence =
          tr("All layers get about the same, within {times}×.", {{"times", ui::decimals(worst_spread, 1)}});
    }
    if (!options.compact) {
      const bool theory = options.stream == 0 &&
                          add_gradient_theory(plot, view, data, matrix_gradient(options), options.step);
      if (options.step > 1 && !theory) add_start_line(plot, view, data, options, worst);
      for (const Series& s : plot.series)
        for (float v : s.y.values) range.add(v);
    }
  }
  log_axis(plot.y, range.lo, range.hi);
  put_hover(plot, options);
  plot.labels_inside = false;
  plot.pad_right = depth_pad_right(view, options.compact);
  return plot;
}

namespace {

// How many times the states of a stack grow, and whose they are.
using Growth = std::pair<double, std::string>;

// Says "A grows 5.4×, B 3.2× from layer 1 to 6."
std::string growth_sentence(const LabView& view, const std::vector<Growth>& growing) {
  const auto times = [](const Growth& g) { return ui::decimals(g.first, 1); };
  std::string others;
  for (size_t i = 1; i < growing.size(); ++i)
    others += tr(", {run} {times}×", {{"run", growing[i].second}, {"times", times(growing[i])}});
  return tr(any_both(view) ? "{run} grows {times}×{others} from bottom to top."
                           : "{run} grows {times}×{others} from layer 1 to {layer}.",
            {{"run", growing.front().second},
             {"times", times(growing.front())},
             {"others", others},
             {"layer", most_layers(view) - (any_stream(view) ? 0 : 1)}});
}

}  // namespace

PlotSpec hidden_norm_plot(const LabView& view, LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  plot.id = "hidden-norm";
  put_title(plot, info(Metric::HiddenNorm), info(Metric::HiddenNorm).by_layer);
  plot.x = layer_axis(most_layers(view));
  Range range;
  bool sums = false;
  std::vector<Growth> growing;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    for (Side side : sides_of(run)) {
      sums = data.has(run, prefix_of(run, side) + "L01.ffn.sum.mean_square");
      std::vector<float> values =
          data.by_layer(run, sums ? "ffn.sum.mean_square" : "ffn.out.mean_square", options.step, side);
      for (float v : values) range.add(v);
      const size_t measured =
          values.size() - (has_stream(run) ? 0 : 1);  // a chain's last layer is its answer
      if (measured > 1 && usable(values.front()) && values[measured - 1] > 2 * values.front())
        growing.emplace_back(values[measured - 1] / values.front(), whose(run, side));
      plot.series.push_back(layer_line(view, i, options.compact, side));
      plot.series.back().y = Column::of(std::move(values));
    }
  }
  if (sums) add_norm_theory(plot, view, range.hi);
  plot.note = sums ? info(Metric::HiddenNorm).note : tr("mean square of each layer's output");
  plot.y.label = at_step(info(Metric::HiddenNorm).axis, options.step);
  if (any_both(view) && growing.size() > 2) {  // a line holds two stacks: those that grow most
    std::ranges::stable_sort(growing, [](const auto& a, const auto& b) { return a.first > b.first; });
    growing.resize(2);
  }
  if (!growing.empty())
    plot.sentence = growth_sentence(view, growing);
  else if (range.hi > 0 && any_stream(view))
    plot.sentence = tr("No stream grows with depth.");
  if (range.hi / std::max(range.lo, 1e-30) > 100) {
    log_axis(plot.y, range.lo, range.hi);
  } else {
    plot.y.lo = 0;
    plot.y.hi = range.hi > 0 ? range.hi * 1.08 : 1;
    plot.y.max_ticks = 3;
    // The whole theory is shown as long as the data are of its size.
    for (const Band& band : plot.bands)
      if (const double top = band.hi[band.hi.size() - 1]; top < 2 * range.hi)
        plot.y.hi = std::max(plot.y.hi, top * 1.04);
  }
  put_hover(plot, options);
  plot.labels_inside = false;
  plot.pad_right = depth_pad_right(view, options.compact);
  return plot;
}

}  // namespace normscope::panels
