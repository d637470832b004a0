// The plots by layer at a step. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/spec/update_rule.h"

namespace normscope::panels {
namespace {

using namespace view;
using namespace plot;
using Series = plot::Series;  // not the history's

// Adds run `worst`'s gradients at step 1 as a dotted line, named after all runs that began within 2 % of it.
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
  const std::string name = tr("{runs} at step 1", {{"runs", letters}});
  const size_t middle = start.size() / 2;
  plot.notes.push_back({double(middle + 1), start[middle], "", name, {Ink::Role::Ink3, 0, 1}, -36, -9});
  add_dotted(plot, Ink::Role::Ink3, name, start);
}

std::string matrix_gradient(const PlotOptions& options) {
  return std::string(kMatrices[options.matrix].path) + ".grad_norm";
}

// Finishes a plot by layer: the layer under the mouse, and room for labels at the right.
PlotSpec finished(PlotSpec plot, const LabView& view, const PlotOptions& options) {
  if (options.hover_layer) plot.hover = *options.hover_layer + 1.0;
  plot.labels_inside = false;
  plot.pad_right = depth_pad_right(view, options.compact);
  return plot;
}

}  // namespace

void add_dotted(PlotSpec& plot, Ink::Role ink, std::string id, std::vector<float> y) {
  Series s{.id = std::move(id),
           .y = Column::of(std::move(y)),
           .x0 = 1,
           .ink = {ink, 0, 1},
           .dash = ui::Dash{ui::line::reference_on, ui::line::reference_off},
           .width = ui::line::reference,
           .end_label = false,
           .end_marker = false};
  plot.series.insert(plot.series.begin(), std::move(s));
}

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
  Axis axis{.lo = 0.8, .hi = layers + 0.1};
  if (layers == 1) axis.hi = 1.2;
  axis.label = axis.short_label = tr("layer");
  axis.integer = true;
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

void put_title(PlotSpec& plot, const Number& about, const char* title) {
  plot.title = title;
  plot.question = about.question;
  plot.brief = about.brief;
}

PlotSpec gradient_by_layer_plot(const LabView& view, LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  plot.id = "gradient-by-layer";
  plot.note = tr(options.stream > 0 ? "root mean square of ∂L/∂s, log scale" : "‖∂L/∂W‖, log scale");
  put_title(plot, info(&kGradNorm), info(&kGradNorm).by_layer);
  plot.x = layer_axis(most_layers(view));
  plot.y.label = at_step(axis_of(view, &kGradNorm, options), options.step);
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
  return finished(std::move(plot), view, options);
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
  PlotSpec plot{.id = "hidden-norm"};
  put_title(plot, info(&kMeanSquare), info(&kMeanSquare).by_layer);
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
      // A chain's last layer is its answer.
      const size_t measured = values.size() - (has_stream(run) ? 0 : 1);
      if (measured > 1 && usable(values.front()) && values[measured - 1] > 2 * values.front())
        growing.emplace_back(values[measured - 1] / values.front(), whose(run, side));
      plot.series.push_back(layer_line(view, i, options.compact, side));
      plot.series.back().y = Column::of(std::move(values));
    }
  }
  if (sums) add_norm_theory(plot, view, range.hi);
  plot.note = sums ? info(&kMeanSquare).note : tr("mean square of each layer's output");
  plot.y.label = at_step(info(&kMeanSquare).axis, options.step);
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
  return finished(std::move(plot), view, options);
}

// ---- The plots by layer of all other metrics, and the triangles of residual dependency.

namespace {

using Series = plot::Series;  // not the history's

struct Best {
  const RunView* run = nullptr;
  double value = 0;
  view::Side side = view::Side::Main;

  std::string who() const { return whose(*run, side); }
};

// The last finite value of a line; NaN where there is none.
double last_finite(const std::vector<float>& values) {
  for (size_t i = values.size(); i-- > 0;)
    if (std::isfinite(values[i])) return values[i];
  return std::numeric_limits<double>::quiet_NaN();
}

/// The label of the runs' optimizer where none of them keeps Adam's v; else empty.
std::string label_without_second_moment(const LabView& view) {
  std::string label;
  for (const RunView& run : view.runs) {
    if (!run.spec || keeps_second_moment(run.spec->train.optimizer)) return {};
    label = rule_of(run.spec->train.optimizer).label;
  }
  return label;
}

std::string not_measured(const LabView& view, Metric metric) {
  if (of_any_layer(metric)) {
    const std::string label = metric == &kSpikeRatio ? label_without_second_moment(view) : "";
    return label.empty() ? tr("These runs do not measure this.")
                         : tr("{optimizer} keeps no second moment that a gradient could be held against.",
                              {{"optimizer", label}});
  }
  return view::any_stream(view) ? tr("These runs do not measure this.") : view::no_stream();
}

// The entropy of attention with equal weights on all visible keys: the mean over queries of ln(number of keys).
double even_attention(const ModelConfig& model) {
  const double T = model.sequence;
  return model.architecture == Architecture::Encoder ? std::log(T) : std::lgamma(T + 1) / T;
}

// Draws the level of even_attention() and returns it.
double add_even_line(PlotSpec& plot, const ModelConfig& model) {
  RefLine even;
  even.value = even_attention(model);
  even.label = tr("everywhere alike {level}", {{"level", ui::decimals(even.value, 2)}});
  even.label_left = true;
  plot.lines.push_back(even);
  return even.value;
}

std::string cosine_sentence(Metric metric, Best most) {
  const bool alike = most.value >= 0.8;
  const char* const said = metric == &kTokenCosine
                               ? alike ? "{run}: tokens alike after the last layer, cosine {cosine}."
                                       : "Tokens stay apart: cosine at most {cosine} at the end."
                           : alike ? "{run}: input and output alike after the last layer, cosine {cosine}."
                                   : "Input and output stay apart: cosine at most {cosine} at the end.";
  return tr(said, {{"run", most.who()}, {"cosine", ui::decimals(most.value, 2)}});
}

std::string sentence_of(Metric metric, Best last, Best spread, int layers) {
  if (!last.run) return {};
  if (metric == &kTokenCosine || metric == &kLayerCosine) return cosine_sentence(metric, last);
  if (metric == &kAttentionEntropy)
    return tr(view::has_both(*last.run)
                  ? "{run}'s last layer spreads its attention widest: {entropy} nats."
                  : "{run}'s layer {layer} spreads its attention widest: {entropy} nats.",
              {{"run", last.who()}, {"layer", layers}, {"entropy", ui::decimals(last.value, 2)}});
  if (!spread.run || spread.value < 2) return tr("The layers of every run are alike within 2×.");
  const std::string times =
      spread.value < 10 ? ui::number(spread.value, 2) : ui::grouped(std::llround(spread.value));
  return tr("{run}'s layers differ by {times}×.", {{"run", spread.who()}, {"times", times}});
}

// Says how long the longest state is, in the first run in which one token dominates; else empty.
std::string dominant_sentence(const LabView& view, view::LabData& data, int step) {
  for (const RunView& run : view.runs)
    if (const auto tokens = token_shares(data, run, step))
      return tr(
          "One token dominates {run}: its state is {times} times as long as the median one, and β² "
          "over all tokens is mostly its own.",
          {{"run", run.letter}, {"times", ui::number(double(tokens->longest), 2)}});
  return {};
}

// The values over their largest; NaN stays.
std::vector<float> over_largest(std::vector<float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, usable(v) ? v : 0);
  for (float& v : values) v = largest > 0 ? v / largest : std::numeric_limits<float>::quiet_NaN();
  return values;
}

// By how many times a line's first value exceeds its last.
double fall_of(const std::vector<float>& values) {
  const bool known = values.size() > 1 && usable(values.front()) && usable(values.back());
  return known ? double(values.front()) / double(values.back()) : 0;
}

std::string times_of(double fall) {
  return fall < 10 ? ui::number(fall, 2) : ui::grouped(std::llround(fall));
}

// Draws hearing (dashed) and the part of the gradient that tells tokens apart (dotted) beside a run's sight. Both are
// shares of the layer that has most, as their sizes follow the batch's.
void add_hearing(PlotSpec& plot, const Series& sight, const DepthPoints& hearing,
                 const DepthPoints& telling) {
  const auto add = [&](const DepthPoints& points, ui::Dash dash, const char* name) {
    Series s = sight;
    s.id += " " + tr(name);
    s.x = Column::of(std::vector<float>(points.x));
    s.y = Column::of(over_largest(points.y));
    s.dash = dash;
    s.end_label = s.end_marker = false;
    plot.series.push_back(std::move(s));
  };
  if (hearing.measured()) add(hearing, {6, 4}, "hearing");
  if (telling.measured())
    add(telling, {ui::line::reference_on, ui::line::reference_off}, "what tells tokens apart");
}

// Says by how much sight falls on the way up and hearing on the way down, of the run that loses most of both.
std::string sight_sentence(const Best& worst, const std::vector<float>& sight,
                           const std::vector<float>& hearing, const std::vector<float>& telling) {
  const double up = fall_of(sight), down = fall_of(hearing) > 0 ? 1 / fall_of(hearing) : 0;
  if (!worst.run || !(up > 0) || !(down > 0)) return {};
  if (up < 2 && down < 2) return tr("All layers see and hear about alike.");
  return tr("{run}: sight falls {up}×, hearing {down}×, what both leave {flat}×.",
            {{"run", worst.who()},
             {"up", times_of(up)},
             {"down", times_of(down)},
             {"flat", times_of(spread_of(telling))}});
}

PlotSpec sight_plot(const LabView& view, view::LabData& data, const PlotOptions& options) {
  const Number& about = info(&kSight);
  PlotSpec plot{.id = "sight-by-layer", .note = tr("log scale; dashed: hearing; dotted: what both leave")};
  put_title(plot, about, about.by_layer);
  plot.x = layer_axis(view::most_layers(view));
  plot.y.label = at_step(axis_of(view, &kSight, options), options.step);
  Range range;
  Best worst;
  for (size_t i = 0; i < view.runs.size(); ++i)
    for (const view::Side side : view::sides_of(view.runs[i])) {
      const auto along = [&](Metric metric) {
        return along_depth(data, view.runs[i], metric, options.matrix, options.step, side);
      };
      DepthPoints sight = along(&kSight);
      if (!sight.measured()) continue;
      const DepthPoints hearing = along(&kHearing), telling = along(&kTelling);
      if (const double lost = fall_of(sight.y); lost > worst.value) {
        worst = {&view.runs[i], lost, side};
        plot.sentence = sight_sentence(worst, sight.y, hearing.y, telling.y);
      }
      Series line = layer_line(view, i, options.compact, side);
      line.x = Column::of(std::move(sight.x));
      line.y = Column::of(std::move(sight.y));
      plot.series.push_back(line);
      add_hearing(plot, line, hearing, telling);
    }
  for (const Series& s : plot.series)
    for (const float v : s.y.values) range.add(v);
  if (plot.series.empty() && view.step > 0) plot.sentence = not_measured(view, &kSight);
  log_axis(plot.y, range.lo, range.hi);
  return finished(std::move(plot), view, options);
}

// Draws each run's token identity at step 1, before any training, as a dotted line.
void add_untrained(PlotSpec& plot, const LabView& view, view::LabData& data, const PlotOptions& options) {
  for (size_t i = 0; i < view.runs.size() && options.step > 1; ++i) {
    if (view.runs[i].forked_from >= 0) continue;
    DepthPoints start = along_depth(data, view.runs[i], &kIdentity, options.matrix, 1);
    if (!start.measured()) continue;
    Series s = layer_line(view, i, options.compact, view::Side::Main);
    s.id += " " + tr("untrained");
    s.x = Column::of(std::move(start.x));
    s.y = Column::of(std::move(start.y));
    s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off};
    s.end_label = s.end_marker = false;
    plot.series.push_back(std::move(s));
  }
}

// Says how much of what the top layer reads each run's token still fixes, of the run in which that is least.
std::string identity_sentence(const LabView& view, view::LabData& data, const PlotOptions& options) {
  Best least{.value = 2};
  for (const RunView& run : view.runs)
    for (const view::Side side : view::sides_of(run)) {
      const double top =
          last_finite(along_depth(data, run, &kIdentity, options.matrix, options.step, side).y);
      if (top < least.value) least = {&run, top, side};
    }
  if (!least.run) return {};
  return tr("{run}: at the top the token fixes {share} %.",
            {{"run", least.who()}, {"share", std::lround(100 * least.value)}});
}

// Adds dotted lines with the shares' medians over tokens, for runs in which one token dominates.
void add_medians(PlotSpec& plot, const LabView& view, view::LabData& data, const PlotOptions& options) {
  for (size_t i = 0; i < view.runs.size(); ++i) {
    auto tokens = token_shares(data, view.runs[i], options.step);
    if (!tokens) continue;
    Series s = layer_line(view, i, options.compact, view::Side::Main);
    s.id += " " + tr("by token, median");
    s.x = Column::of(std::move(tokens->medians.x));
    s.y = Column::of(std::move(tokens->medians.y));
    s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off};
    s.end_label = s.end_marker = false;
    plot.series.push_back(std::move(s));
  }
}

}  // namespace

PlotSpec depth_plot(const LabView& view, view::LabData& data, const PlotOptions& options, Metric metric) {
  if (metric == &kGradNorm) return gradient_by_layer_plot(view, data, options);
  if (metric == &kMeanSquare) return hidden_norm_plot(view, data, options);
  if (metric == &kSight) return sight_plot(view, data, options);
  const Number& about = info(metric);
  PlotSpec plot{.id = fmt::format("{}-by-layer", about.id), .note = about.note};
  put_title(plot, about, about.by_layer);
  const int layers = view::most_layers(view);
  plot.x = layer_axis(layers);
  plot.x.lo = 0.4;
  plot.y.label = at_step(axis_of(view, metric, options), options.step);
  Range range;
  Best last, spread;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    for (view::Side side : view::sides_of(run)) {
      DepthPoints points = along_depth(data, run, metric, options.matrix, options.step, side);
      if (!points.measured()) continue;
      for (float v : points.y) range.add(v);
      const double end = last_finite(points.y);
      if (!last.run || end > last.value) last = {&run, end, side};
      if (const double s = spread_of(points.y); s > spread.value) spread = {&run, s, side};
      plot.series.push_back(layer_line(view, i, options.compact, side));
      plot.series.back().x = Column::of(std::move(points.x));
      plot.series.back().y = Column::of(std::move(points.y));
    }
  }
  plot.sentence = sentence_of(metric, last, spread, layers);
  if (metric == &kOwnShare) {
    add_medians(plot, view, data, options);
    if (const std::string said = dominant_sentence(view, data, options.step); !said.empty())
      plot.sentence = said + " " + tr("Dotted: the median by token.");
  }
  if (metric == &kIdentity && !plot.series.empty()) {
    add_untrained(plot, view, data, options);
    plot.sentence = identity_sentence(view, data, options) + " " + tr("Dotted: untrained.");
    range.add(1);
  }
  if (plot.series.empty() && view.step > 0) plot.sentence = not_measured(view, metric);
  if (metric == &kAttentionEntropy && last.run && !view::any_both(view) &&
      last.run->spec->model.attention.window == 0)
    range.hi = std::max(range.hi, add_even_line(plot, last.run->spec->model));
  if (metric == &kTokenCosine) add_cosine_theory(plot, view, options.step);
  if (about.log && range.hi > 0) {
    log_axis(plot.y, range.lo, range.hi);
  } else {
    const double air = plot.lines.empty() ? 1.08 : 1.16;  // room for the name over a line at the top
    plot.y.lo = range.lowest * 1.08;
    plot.y.hi = range.hi > 0 ? range.hi * air : 1;
    plot.y.max_ticks = 3;
  }
  return finished(std::move(plot), view, options);
}

namespace {

// How many parts make up a run's last state: 0: the newest branch dominates; kAll: more than half of all parts.
struct StateOrigin {
  long parts = 0;
  size_t of = 0;
  bool operator==(const StateOrigin& other) const {
    return parts == other.parts && (parts == 0 || parts == kAll || of == other.of);
  }
  static constexpr long kAll = -1;
};

StateOrigin origin_of(const Dependency& d) {
  const size_t count = d.rows.back().size();
  if (d.newest() > 0.8) return {0, count};
  if (d.parts() > 0.5 * static_cast<double>(count)) return {StateOrigin::kAll, count};
  return {std::max(1L, std::lround(d.parts())), count};
}

// Says "A leans on its newest branch, B on about 3 of 13, C on all."
std::string lean_sentence(const std::vector<std::pair<char, Dependency>>& runs) {
  struct Group {
    StateOrigin on;
    std::string letters;  // of the group's runs
    size_t runs = 0;
  };
  std::vector<Group> groups;
  for (const auto& [letter, d] : runs) {
    const StateOrigin on = origin_of(d);
    auto same = std::ranges::find(groups, on, &Group::on);
    if (same == groups.end()) same = groups.insert(groups.end(), {on, ""});
    same->letters += (same->runs++ ? ", " : "") + std::string(1, letter);
  }
  const auto what = [](const Group& g) {
    if (g.on.parts == 0) return tr("its newest branch | their newest branch", {{"count", g.runs}});
    if (g.on.parts == StateOrigin::kAll) return tr("all");
    return tr("about {parts} of {all}", {{"parts", g.on.parts}, {"all", g.on.of}});
  };
  std::string others;
  for (size_t i = 1; i < groups.size(); ++i)
    others += tr(", {runs} on {what}", {{"runs", groups[i].letters}, {"what", what(groups[i])}});
  const Group& first = groups.front();
  return tr("{runs} leans on {what}{others}. | {runs} lean on {what}{others}.",
            {{"count", first.runs}, {"runs", first.letters}, {"what", what(first)}, {"others", others}});
}

// Says "The output reads about 9 of 13 in A, 3 of 13 in B."
std::string reads_sentence(const std::vector<std::pair<char, Dependency>>& runs) {
  std::string each;
  for (const auto& [letter, weights] : runs)
    each += (each.empty() ? "" : ", ") +
            tr("about {parts} of {all} in {run}", {{"parts", std::lround(weights.parts())},
                                                   {"all", weights.rows.back().size()},
                                                   {"run", std::string(1, letter)}});
  return tr("The output reads {runs}.", {{"runs", each}});
}

HeatMap triangle_of(const Dependency& d, const RunView& run, const PlotOptions& options) {
  HeatMap heat;
  heat.rows = static_cast<int>(d.rows.size());
  heat.columns = heat.rows + 1;
  std::vector<float> cells(static_cast<size_t>(heat.rows) * static_cast<size_t>(heat.columns),
                           std::numeric_limits<float>::quiet_NaN());
  for (size_t i = 0; i < d.rows.size(); ++i)
    std::copy(d.rows[i].begin(), d.rows[i].end(),
              cells.begin() + static_cast<std::ptrdiff_t>(i * static_cast<size_t>(heat.columns)));
  heat.cells = Column::of(std::move(cells));
  heat.row_first = "1";
  heat.row_last = fmt::format("{}", heat.rows);
  heat.column_first = tr("input");
  heat.column_last = tr("branch {branch}", {{"branch", heat.rows}});
  heat.column_last_short = fmt::format("{}", heat.rows);
  const auto [lo, hi] = std::ranges::minmax_element(d.sums);
  heat.below = tr("Σ rows {low}–{high}", {{"low", ui::decimals(*lo, 2)}, {"high", ui::decimals(*hi, 2)}});
  heat.below_short = fmt::format("Σ {}–{}", ui::decimals(*lo, 2), ui::decimals(*hi, 2));
  const int per_layer =
      static_cast<int>(view::subs_of(view::has_both(run) && options.side == view::Side::Main).size());
  if (options.hover_layer && *options.hover_layer < view::layers_of(run, options.side)) {
    heat.marked_row = per_layer * *options.hover_layer;
    heat.marked_rows = per_layer;
  }
  return heat;
}

// Labels the triangles as weights and gives them one colour scale: to 1, or to the next multiple of 0.2 above the
// largest. Learned weights can be negative.
void put_weight_words(std::vector<PlotSpec>& plots, const LabView& view, int step) {
  float most = 1, least = 0;
  for (const PlotSpec& plot : plots)
    for (size_t i = 0; plot.heat && i < plot.heat->cells.size(); ++i)
      if (const float weight = plot.heat->cells[i]; std::isfinite(weight)) {
        most = std::max(most, std::abs(weight));
        least = std::min(least, weight);
      }
  for (size_t i = 0; i < plots.size(); ++i) {
    plots[i].id = fmt::format("depth-weights-{}", view.runs[i].letter);
    plots[i].title = tr("Weights over depth");
    plots[i].question = tr("what does each sub-layer read?");
    plots[i].brief = tr("who reads what?");
    plots[i].y.label = of_run(at_step(tr("weight over depth"), step), view.runs[i]);
    if (!plots[i].heat) continue;
    plots[i].heat->weights = true;
    plots[i].heat->full = std::ceil(5 * most) / 5;
    plots[i].heat->signed_data = least < 0;
  }
}

}  // namespace

bool shows_weights(const LabView& view, const PlotOptions& options) {
  return options.weights && view::any_over_depth(view);
}

std::vector<PlotSpec> dependency_plots(const LabView& view, view::LabData& data, const PlotOptions& options) {
  const bool weights = shows_weights(view, options);
  std::vector<PlotSpec> plots;
  std::vector<std::pair<char, Dependency>> measured;
  for (const RunView& run : view.runs) {
    PlotSpec plot{.tile = view::colour_of(run)};
    Dependency d = weights ? depth_weights(data, run, options.step, options.side)
                           : dependency(data, run, options.step, options.side);
    if (d.measured()) {
      plot.heat = triangle_of(d, run, options);
      measured.emplace_back(run.letter, std::move(d));
    }
    plots.push_back(std::move(plot));
  }
  if (weights) put_weight_words(plots, view, options.step);
  if (!plots.empty()) {
    const std::string dominant = weights ? "" : dominant_sentence(view, data, options.step);
    if (!dominant.empty())
      plots.front().sentence = dominant;
    else if (!measured.empty())
      plots.front().sentence = weights ? reads_sentence(measured) : lean_sentence(measured);
    else if (view.step > 0)
      plots.front().sentence = not_measured(view, &kOwnShare);
  }
  return plots;
}

// ---- The two stacks of an encoder-decoder in the plots by layer: the style of their lines, and sentences about
// both.

std::string whose(const RunView& run, view::Side side) {
  if (!view::has_both(run)) return view::letter_of(run);
  const std::string& stack = tr(side == view::Side::Main ? "decoder" : "encoder");
  return tr("{run}'s {stack}", {{"run", run.letter}, {"stack", stack}});
}

void dress_line(plot::Series& s, const RunView& run, view::Side side, bool compact) {
  if (!view::has_both(run)) return;
  const bool decoder = side == view::Side::Main;
  const std::string& stack = tr(decoder ? "decoder" : "encoder");
  s.id = fmt::format("{} {}", run.letter, stack);
  s.name = compact ? stack : tr(decoder ? "dec." : "enc.");
  if (side == view::Side::Main) return;
  s.width = 1.3f;
  s.markers = plot::Markers::None;
}

plot::Series layer_line(const LabView& view, size_t index, bool compact, view::Side side) {
  const RunView& run = view.runs[index];
  plot::Series s;
  s.id = view::letter_of(run);
  s.letter = s.id;
  s.name = short_label(view, index);
  s.x0 = 1;
  s.ink = plot::Ink::run(view::colour_of(run));
  s.markers = plot::Markers::All;
  s.end_marker = false;
  dress_line(s, run, side, compact);
  return s;
}

float depth_pad_right(const LabView& view, bool compact) {
  return compact ? 140.f : view::any_both(view) ? 62.f : 30.f;
}

std::string stacks_sentence(char letter, const std::vector<float>& decoder,
                            const std::vector<float>& encoder) {
  const auto way = [](const std::vector<float>& v) {
    if (v.size() < 2 || !view::usable(v.front()) || !view::usable(v.back())) return std::string();
    const double ratio = double(v.back()) / v.front(), factor = std::max(ratio, 1 / ratio);
    if (factor < 1.25) return tr("is flat");
    const std::string times = factor < 20 ? ui::decimals(factor, 1) : ui::grouped(std::llround(factor));
    return tr(ratio > 1 ? "falls {times}×" : "grows {times}×", {{"times", times}});
  };
  const std::string low = way(decoder), high = way(encoder);
  if (low.empty() || high.empty()) return {};
  return tr("Going down {run}: decoder {decoder}, encoder {encoder}.",
            {{"run", letter}, {"decoder", low}, {"encoder", high}});
}

}  // namespace normscope::panels
