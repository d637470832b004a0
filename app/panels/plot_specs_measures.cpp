// The plots that a cell's selector brings, and the triangles of residual dependency. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace plot;
using Series = plot::Series;  // not the history's

struct Best {
  const RunView* run = nullptr;
  double value = 0;
  Side side = Side::Main;

  std::string who() const {
    return has_both(*run) ? fmt::format("{}'s {}", run->letter, side_word(side)) : letter_of(*run);
  }
};

// The finite value of largest size at the last place of a line, and whose it is.
double last_finite(const std::vector<float>& values) {
  for (size_t i = values.size(); i-- > 0;)
    if (std::isfinite(values[i])) return values[i];
  return std::numeric_limits<double>::quiet_NaN();
}

const char* not_measured(const LabView& view) {
  return any_stream(view) ? "These runs do not measure this." : kNoStream;
}

// Entropy of attention that looks at all it may see alike: mean over queries of ln(number of keys).
double even_attention(const ModelConfig& model) {
  const double T = model.sequence;
  return model.architecture == Architecture::Encoder ? std::log(T) : std::lgamma(T + 1) / T;
}

// The level of that, and its value.
double add_even_line(PlotSpec& plot, const ModelConfig& model) {
  RefLine even;
  even.value = even_attention(model);
  even.label = fmt::format("everywhere alike {:.2f}", even.value);
  even.label_left = true;
  plot.lines.push_back(even);
  return even.value;
}

std::string cosine_sentence(Best most, const char* what) {
  if (!most.run) return {};
  if (most.value >= 0.8)
    return fmt::format("{}: {} alike after the last layer, cosine {:.2f}.", most.who(), what, most.value);
  return fmt::format("{} stay apart: cosine at most {:.2f} at the end.",
                     std::string(1, static_cast<char>(std::toupper(what[0]))) + (what + 1), most.value);
}

std::string sentence_of(Metric metric, Best last, Best spread, int layers) {
  if (!last.run) return {};
  switch (metric) {
    case Metric::TokenCosine:
      return cosine_sentence(last, "tokens");
    case Metric::LayerCosine:
      return cosine_sentence(last, "input and output");
    case Metric::AttentionEntropy:
      if (has_both(*last.run))
        return fmt::format("{}'s last layer spreads its attention widest: {:.2f} nats.", last.who(),
                           last.value);
      return fmt::format("{}'s layer {} spreads its attention widest: {:.2f} nats.", last.run->letter, layers,
                         last.value);
    default:
      break;
  }
  if (!spread.run || spread.value < 2) return "The layers of every run are alike within 2×.";
  return fmt::format(
      "{}'s layers differ by {}×.", spread.who(),
      spread.value < 10 ? ui::number(spread.value, 2) : ui::grouped(std::llround(spread.value)));
}

}  // namespace

PlotSpec depth_plot(const LabView& view, LabData& data, const PlotOptions& options, Metric metric) {
  if (metric == Metric::Gradient) return gradient_by_layer_plot(view, data, options);
  if (metric == Metric::HiddenNorm) return hidden_norm_plot(view, data, options);
  const MetricInfo& about = info(metric);
  PlotSpec plot;
  plot.id = fmt::format("{}-by-layer", about.id);
  plot.note = about.note;
  put_title(plot, about, about.by_layer);
  const int layers = most_layers(view);
  plot.x = layer_axis(layers);
  plot.x.lo = 0.4;
  plot.y.label = fmt::format("{}{} at step {}", about.axis,
                             about.of_matrix ? std::string(" of ") + matrix_label(view, options.matrix) : "",
                             ui::grouped(options.step));
  double lo = std::numeric_limits<double>::infinity(), hi = 0, lowest = 0;
  Best last, spread;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    for (Side side : sides_of(run)) {
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
  if (plot.series.empty() && view.step > 0) plot.sentence = not_measured(view);
  if (metric == Metric::AttentionEntropy && last.run && !any_both(view))
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

// What the last state of a run is made of: 0 its newest branch, otherwise so many of its parts.
struct Leaning {
  long parts = 0;
  size_t of = 0;
  bool operator==(const Leaning& other) const {
    return parts == other.parts && (parts == 0 || parts == kAll || of == other.of);
  }
  static constexpr long kAll = -1;
};

Leaning leaning_of(const Dependency& d) {
  const size_t count = d.rows.back().size();
  if (d.newest() > 0.8) return {0, count};
  if (d.parts() > 0.5 * static_cast<double>(count)) return {Leaning::kAll, count};
  return {std::max(1L, std::lround(d.parts())), count};
}

// "A leans on its newest branch, B on about 3 of 13, C on all."
std::string lean_sentence(const std::vector<std::pair<char, Dependency>>& runs) {
  std::vector<std::pair<Leaning, std::string>> groups;  // what is leant on, and who leans on it
  for (const auto& [letter, d] : runs) {
    const Leaning what = leaning_of(d);
    auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == what; });
    if (same == groups.end())
      groups.emplace_back(what, std::string(1, letter));
    else
      same->second += std::string(", ") + letter;
  }
  std::string text;
  for (const auto& [what, letters] : groups) {
    const bool one = letters.size() == 1;
    text += (text.empty() ? "" : ", ") + letters;
    text += text.size() == letters.size() ? one ? " leans on " : " lean on " : " on ";
    if (what.parts == 0)
      text += one ? "its newest branch" : "their newest branch";
    else
      text += what.parts == Leaning::kAll ? "all" : fmt::format("about {} of {}", what.parts, what.of);
  }
  return text + ".";
}

}  // namespace

std::vector<PlotSpec> dependency_plots(const LabView& view, LabData& data, const PlotOptions& options) {
  std::vector<PlotSpec> plots;
  std::vector<std::pair<char, Dependency>> measured;
  for (const RunView& run : view.runs) {
    PlotSpec plot;
    plot.tile = colour_of(run);
    Dependency d = dependency(data, run, options.step, options.side);
    if (d.measured()) {
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
      heat.column_first = "input";
      heat.column_last = fmt::format("branch {}", heat.rows);
      heat.column_last_short = fmt::format("{}", heat.rows);
      const auto [lo, hi] = std::minmax_element(d.sums.begin(), d.sums.end());
      heat.below = fmt::format("Σ rows {:.2f}–{:.2f}", *lo, *hi);
      heat.below_short = fmt::format("Σ {:.2f}–{:.2f}", *lo, *hi);
      const int per_layer = static_cast<int>(subs_of(has_both(run) && options.side == Side::Main).size());
      if (options.hover_layer && *options.hover_layer < layers_of(run, options.side)) {
        heat.marked_row = per_layer * *options.hover_layer;
        heat.marked_rows = per_layer;
      }
      plot.heat = std::move(heat);
      measured.emplace_back(run.letter, std::move(d));
    }
    plots.push_back(std::move(plot));
  }
  if (!plots.empty()) {
    if (!measured.empty())
      plots.front().sentence = lean_sentence(measured);
    else if (view.step > 0)
      plots.front().sentence = not_measured(view);
  }
  return plots;
}

}  // namespace normscope::lab
