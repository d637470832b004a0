#include "app/course/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/course/map.h"
#include "app/course/tables.h"
#include "app/ui/widgets.h"
#include "training/spec/loss_means.h"
#include "training/spec/schedule.h"
#include "training/spec/spec.h"

namespace normscope::course {
namespace {

using namespace plot;

int run_index(const std::string& run) { return run.empty() ? 0 : run[0] - 'A'; }
Ink ink_of(const FigureLine& line) {
  return line.run.empty() ? Ink{Ink::Role::Ink2, 0, 1} : Ink::run(run_index(line.run));
}

Axis axis_of(const FigureAxis& a) {
  Axis axis{.scale = a.log ? AxisScale::Log : AxisScale::Linear, .lo = a.low, .hi = a.high, .label = a.label};
  for (double tick : a.ticks) {
    const double exponent = a.log ? std::log10(tick) : 0;
    const bool power =
        (exponent < -3.01 || exponent > 4.01) && std::abs(exponent - std::round(exponent)) < 1e-6;
    axis.ticks.push_back(
        {tick, power ? ui::power_of_ten(static_cast<int>(std::lround(exponent))) : ui::number(tick, 3)});
  }
  axis.max_ticks = 7;
  return axis;
}

Column column(const std::vector<double>& v) { return Column::of(std::vector<float>(v.begin(), v.end())); }

/// Keeps a line within the axis, so that it runs along the edge instead of through the ticks.
std::vector<double> clamped(std::vector<double> v, const FigureAxis& axis) {
  for (double& y : v)
    if (std::isfinite(y)) y = std::clamp(y, axis.low, axis.high);
  return v;
}

/// Keeps the values whose x lies on the axis, so that the number at a line's end belongs to its place.
std::vector<double> on_axis(const std::vector<double>& values, const std::vector<double>& x,
                            const FigureAxis& axis) {
  std::vector<double> kept;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] >= axis.low && x[i] <= axis.high) kept.push_back(values[i]);
  return kept;
}

/// Writes a loss with two decimals and any other number with two digits.
std::string value_text(double v, const FigureAxis& axis) {
  const bool plain = axis.loss && std::abs(v) < 1000;  // beyond it has exploded
  return plain ? ui::with_minus(ui::decimals(v, 2)) : ui::number(v, 2);
}

/// Writes the end as the texts of the lesson do, if one of its measures is that very number.
std::string end_text(const Lesson& lesson, const Figure& figure, const std::string& curve,
                     const CurveData& measured, double end) {
  const CurveSet line{{curve, measured}};
  for (const Measure& m : lesson.measures) {
    if (m.curve != curve || (m.take != "at" && m.take != "mean")) continue;
    Measure bare = m;
    bare.unit.clear();
    if (std::abs(evaluate(lesson, m, line) - end) <= 1e-9 * std::abs(end))
      return shown(end, bare, *lesson.words);
  }
  return value_text(end, figure.y);
}

const CurveBand* band_of(const std::string& curve, const FigureData& data) {
  if (!data.reference) return nullptr;
  const auto it = data.reference->curves.find(curve);
  return it == data.reference->curves.end() ? nullptr : &it->second;
}

/// What a line shows: the learner's measurement, or without any the mean of the five seeds. Empty while the learner's
/// run has not reached the curve.
CurveData data_of(const Lesson& lesson, const std::string& curve, const FigureData& data) {
  if (data.own)
    if (const auto it = data.own->find(curve); it != data.own->end() && !it->second.y.empty())
      return it->second;
  if (data.own && !belongs_to_way(lesson, *lesson.curve(curve)))
    return {};  // a way of a challenge keeps the mean: no learner trains it
  const CurveBand* band = band_of(curve, data);
  return band ? CurveData{band->x, band->mean} : CurveData{};
}

/// Whether a curve has so few points that an area between them would fill most of the plot.
bool lies_apart(const CurveBand& band) { return band.x.size() <= 3; }

/// The loss of each single step, faint: it lies behind the means of all lines.
plot::Series single_steps(const Lesson& lesson, const FigureLine& line, const std::vector<double>& x,
                          const std::vector<double>& y) {
  constexpr float kFaint = 0.3f;
  plot::Series s{.id = lesson.words->tr("{run}, single steps", {{"run", line.curve}})};
  s.ink = ink_of(line);
  s.x = column(x);
  s.y = column(y);
  s.dash = ui::Dash{};
  s.marker = ui::Marker::None;
  s.width = 1;
  s.alpha = kFaint;
  s.end_label = s.end_marker = false;
  return s;
}

/// The look and the name of a line; its points and its number are the caller's.
plot::Series series_of(const Lesson& lesson, const FigureLine& line, const FigureData& data) {
  plot::Series s{.id = line.curve};
  s.name =
      line.name.empty() ? run_label(lesson, line.run, data.changes, lesson.curve(line.curve)) : line.name;
  s.letter = letter_of(lesson, line);
  s.ink = ink_of(line);
  return s;
}

/// The mean of the seeds, thin, which the learner's own line follows and at last replaces. Its label gives way as soon
/// as the own line has one.
void add_recorded(const Lesson& lesson, const Figure& figure, const FigureLine& line, const FigureData& data,
                  const CurveBand& band, PlotSpec& plot) {
  const auto own = data.own->find(line.curve);
  const size_t reached = own == data.own->end() ? 0 : own->second.x.size();
  if (reached >= band.x.size()) return;
  const std::vector<double> x = on_axis(band.x, band.x, figure.x);
  const std::vector<double> mean = ends_in_means(figure) ? loss_means(band.x, band.mean) : band.mean;
  const std::vector<double> y = on_axis(mean, band.x, figure.x);
  if (y.empty()) return;
  plot::Series s = series_of(lesson, line, data);
  s.id += ".recorded";
  s.value = end_text(lesson, figure, line.curve, {x, on_axis(band.mean, band.x, figure.x)}, y.back());
  s.x = column(x);
  s.y = column(clamped(y, figure.y));
  s.width = ui::line::reference;
  s.dash = ui::Dash{};
  s.marker = ui::Marker::None;
  s.end_marker = false;
  s.end_label = reached == 0;
  plot.series.push_back(std::move(s));
}

void add_line(const Lesson& lesson, const Figure& figure, const FigureLine& line, const FigureData& data,
              PlotSpec& plot) {
  const CurveBand* band = band_of(line.curve, data);
  // The five seeds trained in the lesson's own setting, so they give no range for a changed run.
  if (band && shows_ranges(figure) && data.reference->seeds > 1 &&
      !data.changes.contains(lesson.curve(line.curve)->run)) {
    Band area{.id = line.curve, .ink = ink_of(line)};
    const auto seen = [&](const std::vector<double>& v) { return on_axis(v, band->x, figure.x); };
    area.x = column(seen(band->x));
    area.lo = column(clamped(seen(band->low), figure.y));
    area.hi = column(clamped(seen(band->high), figure.y));
    area.apart = lies_apart(*band);
    plot.bands.push_back(std::move(area));
    if (data.recorded && data.own) add_recorded(lesson, figure, line, data, *band, plot);
  }
  const CurveData whole = data_of(lesson, line.curve, data);
  const std::vector<double> x = on_axis(whole.x, whole.x, figure.x);
  const std::vector<double> single = on_axis(whole.y, whole.x, figure.x);
  if (single.empty()) return;
  const bool means = ends_in_means(figure);  // as texts state a loss
  const std::vector<double> y = means ? on_axis(loss_means(whole.x, whole.y), whole.x, figure.x) : single;
  if (means)
    plot.series.insert(plot.series.begin(), single_steps(lesson, line, x, clamped(single, figure.y)));
  plot::Series s = series_of(lesson, line, data);
  if (figure.ball.empty())  // else the ball tells
    s.value = end_text(lesson, figure, line.curve, {x, single}, y.back());
  s.x = column(x);
  s.y = column(clamped(y, figure.y));
  s.markers = y.size() <= 24 ? Markers::All : Markers::Sparse;
  plot.series.push_back(std::move(s));
}

void add_prediction(const Lesson& lesson, const Figure& figure, const FigureData& data, PlotSpec& plot) {
  if (data.drawn_x.empty()) return;
  plot::Series s;
  s.id = "prediction";
  s.name = lesson.words->tr("you drew");
  s.value = value_text(data.drawn_y.back(), figure.y);
  s.ink = {Ink::Role::Prediction, 0, 1};
  s.marker = ui::Marker::None;
  s.end_marker = false;
  s.x = column(data.drawn_x);
  s.y = column(clamped(data.drawn_y, figure.y));
  plot.series.push_back(std::move(s));
}

/// Adds the theories of a figure, each as a line or as a band.
void add_theory(const Figure& figure, PlotSpec& plot) {
  for (const Figure::Theory& theory : figure.theory) {
    if (theory.low == theory.high) {
      plot::Series s;
      s.id = theory.label;
      s.name = theory.label;
      s.ink = {Ink::Role::Ink3, 0, 1};
      s.x = column(theory.x);
      s.y = column(theory.low);
      s.width = ui::line::reference;
      s.dash = ui::Dash{ui::line::reference_on, ui::line::reference_off};
      s.marker = ui::Marker::None;
      s.end_marker = false;
      plot.series.push_back(std::move(s));
    } else {
      plot.bands.push_back({.id = theory.label,
                            .x = column(theory.x),
                            .lo = column(theory.low),
                            .hi = column(theory.high),
                            .ink = {Ink::Role::Ink3, 0, 1},
                            .theory = true,
                            .label = theory.label});
    }
  }
}

/// The map of a figure as far as it is measured: the learner's, or the one in measured.json.
const experiments::ShareMap* map_of(const Figure& figure, const FigureData& data) {
  const std::string key = figure.map_run + (figure.map_at_start ? " start" : " end");
  const auto* maps = data.maps ? data.maps : data.reference ? &data.reference->maps : nullptr;
  if (!maps) return nullptr;
  const auto it = maps->find(key);
  return it == maps->end() || it->second.empty() ? nullptr : &it->second;
}

PlotSpec map_plot(const Lesson& lesson, const Figure& figure, const FigureData& data) {
  PlotSpec plot{.id = figure.id, .title = figure.title, .note = figure.note};
  const experiments::ShareMap* map = map_of(figure, data);
  if (!map) return plot;
  plot.tile = run_index(figure.map_run);
  if (figure.river) {
    add_river(*map, plot, *lesson.words, figure.grows);
    return plot;
  }
  HeatMap heat;
  heat.rows = static_cast<int>(map->size());
  heat.columns = heat.rows + 1;
  std::vector<float> cells(static_cast<size_t>(heat.rows * heat.columns),
                           std::numeric_limits<float>::quiet_NaN());
  double low = 1e9, high = 0;
  for (int i = 0; i < heat.rows; ++i) {
    double sum = 0;
    const std::vector<double>& row = (*map)[static_cast<size_t>(i)];
    for (size_t j = 0; j < std::min(row.size(), static_cast<size_t>(heat.columns)); ++j) {
      cells[static_cast<size_t>(i * heat.columns) + j] = static_cast<float>(row[j]);
      sum += row[j];
    }
    low = std::min(low, sum);
    high = std::max(high, sum);
  }
  heat.cells = Column::of(std::move(cells));
  const Words& words = *lesson.words;
  heat.column_first = words.tr("input");
  heat.column_last = words.tr("branch {number}", {{"number", heat.rows}});
  heat.row_first = "1";
  heat.row_last = std::to_string(heat.rows);
  heat.upward = true;  // upper states are at the top, as in the diagram
  const std::string least = ui::decimals(low, 2), most = ui::decimals(high, 2);
  heat.below = words.tr("Σ of a row {least}–{most}", {{"least", least}, {"most", most}});
  plot.heat = std::move(heat);
  plot.sentence =
      words.tr("the shares of a state add up to {least} to {most}", {{"least", least}, {"most", most}});
  return plot;
}

}  // namespace

bool ends_in_means(const Figure& figure) { return figure.y.loss && figure.x.steps; }

bool is_of_means(const Lesson& lesson, const Figure& figure) {
  return std::ranges::any_of(figure.lines, [&](const FigureLine& line) {
    const Curve* curve = lesson.curve(line.curve);
    return curve && is_swept(*curve) && curve->y.starts_with("final_");
  });
}

std::string letter_of(const Lesson& lesson, const FigureLine& line) {
  const Curve& curve = *lesson.curve(line.curve);
  return !is_swept(curve) && curve.run == line.run && lesson.has_letter(line.run) ? line.run : "";
}

bool shows_ranges(const Figure& figure) { return figure.ball.empty(); }

bool ranges_as_bars(const Figure& figure, const Results& results) {
  return std::ranges::any_of(figure.lines, [&](const FigureLine& line) {
    const auto it = results.curves.find(line.curve);
    return it != results.curves.end() && lies_apart(it->second);
  });
}

const std::vector<double>* seen_values(const std::string& curve, const FigureData& data) {
  if (!data.draw_only.empty()) return nullptr;
  if (data.own) {
    const auto it = data.own->find(curve);
    return it == data.own->end() ? nullptr : &it->second.y;
  }
  const CurveBand* band = band_of(curve, data);
  return band ? &band->mean : nullptr;
}

std::optional<std::pair<double, double>> start_of(const Lesson& lesson, const std::string& curve,
                                                  const FigureData& data) {
  if (!lesson.curve(curve) || !data.reference) return std::nullopt;
  const auto it = data.reference->curves.find(curve);
  if (it == data.reference->curves.end() || it->second.mean.empty()) return std::nullopt;
  return std::pair{it->second.x[0], it->second.mean[0]};
}

PlotSpec figure_plot(const Lesson& lesson, const Figure& figure, const FigureData& data) {
  if (!figure.map_run.empty()) return map_plot(lesson, figure, data);
  PlotSpec plot{.id = figure.id,
                .title = figure.title,
                .note = figure.note,
                .x = axis_of(figure.x),
                .y = axis_of(figure.y)};
  const bool hidden = !data.draw_only.empty();
  for (const FigureLevel& level : figure.levels) {
    RefLine line{.label = level.label};
    if (level.letters) {
      if (!(data.level > 0)) continue;
      line.value = data.level;
      line.label += " " + ui::number(data.level, 3);
    } else if (!level.measure.empty()) {
      if (hidden || !data.reference) continue;
      const auto it = data.reference->measures.find(level.measure);
      if (it == data.reference->measures.end() || !std::isfinite(it->second.spread.mean)) continue;
      line.value = it->second.spread.mean;
      line.label += " " + shown(line.value, *lesson.measure(level.measure), *lesson.words);
    } else {
      line.value = *level.value;
    }
    plot.lines.push_back(std::move(line));
  }
  if (!hidden) {
    add_theory(figure, plot);
    if (!figure.cells.empty()) add_cell_map(*lesson.curve(figure.cells), data, plot, *lesson.words);
    for (const FigureLine& line : figure.lines) add_line(lesson, figure, line, data, plot);
    add_prediction(lesson, figure, data, plot);
    if (!figure.ball.empty())
      add_ball(lesson, *lesson.curve(figure.ball), data_of(lesson, figure.ball, data), data, plot);
  }
  return plot;
}

CurveData measure_one_step(const Curve& curve, const experiments::StudyRun& run, experiments::RunStore& runs,
                           const experiments::OnStep& on_step) {
  std::vector<double> y = runs.along_step(run, curve.from, curve.xs, on_step);
  const double before = y.front();  // the first rate is 0
  for (double& loss : y) loss -= before;
  return {curve.xs, std::move(y)};
}

std::optional<double> critical_rate_of(const CurveData& valley) {
  for (size_t i = 2; i < valley.y.size(); ++i) {
    const double below = valley.y[i - 1], above = valley.y[i];
    if (!(below <= 0 && above > 0)) continue;
    const double from = valley.x[i - 1], to = valley.x[i];
    return from + (to - from) * below / (below - above);
  }
  return std::nullopt;
}

double rate_in_use(const Lesson& lesson, const Curve& curve, const Changes& changes) {
  RunSpec spec = spec_of(lesson, curve.run, 1, changes);
  for (const Edit& edit : lesson.run(curve.run)->edits)
    if (edit.step <= curve.from) set_field(spec, edit.key, edit.value);
  return learning_rate(spec.train.schedule, curve.from);
}

namespace {

/// The index of the point at which the ball lies, the nearest measured one.
size_t resting_place(const CurveData& valley, double rate) {
  const auto nearest = std::ranges::min_element(
      valley.x, [&](double a, double b) { return std::abs(a - rate) < std::abs(b - rate); });
  return static_cast<size_t>(nearest - valley.x.begin());
}

/// The step of the arrow keys: as wide as the widest gap, so that one press always reaches another point.
double widest_part(const std::vector<double>& x) {
  double widest = 0;
  for (size_t i = 1; i < x.size(); ++i) widest = std::max(widest, x[i] - x[i - 1]);
  return widest;
}

/// The sentence for a measured point: it tells a step that overshoots from one that goes uphill at once.
std::string sentence_at(const Lesson& lesson, const Curve& curve, const CurveData& valley, size_t at) {
  const double change = valley.y[at];
  const auto shorter = valley.y.begin() + static_cast<std::ptrdiff_t>(at);
  const bool fell = std::any_of(valley.y.begin(), shorter, [](double y) { return y < 0; });
  const char* said =
      valley.x[at] == 0 ? "At a rate of 0 run {run} stands still: this is the loss before the step."
      : change < 0  ? "At a rate of {rate} this step of {run} lowers the loss of its batch by {change} nats."
      : change == 0 ? "At a rate of {rate} this step of {run} leaves the loss of its batch as it was."
      : fell        ? "At a rate of {rate} this step of {run} overshoots: it raises the loss of its batch by "
                      "{change} nats."
                    : "At a rate of {rate} this step of {run} raises the loss of its batch by {change} nats, "
                      "and a shorter one raises it too.";
  return lesson.words->tr(said, {{"run", curve.run},
                                 {"rate", ui::number(valley.x[at], 3)},
                                 {"change", ui::number(std::abs(change), 2)}});
}

/// A vertical line at a rate, with a label and a shorter one for narrow plots.
plot::RefLine upright(double rate, const char* said, const char* brief, const Words& words) {
  const std::string number = ui::number(rate, 2);
  plot::RefLine line{.value = rate,
                     .label = words.tr(said, {{"rate", number}}),
                     .short_label = words.tr(brief, {{"rate", number}}),
                     .horizontal = false};
  return line;
}

}  // namespace

void add_ball(const Lesson& lesson, const Curve& curve, const CurveData& valley, const FigureData& data,
              plot::PlotSpec& plot) {
  const Words& words = *lesson.words;
  plot::RefLine before;
  before.label = words.tr("before the step");
  plot.lines.push_back(before);
  if (valley.y.empty()) return;
  const double used = rate_in_use(lesson, curve, data.changes);
  plot.lines.push_back(upright(used, "rate in use {rate}", "in use {rate}", words));
  if (const std::optional<double> critical = critical_rate_of(valley))
    plot.lines.push_back(upright(*critical, "critical rate {rate}", "critical {rate}", words));
  const size_t at = resting_place(valley, data.ball.value_or(used));
  plot.sentence = sentence_at(lesson, curve, valley, at);
  plot.handles.push_back(
      {.name = "ball",
       .x = valley.x[at],
       .y = std::fmax(std::fmin(valley.y[at], plot.y.hi), plot.y.lo),  // NaN: the top
       .step = widest_part(valley.x),
       .help = words.tr("Another learning rate for this step: drag, or use the arrow keys."),
       .value = plot.sentence});
}

}  // namespace normscope::course
