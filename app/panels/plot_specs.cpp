// The loss plot, and the code that the plots over time share. See plot_specs.h.
#include "app/panels/plot_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "app/plot/plot_axis.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/data/task.h"
#include "training/io/text.h"
#include "training/measure/theory/theory.h"
#include "training/measure/verdict.h"
#include "training/spec/loss_means.h"

namespace normscope::panels {
namespace {

using namespace plot;

// Splits "Post-LN, warm-up 200" into "Post-LN" and "warm-up 200".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= name.size();) {
    const size_t end = std::min(name.find(", ", from), name.size());
    parts.push_back(name.substr(from, end - from));
    from = end + 2;
  }
  return parts;
}

bool has_part(const RunView& run, const std::string& part) {
  const std::vector<std::string> parts = parts_of(run.name);
  return std::ranges::find(parts, part) != parts.end();
}

// Says "B and C".
std::string listed(const std::vector<std::string>& letters) { return in_words(letters, tr("and")); }

// Says "B left the line of letter frequencies at step 214, A at step 480."; `that`: a sentence before names the line.
std::string leavers_sentence(const LabView& view, bool that, bool brief) {
  std::vector<const RunView*> leavers;
  std::vector<std::string> below;
  for (const RunView& run : view.runs) {
    if (run.learning_since == 0 || run.state == RunState::Stuck) continue;
    if (run.history && began_below(run.history->events()))
      below.push_back(view::letter_of(run));
    else
      leavers.push_back(&run);
  }
  if (!below.empty() && leavers.empty())
    return tr(
        "{runs} was below the line of {frequencies} from the first step on. | {runs} were below "
        "the line of {frequencies} from the first step on.",
        {{"count", below.size()},
         {"runs", listed(below)},
         {"frequencies", words::spoken(frequencies_of(view.unit))}});
  if (leavers.empty()) return {};
  std::ranges::stable_sort(
      leavers, [](const RunView* a, const RunView* b) { return a->learning_since < b->learning_since; });
  std::string others;
  for (size_t i = 1; i < leavers.size(); ++i)
    others += tr(brief ? ", {run} at {step}" : ", {run} at step {step}",
                 {{"run", leavers[i]->letter}, {"step", leavers[i]->learning_since}});
  return tr(that ? "{run} left that line at step {step}{others}."
                 : "{run} left the line of {frequencies} at step {step}{others}.",
            {{"run", leavers.front()->letter},
             {"frequencies", words::spoken(frequencies_of(view.unit))},
             {"step", leavers.front()->learning_since},
             {"others", others}});
}

std::string loss_sentence(const LabView& view) {
  std::vector<std::string> stuck, broken, sentences;
  for (const RunView& run : view.runs) {
    if (run.state == RunState::NonFinite)
      broken.push_back(view::letter_of(run));
    else if (run.state == RunState::Stuck)
      stuck.push_back(view::letter_of(run));
  }
  const bool brief = view.runs.size() > 3;
  if (!broken.empty())
    sentences.push_back(tr("{runs} is no longer finite. | {runs} are no longer finite.",
                           {{"count", broken.size()}, {"runs", listed(broken)}}));
  if (!stuck.empty())
    sentences.push_back(
        tr(brief ? "{runs} knows only {frequencies}. | {runs} know only {frequencies}."
                 : "{runs} knows only how often each {unit} occurs. | {runs} know only how often each "
                   "{unit} occurs.",
           {{"count", stuck.size()},
            {"runs", listed(stuck)},
            {"unit", words::spoken(view.unit)},
            {"frequencies", words::spoken(frequencies_of(view.unit))}}));
  if (std::string left = leavers_sentence(view, !stuck.empty(), brief); !left.empty())
    sentences.push_back(std::move(left));
  const bool afresh =
      std::ranges::all_of(view.runs, [](const RunView& run) { return run.spec->train.init_from.empty(); });
  if (sentences.empty() && view.step > 0 && afresh)
    return tr("Every model first learns how often each {unit} occurs.", {{"unit", words::spoken(view.unit)}});
  return fmt::format("{}", fmt::join(sentences, " "));
}

// Compares the two runs that lie farthest apart at the last step that all bands reach. It is
// empty without bands of two runs.
std::string variability_sentence(const LabView& view) {
  std::vector<const RunView*> known;
  size_t step = 0;
  for (const RunView& run : view.runs)
    if (run.spread && run.spread->seeds > 1 && !run.spread->mean.empty()) {
      step = known.empty() ? run.spread->mean.size() : std::min(step, run.spread->mean.size());
      known.push_back(&run);
    }
  if (known.size() < 2) return {};
  const auto mean = [step](const RunView* run) { return run->spread->mean[step - 1]; };
  const auto [low, high] = std::ranges::minmax_element(
      known, [&](const RunView* a, const RunView* b) { return mean(a) < mean(b); });
  if (low == high) return {};
  const bool apart = (*low)->spread->high[step - 1] < (*high)->spread->low[step - 1];
  const int seeds = std::min((*low)->spread->seeds, (*high)->spread->seeds);
  return tr(apart ? "Not luck: {low} lies below {high} at step {step} with each of {seeds} other seeds."
                  : "It may be luck: {low} and {high} overlap at step {step} over {seeds} other seeds.",
            {{"low", (*low)->letter}, {"high", (*high)->letter}, {"step", step}, {"seeds", seeds}});
}

void put_spread(PlotSpec& plot, const RunView& run) {
  if (!run.spread || run.spread->mean.size() < 2) return;
  Band band;
  band.id = tr("{run} with {count} other seed | {run} with {count} other seeds",
               {{"run", run.letter}, {"count", run.spread->seeds}});
  band.ink = Ink::run(view::colour_of(run));
  std::vector<float> x(run.spread->mean.size());
  std::iota(x.begin(), x.end(), 1.f);
  band.x = Column::of(std::move(x));
  band.lo = {run.spread->low, run.spread};
  band.hi = {run.spread->high, run.spread};
  plot.bands.push_back(std::move(band));
}

// The levels of letter frequencies alone and of the text's entropy.
void put_levels(PlotSpec& plot, const LabView& view) {
  if (view.unigram_entropy > 0) {
    RefLine entropy;
    entropy.value = view.unigram_entropy;
    entropy.label = words::spoken(frequencies_of(view.unit)) + " " + ui::decimals(view.unigram_entropy, 2);
    entropy.help = view::meaning("unigram");
    plot.lines.push_back(std::move(entropy));
  }
  if (view.entropy_rate > 0) {
    RefLine floor{.value = view.entropy_rate};
    const words::Place level{"level", ui::decimals(view.entropy_rate, 2)};
    floor.short_label = tr("entropy of the text {level}", {level});
    floor.label = tr("entropy of the text {level}, no model can do better", {level});
    floor.label_left = floor.label_below = floor.fill_below = true;
    floor.help = view::meaning("entropy");
    plot.lines.push_back(std::move(floor));
  }
}

std::string value_text(const Column& losses) {
  const auto end = static_cast<double>(losses[losses.size() - 1]);
  return std::isfinite(end) ? ui::decimals(end, 2) : "–";
}

// The loss of single steps, faint, and over it the mean that all numbers state, which has the label.
void put_losses(PlotSpec& plot, const LabView& view, view::LabData& data, const PlotOptions& options) {
  const auto line_of = [](const std::shared_ptr<const view::Line>& line, const RunView& run) {
    plot::Series s{.x = {line->x, line}, .y = {line->y, line}, .ink = Ink::run(view::colour_of(run))};
    return s;
  };
  std::vector<plot::Series> means;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    if (data.loss(run)->empty()) continue;
    plot::Series mean = line_of(data.mean_loss(run), run);
    mean.id = mean.letter = view::letter_of(run);
    mean.name = short_label(view, i);
    mean.value = value_text(mean.y);
    mean.decimals = options.follows ? -1 : 2;
    mean.markers = Markers::Sparse;
    plot.series.push_back(single_steps(mean, line_of(data.loss(run), run).y));
    means.push_back(std::move(mean));
  }
  for (plot::Series& mean : means) plot.series.push_back(std::move(mean));
}

plot::Column means_of(const RunRecord& run) {
  std::vector<int32_t> steps(run.losses.size());
  std::iota(steps.begin(), steps.end(), 1);
  return plot::Column::of(loss_means(steps, run.losses));
}

/// The letter of the run whose ends lie farthest apart.
char widest(const std::vector<std::pair<char, double>>& ends) {
  std::map<char, Range> ranges;
  for (const auto& [letter, end] : ends) ranges[letter].add(static_cast<float>(end));
  const auto width = [](const auto& one) { return one.second.hi - one.second.lo; };
  return ranges.empty() ? ' ' : std::ranges::max_element(ranges, {}, width)->first;
}

/// The runs under the values that a drag has passed, pale: a family of curves. The values stand at the curves of one
/// run, where they tell most; at all of them they would cover the plot.
void put_passed(PlotSpec& plot, const LabView& view, const PlotOptions& options) {
  if (!options.passed_since) return;
  const size_t first = plot.series.size();
  std::vector<std::pair<char, double>> ends;
  for (const LabView::PassedRun& one : view.passed) {
    const int at = view::find_run(view, one.letter);
    if (at < 0 || one.number <= *options.passed_since || one.run->losses.empty()) continue;
    const RunView& run = view.runs[static_cast<size_t>(at)];
    if (*one.spec == *run.spec) continue;
    constexpr float kPale = 0.4f;
    plot::Series s{.id = tr("{run} at {value}", {{"run", one.letter}, {"value", one.value}}),
                   .name = one.value,
                   .y = means_of(*one.run),
                   .x0 = 1,
                   .ink = Ink::run(view::colour_of(run)),
                   .marker = ui::Marker::None,
                   .width = 1,
                   .alpha = kPale};
    s.end_marker = false;
    ends.emplace_back(one.letter, s.y[s.y.size() - 1]);
    plot.series.push_back(std::move(s));
  }
  const char named = widest(ends);
  for (size_t i = 0; i < ends.size(); ++i) plot.series[first + i].end_label = ends[i].first == named;
}

/// The run that the norm under the mouse, or the preset under the mouse, would give.
void put_supposed(PlotSpec& plot, const LabView& view, const PlotOptions& options) {
  const auto run = view.supposed.size() == 1 ? view.supposed.front().run : nullptr;
  if (!run || run->losses.empty()) return;
  plot::Series s{.id = "supposed", .name = tr("this?"), .ink = {plot::Ink::Role::Ink}};
  s.x0 = 1;
  s.y = means_of(*run);
  s.value = value_text(s.y);
  s.decimals = options.follows ? -1 : 2;
  s.dash = ui::Dash{5, 3};
  plot.series.push_back(std::move(s));
}

double loss_top(const LabView& view, view::LabData& data) {
  double top = view.unigram_entropy + 0.4;
  for (const RunView& run : view.runs) {
    const auto line = data.loss(run);
    if (!line->empty() && std::isfinite(line->y.front()))
      top = std::max(top, static_cast<double>(line->y.front()));
  }
  double end = 0, forked = 0;
  for (const RunView& run : view.runs) {
    const auto line = data.loss(run);
    // How high a fork begins says how much worse it is; runs from scratch all begin high, and fall at once.
    for (const float loss : line->y)
      if (run.forked_from >= 0 && std::isfinite(loss)) forked = std::max(forked, static_cast<double>(loss));
    const bool trained_before = run.forked_from >= 0 || !run.spec->train.init_from.empty();
    const bool told = trained_before || line->y.size() >= size_t{Plateau::kWindow};
    if (told && !line->empty() && std::isfinite(line->y.back()))
      end = std::max(end, static_cast<double>(line->y.back()));
  }
  const auto reaching = [&](double loss) { return top_of_losses(view.unigram_entropy, top, loss); };
  return std::max(reaching(end), reaching(forked)) + 0.05;
}

// The lower end of the axis leaves a row of text below the entropy of the text, for the label, in a small plot too.
double floor_of_axis(const LabView& view) {
  if (view.entropy_rate <= 0) return view::any_stream(view) ? 0.03 : 0;  // a class can be known for sure
  const double highest = view.unigram_entropy + 1.35;
  return view.entropy_rate - std::max(0.22, 0.095 * (highest - view.entropy_rate));
}

}  // namespace

double top_of_losses(double level, double highest, double end) {
  constexpr double kAbove = 1.3, kMost = 4, kAir = 1.04;
  const double top = std::min(highest, level + kAbove);
  return end <= top || end > kMost * top ? top : kAir * end;
}

std::string axis_of(const LabView& view, Metric metric, const PlotOptions& options) {
  const Number& about = info(metric);
  if (!about.of_matrix()) return about.axis;
  if (metric == &kGradNorm && options.stream > 0)
    return tr("root mean square of the gradient of stream {stream}", {{"stream", options.stream}});
  return tr("{what} of {matrix}", {{"what", about.axis}, {"matrix", matrix_label(view, options.matrix)}});
}

std::string layer_id(int layer) { return fmt::format("layer {}", layer + 1); }

std::string at_step(std::string_view what, int step) {
  return tr("{what} at step {step}", {{"what", what}, {"step", ui::grouped(step)}});
}

std::string of_run(std::string_view what, const RunView& run) {
  return tr("{what}, {run}: {name}",
            {{"what", what}, {"run", run.letter}, {"name", words::spoken(run.name)}});
}

Axis step_axis(const LabView& view) {
  return {.lo = 0,
          .hi = static_cast<double>(view::steps_shown(view)),
          .label = tr("step"),
          .max_ticks = 7,
          .integer = true};
}

void put_cursor(PlotSpec& plot, const PlotOptions& options, bool flag) {
  plot.cursor = Cursor{static_cast<double>(options.step), flag ? ui::grouped(options.step) : std::string{}};
  plot.hover = options.hover_step;
}

namespace {

// The parts of a run's name that not all runs share: the only one, or one that no other run has, else all but the first
// (`all`: with the first). Of a fork it is the first change, or all changes.
std::string telling_parts(const LabView& view, const RunView& run, bool all) {
  if (!run.fork_note.empty()) return all ? run.fork_note : parts_of(run.fork_note).front();
  std::vector<std::string> parts = parts_of(run.name);
  const auto in_others = [&](const std::string& part) {
    return std::ranges::count_if(
        view.runs, [&](const RunView& other) { return &other != &run && has_part(other, part); });
  };
  const auto others = static_cast<std::ptrdiff_t>(view.runs.size()) - 1;
  if (others > 0) std::erase_if(parts, [&](const std::string& part) { return in_others(part) == others; });
  for (const std::string& part : parts)
    if (parts.size() == 1 || in_others(part) == 0) return part;
  if (parts.empty()) return "";
  return fmt::format("{}", fmt::join(parts.begin() + (all ? 0 : 1), parts.end(), ", "));
}

}  // namespace

// Uses all telling parts only where the short label is not unique.
std::string short_label(const LabView& view, size_t index) {
  const RunView& run = view.runs[index];
  const std::string label = telling_parts(view, run, false);
  const bool told = std::ranges::none_of(view.runs, [&](const RunView& other) {
    return &other != &run && telling_parts(view, other, false) == label;
  });
  return words::spoken(told ? label : telling_parts(view, run, true));
}

plot::Series single_steps(const plot::Series& mean, plot::Column losses) {
  constexpr float kFaint = 0.3f;
  plot::Series single;
  single.id = tr("{run}, single steps", {{"run", mean.letter}});
  single.x = mean.x;
  single.y = std::move(losses);
  single.ink = mean.ink;
  single.dash = ui::Dash{};
  single.marker = ui::Marker::None;
  single.width = 1;
  single.alpha = kFaint;
  single.end_label = single.end_marker = false;
  return single;
}

PlotSpec loss_plot(const LabView& view, view::LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  if (!view::any_stream(view)) {
    plot.title = tr("Loss");
    plot.question = tr("how well does it choose?");
    plot.brief = plot.question;
  }
  plot.y.unit = words::spoken(nats_per(view.unit));
  plot.sentence = variability_sentence(view);
  if (plot.sentence.empty()) plot.sentence = loss_sentence(view);
  for (const RunView& run : view.runs) put_spread(plot, run);
  plot.note = tr(
      plot.bands.empty()
          ? "{nats}, lower is better; bold: mean of {steps} steps"
          : "{nats}, lower is better; bold: mean of {steps} steps; bands: lowest to highest of other seeds",
      {{"nats", plot.y.unit}, {"steps", kLossWindow}});
  plot.x = step_axis(view);
  plot.y.lo = floor_of_axis(view);
  plot.y.hi = loss_top(view, data);
  plot.pad_top = 8;
  put_passed(plot, view, options);
  put_losses(plot, view, data, options);
  put_supposed(plot, view, options);
  put_levels(plot, view);
  put_cursor(plot, options, true);
  return plot;
}

// ---- The plots over time, one strip per run: a line for each layer, or for each head of one layer.

namespace {

using namespace view;
using namespace plot;
using Series = plot::Series;  // not the history's
using Line = view::Line;      // not an axis's

// A linear axis from 0, or from below the smallest negative value, to a little above the largest: so far that a tick
// below its end leaves room for the lowest tick of the axis above.
void linear_axis(Axis& axis, double lowest, double hi) {
  constexpr double kAir = 1.08;
  axis.lo = std::min(0.0, lowest * kAir);
  axis.hi = hi > 0 ? hi * kAir : 1;
  axis.max_ticks = 3;
  if (hi > 0) axis.hi = std::max(axis.hi, kAir * ticks_of(axis, axis.lo, axis.hi, 3).back().value);
}

// A line's value at the last point up to a step; NaN where there is none.
float newest_until(const Series& s, int step) {
  const auto end = std::ranges::upper_bound(s.x.values, static_cast<float>(step));
  if (end == s.x.values.begin()) return std::numeric_limits<float>::quiet_NaN();
  return s.y[static_cast<size_t>(end - s.x.values.begin()) - 1];
}

// The value of a layer's line at the cursor.
float at_cursor(const PlotSpec& plot, int layer, int step) {
  for (const Series& s : plot.series)
    if (s.layer == layer) return newest_until(s, step);
  return std::numeric_limits<float>::quiet_NaN();
}

// Whether the values of the first and the last layer ever differed by more than this factor.
bool was_apart(const std::vector<Series>& layers, double times) {
  if (layers.size() < 2) return false;
  const Column &first = layers.front().y, &last = layers.back().y;
  for (size_t k = 0; k < std::min(first.size(), last.size()); ++k)
    if (usable(first[k]) && usable(last[k]) &&
        (double(last[k]) > times * first[k] || double(first[k]) > times * last[k]))
      return true;
  return false;
}

// Draws a line, of a layer or a head; `range` grows to hold it.
void add_line(PlotSpec& plot, const std::shared_ptr<const Line>& line, Range& range, std::string id,
              std::string name, Ink ink) {
  if (line->empty()) return;
  range.add(line->span().lowest);
  range.add(line->span().lowest_positive);
  range.add(line->span().highest);
  Series s{
      .id = std::move(id), .name = std::move(name), .x = {line->x, line}, .y = {line->y, line}, .ink = ink};
  s.width = ui::line::depth;
  s.end_label = false;
  s.end_marker = false;
  plot.series.push_back(std::move(s));
}

// Draws a line for each layer over the steps; `range` grows to hold them.
void add_layer_lines(PlotSpec& plot, LabData& data, const RunView& run, Metric metric,
                     const PlotOptions& options, Range& range) {
  const int layers = layers_of(run, options.side);
  for (int layer = 0; layer < layers; ++layer) {
    const auto line =
        metric == &kGradNorm && options.stream > 0
            ? data.root(run, layer_stat(run, options.side, layer + 1, stream_path(options.stream)))
            : over_time(data, run, metric, options.matrix, layer, options.side);
    if (line->empty()) continue;
    add_line(plot, line, range, layer_id(layer), tr("layer {layer}", {{"layer", layer + 1}}),
             Ink::depth(layer, layers));
    plot.series.back().layer = layer;
  }
}

// Draws a line for each head of options.heads_of over the steps, where the run has that layer.
void add_head_lines(PlotSpec& plot, LabData& data, const RunView& run, Metric metric,
                    const PlotOptions& options, Range& range) {
  const int layer = *options.heads_of, heads = run.spec->model.heads;
  if (layer >= layers_of(run, options.side) || !has_stream(run)) return;
  for (int head = 0; head < heads; ++head) {
    const auto line = data.stat(run, head_stat(metric, layer + 1, head + 1, prefix_of(run, options.side)));
    add_line(plot, line, range, fmt::format("head {}", head + 1), tr("head {head}", {{"head", head + 1}}),
             Ink::depth(head, heads));
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

// Says at the lines' ends, or in a note at the cursor, by which factor the layers differ at the cursor's step.
void say_spread(PlotSpec& plot, const RunView& run, Metric metric, const PlotOptions& options) {
  const int layers = layers_of(run, options.side);
  std::vector<float> now;
  for (int layer = 0; layer < layers; ++layer) now.push_back(at_cursor(plot, layer, options.step));
  const double spread = spread_of(now);
  const std::optional<GradientDrop> less = metric == &kGradNorm ? faded(now) : std::nullopt;
  if (less && spread >= 10 && plot.series.size() > 1) {
    Series &bottom = plot.series.front(), &top = plot.series.back();
    top.letter = std::exchange(top.name, {});
    top.end_label = true;
    bottom.letter = std::exchange(bottom.name, {});
    bottom.end_label = true;
    // The factor belongs to the cursor's step: it is written at the line's end only if the cursor is there.
    Series& faint = less->first ? bottom : top;
    const std::string times = tr("{times} less", {{"times", less->times}});
    if (faint.x[faint.x.size() - 1] > static_cast<float>(options.step))
      plot.notes.push_back({double(options.step), newest_until(faint, options.step), "", times, faint.ink});
    else
      faint.name = times;
    plot.sentence = tr("{run}: {what}.", {{"run", whose(run, options.side)}, {"what", gets_less(now)}});
  } else if (spread > 0) {
    const bool recovered = metric == &kGradNorm && was_apart(plot.series, 5 * spread);
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
  const Number& about = info(metric);
  const bool heads = options.heads_of && of_heads(metric), map = options.map && of_map(metric);
  Range range;
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
    plot.x = step_axis(view);
    plot.x.show_labels = i + 1 == view.runs.size();
    plot.tile = colour_of(run);
    plot.pad_top = 4;
    plot.pad_bottom = plot.x.show_labels ? 26.f : 4.f;
    plot.y.label = of_run(axis_of(view, metric, options), run);
    if (map) {
      plot.id = fmt::format("{}-map-{}", about.id, run.letter);
      plot.note = tr("one row per sub-layer, log colour");
    } else if (heads) {
      add_head_lines(plot, data, run, metric, options, range);
    } else {
      add_layer_lines(plot, data, run, metric, options, range);
      say_spread(plot, run, metric, options);
    }
    plot.cursor = Cursor{double(options.step), ""};
    plots.push_back(std::move(plot));
  }
  for (PlotSpec& plot : plots) {
    plot.hover = options.hover_step;
    if (map) continue;
    if (!about.log) {
      linear_axis(plot.y, range.lowest, range.hi);
      plot.y.max_ticks = 2;
      continue;
    }
    log_axis(plot.y, range.lo, range.hi);
  }
  if (map) put_maps(plots, view, data, options, metric);
  return plots;
}

// ---- The maps of variances over time: a row for each sub-layer, a column for some steps, and left of them a column
// with theory's prediction for the start.

namespace {

constexpr int kMaxColumns = 240;
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Resamples a line for the columns of a row: a column has the last number up to the column's end, and is unknown before
// the line begins and after its end.
void put_row(const Line& line, double steps, std::span<float> row) {
  const double per_column = steps / static_cast<double>(row.size());
  size_t next = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    while (next < line.x.size() && line.x[next] <= per_column * static_cast<double>(c + 1)) ++next;
    const bool over = line.empty() || per_column * static_cast<double>(c) >= line.x.back();
    row[c] = next > 0 && !over && usable(line.y[next - 1]) ? line.y[next - 1] : kUnknown;
  }
}

// Theory's prediction for a run's network at its first step. The last few results are cached, because one takes 0.6 ms
// for the default model and 13 ms for 96 layers of 512 positions, and every frame needs it.
const theory::AtStart& start_of(const RunView& run, double same_token) {
  struct CachedStart {
    std::shared_ptr<const RunSpec> origin;
    std::string edits;
    double same_token;
    theory::AtStart start;
  };
  constexpr size_t kKept = 8;
  static std::list<CachedStart> known;
  const auto& origin = run.origin ? run.origin : run.spec;
  std::string edits;
  for (const Edit& edit : run.edits)
    if (edit.step <= 1) edits += edit.key + "=" + edit.value + "\n";
  for (const CachedStart& k : known)
    if (k.origin == origin && k.edits == edits && k.same_token == same_token) return k.start;
  if (known.size() >= kKept) known.pop_back();
  known.push_front({origin, edits, same_token, theory::at_start(spec_at(run, 1)->model, same_token)});
  return known.front().start;
}

// Theory's column beside a run's map, or the reason why there is none.
struct TheoryColumn {
  std::vector<float> column;
  std::string why;
};

TheoryColumn theory_of(const LabView& view, const RunView& run, Metric metric) {
  if (run.forked_from >= 0 || !run.spec->train.init_from.empty())
    return {{}, tr("the run did not start from fresh weights")};
  const auto spec = spec_at(run, 1);
  const double same = spec->data == view.runs.front().spec->data ? view.agreement.token : 0;
  const theory::AtStart& start = start_of(run, same);
  if (!start.objection.empty()) return {{}, words::spoken(start.objection)};
  TheoryColumn beside;
  for (const theory::SublayerAtStart& s : start.sublayers) {
    const auto value = static_cast<float>(metric == &kBranchVariance ? s.branch : s.stream);
    beside.column.push_back(usable(value) ? value : kUnknown);
  }
  return beside;
}

// The largest factor between a measurement at the first step and theory (`said`); 0: nothing to compare.
double farthest(LabData& data, const RunView& run, const std::vector<std::string>& stats,
                const std::vector<float>& said) {
  double worst = 0;
  for (size_t row = 0; row < said.size(); ++row)
    if (const float first = data.value(run, stats[row], 1); usable(first) && usable(said[row]))
      worst = std::max({worst, double(first) / said[row], double(said[row]) / first});
  return worst;
}

// Says how far the measured starts are from theory, and why theory has no prediction for some runs.
std::string map_sentence(const LabView& view, const std::vector<PlotSpec>& plots,
                         const std::vector<std::string>& reasons, double worst) {
  std::string with;
  std::map<std::string, std::string> without;
  for (size_t i = 0; i < plots.size(); ++i) {
    if (!plots[i].heat) continue;
    std::string& list = reasons[i].empty() ? with : without[reasons[i]];
    list += (list.empty() ? "" : ", ") + letter_of(view.runs[i]);
  }
  std::string all;
  if (worst > 0)
    all = tr("{runs}: at the start within a factor of {times} of theory.",
             {{"runs", with}, {"times", ui::decimals(worst, 2)}});
  for (const auto& [why, runs] : without)
    all += (all.empty() ? "" : " ") + tr("No theory for {runs}: {why}.", {{"runs", runs}, {"why", why}});
  return all;
}

HeatMap map_of(LabData& data, const RunView& run, const std::vector<std::string>& stats, double steps) {
  HeatMap heat{.rows = static_cast<int>(stats.size()),
               .columns = std::clamp(static_cast<int>(steps), 1, kMaxColumns)};
  std::vector<float> cells(stats.size() * static_cast<size_t>(heat.columns), kUnknown);
  for (size_t row = 0; row < stats.size(); ++row)
    put_row(
        *data.stat(run, stats[row]), steps,
        std::span(cells).subspan(row * static_cast<size_t>(heat.columns), static_cast<size_t>(heat.columns)));
  heat.cells = Column::of(std::move(cells));
  heat.stretched = heat.upward = heat.log = true;
  heat.row_first = "1";
  return heat;
}

}  // namespace

void put_maps(std::vector<PlotSpec>& plots, const LabView& view, LabData& data, const PlotOptions& options,
              Metric metric) {
  Range range;
  double worst = 0;
  std::vector<std::string> reasons(plots.size());
  for (size_t i = 0; i < plots.size(); ++i) {
    const RunView& run = view.runs[i];
    const std::vector<std::string> stats = sublayer_stats(run, metric, options.side);
    if (stats.empty()) continue;
    HeatMap heat = map_of(data, run, stats, plots[i].x.hi);
    for (const float v : heat.cells.values) range.add(v);
    TheoryColumn beside = theory_of(view, run, metric);
    for (const float v : beside.column) range.add(v);
    worst = std::max(worst, farthest(data, run, stats, beside.column));
    reasons[i] = beside.why;
    heat.beside = Column::of(std::move(beside.column));
    heat.beside_label = tr("theory");
    const int layers = layers_of(run, options.side);
    heat.row_last = fmt::format("{}", layers);
    plots[i].y.lo = 0.5;
    plots[i].y.hi = layers + 0.5;
    plots[i].heat = std::move(heat);
  }
  if (range.lo >= range.hi) range = {range.lo / 2, range.hi * 2};  // of one value alone, any scale will do
  for (PlotSpec& plot : plots) {
    if (!(range.hi > 0)) plot.heat.reset();
    if (!plot.heat) continue;
    plot.heat->least = static_cast<float>(range.lo);
    plot.heat->full = static_cast<float>(range.hi);
    plot.heat->label =
        tr("{what} by colour, from {low} to {high}, log scale", {{"what", plot.y.label},
                                                                 {"low", ui::significant(range.lo, 2)},
                                                                 {"high", ui::significant(range.hi, 2)}});
    plot.y.label = tr("layer");
  }
  if (!plots.empty()) plots.front().sentence = map_sentence(view, plots, reasons, worst);
}

std::string cell_words(const PlotSpec& plot, double x, double y) {
  const HeatMap& heat = *plot.heat;
  const double share = (y - plot.y.lo) / (plot.y.hi - plot.y.lo),
               along = (x - plot.x.lo) / (plot.x.hi - plot.x.lo);
  const auto row = static_cast<size_t>(std::clamp(share * heat.rows, 0.0, heat.rows - 1.0));
  const auto column = static_cast<size_t>(std::clamp(along * heat.columns, 0.0, heat.columns - 1.0));
  const float value = heat.cells[row * static_cast<size_t>(heat.columns) + column];
  if (!std::isfinite(value)) return {};
  const auto step =
      static_cast<long long>(std::floor(plot.x.hi * static_cast<double>(column + 1) / heat.columns));
  std::string text = tr("Sub-layer {row}, step {step}: {value}.", {{"row", static_cast<long long>(row) + 1},
                                                                   {"step", ui::grouped(step)},
                                                                   {"value", ui::number(value, 3)}});
  if (row < heat.beside.size() && std::isfinite(heat.beside[row]))
    text += " " + tr("Theory at step 0: {value}.", {{"value", ui::number(heat.beside[row], 3)}});
  return text;
}

}  // namespace normscope::panels
