// The loss plot, and the code that the plots over time share. See plot_specs.h.
#include "app/panels/plot_specs.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/data/task.h"
#include "training/io/text.h"
#include "training/measure/verdict.h"

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

// Says "B left the line of letter frequencies at step 214, A at step 480."; `that`: named before.
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
  if (sentences.empty() && view.step > 0)
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

/// The run that the norm under the mouse, or the preset under the mouse, would give.
void put_supposed(PlotSpec& plot, const LabView& view) {
  const auto run = view.supposed.size() == 1 ? view.supposed.front().run : nullptr;
  if (!run || run->losses.empty()) return;
  plot::Series s{.id = "supposed", .name = tr("this?"), .y = {run->losses, run}, .x0 = 1};
  const auto end = static_cast<double>(run->losses.back());
  s.value = std::isfinite(end) ? ui::decimals(end, 2) : "–";
  s.decimals = 2;
  s.ink = {plot::Ink::Role::Ink};
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
  return std::min(top, view.unigram_entropy + 1.3) + 0.05;
}

}  // namespace

std::string axis_of(const LabView& view, const MetricInfo& about, const PlotOptions& options) {
  if (!about.of_matrix) return about.axis;
  if (about.metric == Metric::Gradient && options.stream > 0)
    return tr("root mean square of the gradient of stream {stream}", {{"stream", options.stream}});
  return tr("{what} of {matrix}", {{"what", about.axis}, {"matrix", matrix_label(view, options.matrix)}});
}

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

// Leaves room for the name under the line that no model can pass: a row of text, in a small plot too.
double floor_of_axis(const LabView& view) {
  if (view.entropy_rate <= 0) return view::any_stream(view) ? 0.03 : 0;  // a class can be known for sure
  const double highest = view.unigram_entropy + 1.35;
  return view.entropy_rate - std::max(0.22, 0.095 * (highest - view.entropy_rate));
}

namespace {

// The parts of a name that not all runs share: one that no other run has, or all but the first,
// unless `all` are wanted. A fork is told by what changed first.
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

// Has as few words as tell the run from the others, and leaves out what all runs share.
std::string short_label(const LabView& view, size_t index) {
  const RunView& run = view.runs[index];
  const std::string label = telling_parts(view, run, false);
  const bool told = std::ranges::none_of(view.runs, [&](const RunView& other) {
    return &other != &run && telling_parts(view, other, false) == label;
  });
  return words::spoken(told ? label : telling_parts(view, run, true));
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
  plot.note = tr(plot.bands.empty() ? "{nats}, lower is better"
                                    : "{nats}, lower is better; bands: lowest to highest of other seeds",
                 {{"nats", plot.y.unit}});
  plot.x = step_axis(view);
  plot.y.lo = floor_of_axis(view);
  plot.y.hi = loss_top(view, data);
  plot.pad_top = 8;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    const auto line = data.loss(run);
    if (line->empty()) continue;
    plot::Series s;
    s.id = view::letter_of(run);
    s.letter = s.id;
    s.name = short_label(view, i);
    s.x = {line->x, line};
    s.y = {line->y, line};
    s.value = std::isfinite(line->y.back()) ? ui::decimals(static_cast<double>(line->y.back()), 2) : "–";
    s.decimals = 2;
    s.ink = Ink::run(view::colour_of(run));
    s.markers = Markers::Sparse;
    plot.series.push_back(std::move(s));
  }
  put_supposed(plot, view);
  put_levels(plot, view);
  put_cursor(plot, options, true);
  return plot;
}

}  // namespace normscope::panels
