// Makes the plots that a cell's selector offers, and the triangles of residual dependency. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/spec/update_rule.h"

namespace normscope::panels {
namespace {

using namespace plot;
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
    const std::string label = metric == Metric::SpikeRatio ? label_without_second_moment(view) : "";
    return label.empty() ? tr("These runs do not measure this.")
                         : tr("{optimizer} keeps no second moment that a gradient could be held against.",
                              {{"optimizer", label}});
  }
  return view::any_stream(view) ? tr("These runs do not measure this.") : view::no_stream();
}

// The entropy where all visible keys weigh alike: the mean over queries of ln(number of keys).
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
  const char* const said = metric == Metric::TokenCosine
                               ? alike ? "{run}: tokens alike after the last layer, cosine {cosine}."
                                       : "Tokens stay apart: cosine at most {cosine} at the end."
                           : alike ? "{run}: input and output alike after the last layer, cosine {cosine}."
                                   : "Input and output stay apart: cosine at most {cosine} at the end.";
  return tr(said, {{"run", most.who()}, {"cosine", ui::decimals(most.value, 2)}});
}

std::string sentence_of(Metric metric, Best last, Best spread, int layers) {
  if (!last.run) return {};
  switch (metric) {
    case Metric::TokenCosine:
    case Metric::LayerCosine:
      return cosine_sentence(metric, last);
    case Metric::AttentionEntropy:
      return tr(view::has_both(*last.run)
                    ? "{run}'s last layer spreads its attention widest: {entropy} nats."
                    : "{run}'s layer {layer} spreads its attention widest: {entropy} nats.",
                {{"run", last.who()}, {"layer", layers}, {"entropy", ui::decimals(last.value, 2)}});
    default:
      break;
  }
  if (!spread.run || spread.value < 2) return tr("The layers of every run are alike within 2×.");
  const std::string times =
      spread.value < 10 ? ui::number(spread.value, 2) : ui::grouped(std::llround(spread.value));
  return tr("{run}'s layers differ by {times}×.", {{"run", spread.who()}, {"times", times}});
}

// Says how long the longest state is where one token dominates a run.
std::string dominant_sentence(const LabView& view, view::LabData& data, int step) {
  for (const RunView& run : view.runs)
    if (const auto tokens = token_shares(data, run, step))
      return tr(
          "One token dominates {run}: its state is {times} times as long as the median one, and β² "
          "over all tokens is mostly its own.",
          {{"run", run.letter}, {"times", ui::number(double(tokens->longest), 2)}});
  return {};
}

// Draws beside the shares over all tokens the medians of those by token, where one token dominates.
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
  if (metric == Metric::Gradient) return gradient_by_layer_plot(view, data, options);
  if (metric == Metric::HiddenNorm) return hidden_norm_plot(view, data, options);
  const MetricInfo& about = info(metric);
  PlotSpec plot;
  plot.id = fmt::format("{}-by-layer", about.id);
  plot.note = about.note;
  put_title(plot, about, about.by_layer);
  const int layers = view::most_layers(view);
  plot.x = layer_axis(layers);
  plot.x.lo = 0.4;
  plot.y.label = at_step(axis_of(view, about, options), options.step);
  double lo = std::numeric_limits<double>::infinity(), hi = 0, lowest = 0;
  Best last, spread;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    for (view::Side side : view::sides_of(run)) {
      DepthPoints points = along_depth(data, run, metric, options.matrix, options.step, side);
      if (!points.measured()) continue;
      for (float v : points.y)
        if (std::isfinite(v)) {
          hi = std::max(hi, double(v));
          lowest = std::min(lowest, double(v));
          if (v > 0) lo = std::min(lo, double(v));
        }
      const double end = last_finite(points.y);
      if (!last.run || end > last.value) last = {&run, end, side};
      if (const double s = spread_of(points.y); s > spread.value) spread = {&run, s, side};
      plot.series.push_back(layer_line(view, i, options.compact, side));
      plot.series.back().x = Column::of(std::move(points.x));
      plot.series.back().y = Column::of(std::move(points.y));
    }
  }
  plot.sentence = sentence_of(metric, last, spread, layers);
  if (metric == Metric::OwnShare) {
    add_medians(plot, view, data, options);
    if (const std::string said = dominant_sentence(view, data, options.step); !said.empty())
      plot.sentence = said + " " + tr("Dotted: the median by token.");
  }
  if (plot.series.empty() && view.step > 0) plot.sentence = not_measured(view, metric);
  if (metric == Metric::AttentionEntropy && last.run && !view::any_both(view))
    hi = std::max(hi, add_even_line(plot, last.run->spec->model));
  if (metric == Metric::TokenCosine) add_cosine_theory(plot, view, options.step);
  if (about.log && hi > 0) {
    log_axis(plot.y, lo, hi);
  } else {
    const double air = plot.lines.empty() ? 1.08 : 1.16;  // room for the name over a line at the top
    plot.y.lo = lowest < 0 ? lowest * 1.08 : 0;
    plot.y.hi = hi > 0 ? hi * air : 1;
    plot.y.max_ticks = 3;
  }
  if (options.hover_layer) plot.hover = *options.hover_layer + 1.0;
  plot.labels_inside = false;
  plot.pad_right = depth_pad_right(view, options.compact);
  return plot;
}

namespace {

// What the last state of a run is made of: 0 its newest branch, else the number of its parts.
struct StateOrigin {
  long parts = 0;
  size_t of = 0;
  bool operator==(const StateOrigin& other) const {
    return parts == other.parts && (parts == 0 || parts == kAll || of == other.of);
  }
  static constexpr long kAll = -1;
};

StateOrigin leaning_of(const Dependency& d) {
  const size_t count = d.rows.back().size();
  if (d.newest() > 0.8) return {0, count};
  if (d.parts() > 0.5 * static_cast<double>(count)) return {StateOrigin::kAll, count};
  return {std::max(1L, std::lround(d.parts())), count};
}

// Says "A leans on its newest branch, B on about 3 of 13, C on all."
std::string lean_sentence(const std::vector<std::pair<char, Dependency>>& runs) {
  struct Group {
    StateOrigin on;
    std::string letters;  // of those who lean on it
    size_t runs = 0;
  };
  std::vector<Group> groups;
  for (const auto& [letter, d] : runs) {
    const StateOrigin on = leaning_of(d);
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

// Has the triangles speak of weights, in colours on one scale: to 1, or to the next even tenth beyond the
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
    PlotSpec plot;
    plot.tile = view::colour_of(run);
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
      plots.front().sentence = not_measured(view, Metric::OwnShare);
  }
  return plots;
}

}  // namespace normscope::panels
