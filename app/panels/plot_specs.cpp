// Loss and learning rate; the plots by layer are in plot_specs_depth.cpp.
#include "app/panels/plot_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace plot;

std::string letter_of(const RunView& run) { return std::string(1, run.letter); }
int colour_of(const RunView& run) { return run.letter - 'A'; }

// "Post-LN, warm-up 200" -> "Post-LN", "warm-up 200".
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
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// "A, B and C"
std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string loss_sentence(const LabView& view) {
  std::vector<std::string> stuck, left, broken;
  for (const RunView& run : view.runs) {
    if (run.state == RunState::NonFinite)
      broken.push_back(letter_of(run));
    else if (run.state == RunState::Stuck)
      stuck.push_back(letter_of(run));
  }
  std::vector<const RunView*> leavers;
  for (const RunView& run : view.runs)
    if (run.learning_since > 0 && run.state != RunState::Stuck) leavers.push_back(&run);
  std::stable_sort(leavers.begin(), leavers.end(),
                   [](const RunView* a, const RunView* b) { return a->learning_since < b->learning_since; });
  for (const RunView* run : leavers)
    left.push_back(left.empty()
                       ? fmt::format("{} left that line at step {}", run->letter, run->learning_since)
                       : fmt::format("{} at {}{}", run->letter, view.runs.size() > 3 ? "" : "step ",
                                     run->learning_since));
  std::string text;
  if (!broken.empty()) text = list(broken) + (broken.size() > 1 ? " are" : " is") + " no longer finite. ";
  if (!stuck.empty()) {
    const char* knows = stuck.size() > 1 ? "know" : "knows";
    text += view.runs.size() > 3
                ? fmt::format("{} {} only {}. ", list(stuck), knows, entropy_name(view))
                : fmt::format("{} {} only how often each {} occurs. ", list(stuck), knows, view.unit);
  }
  if (!left.empty() && stuck.empty())
    left.front() = fmt::format("{} left the line of {} at step {}", leavers.front()->letter,
                               entropy_name(view), leavers.front()->learning_since);
  if (!left.empty()) {
    for (size_t i = 0; i < left.size(); ++i) text += (i ? ", " : "") + left[i];
    text += ".";
  }
  if (text.empty() && view.step > 0)
    text = fmt::format("Every model first learns how often each {} occurs.", view.unit);
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// What the bands say about the two runs that lie farthest apart at the last step that all bands reach; empty
// without bands of two runs.
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
  const auto [low, high] = std::minmax_element(
      known.begin(), known.end(), [&](const RunView* a, const RunView* b) { return mean(a) < mean(b); });
  if (low == high) return {};
  const bool apart = (*low)->spread->high[step - 1] < (*high)->spread->low[step - 1];
  const int seeds = std::min((*low)->spread->seeds, (*high)->spread->seeds);
  return apart ? fmt::format("Not luck: {} lies below {} at step {} with each of {} other seeds.",
                             (*low)->letter, (*high)->letter, step, seeds)
               : fmt::format("It may be luck: {} and {} overlap at step {} over {} other seeds.",
                             (*low)->letter, (*high)->letter, step, seeds);
}

void put_spread(PlotSpec& plot, const RunView& run) {
  if (!run.spread || run.spread->mean.size() < 2) return;
  Band band;
  band.id = fmt::format("{} with {} other seed{}", run.letter, run.spread->seeds,
                        run.spread->seeds == 1 ? "" : "s");
  band.ink = Ink::run(colour_of(run));
  std::vector<float> x(run.spread->mean.size());
  std::iota(x.begin(), x.end(), 1.f);
  band.x = Column::of(std::move(x));
  band.lo = Column(run.spread->low), band.hi = Column(run.spread->high);
  band.lo.owner = band.hi.owner = run.spread;
  plot.bands.push_back(std::move(band));
}

double loss_top(const LabView& view, LabData& data) {
  double top = view.unigram_entropy + 0.4;
  for (const RunView& run : view.runs) {
    const auto line = data.loss(run);
    if (!line->empty() && std::isfinite(line->y.front()))
      top = std::max(top, static_cast<double>(line->y.front()));
  }
  return std::min(top, view.unigram_entropy + 1.3) + 0.05;
}

Axis step_axis(const LabView& view) {
  Axis axis;
  axis.lo = 0, axis.hi = steps_shown(view);
  axis.label = "step", axis.integer = true, axis.max_ticks = 7;
  return axis;
}

void put_cursor(PlotSpec& plot, const PlotOptions& options, bool flag) {
  plot.cursor = Cursor{static_cast<double>(options.step), flag ? ui::grouped(options.step) : std::string{}};
  plot.hover = options.hover_step;
}

}  // namespace

// Under the line that no model can pass there is room for its name: a row of text in a small plot, too.
double floor_of_axis(const LabView& view) {
  if (view.entropy_rate <= 0) return 0.03;
  const double highest = view.unigram_entropy + 1.35;
  return view.entropy_rate - std::max(0.22, 0.095 * (highest - view.entropy_rate));
}

std::string entropy_name(const LabView& view) {
  return (view.unit.empty() ? "token" : view.unit) + " frequencies";
}

// As few words as tell the run from the others: what all share says nothing.
std::string short_label(const LabView& view, size_t index) {
  const RunView& run = view.runs[index];
  if (!run.fork_note.empty()) return run.fork_note;
  std::vector<std::string> parts = parts_of(run.name);
  const auto in_others = [&](const std::string& part) {
    return std::count_if(view.runs.begin(), view.runs.end(),
                         [&](const RunView& other) { return &other != &run && has_part(other, part); });
  };
  const auto others = static_cast<std::ptrdiff_t>(view.runs.size()) - 1;
  if (others > 0) std::erase_if(parts, [&](const std::string& part) { return in_others(part) == others; });
  if (parts.empty()) return "";
  if (parts.size() == 1 || in_others(parts.front()) == 0) return parts.front();
  return fmt::format("{}", fmt::join(parts.begin() + 1, parts.end(), ", "));
}

PlotSpec loss_plot(const LabView& view, LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  plot.id = "loss", plot.title = "Loss";
  plot.note = fmt::format("nats per {}, lower is better", view.unit);
  plot.sentence = variability_sentence(view);
  if (plot.sentence.empty()) plot.sentence = loss_sentence(view);
  for (const RunView& run : view.runs) put_spread(plot, run);
  if (!plot.bands.empty()) plot.note += "; bands: lowest to highest of other seeds";
  plot.x = step_axis(view);
  plot.y.lo = floor_of_axis(view), plot.y.hi = loss_top(view, data);
  plot.y.label = "loss", plot.y.unit = "nats per " + view.unit;
  plot.pad_top = 8;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    const auto line = data.loss(run);
    if (line->empty()) continue;
    plot::Series s;
    s.id = letter_of(run), s.letter = s.id;
    s.value = std::isfinite(run.loss) ? fmt::format("{:.2f}", run.loss) : "–";  // the card's number
    s.name = short_label(view, i);
    s.x = Column(line->x), s.y = Column(line->y);
    s.x.owner = line, s.y.owner = line;
    s.ink = Ink::run(colour_of(run));
    s.markers = Markers::sparse;
    plot.series.push_back(std::move(s));
  }
  if (view.unigram_entropy > 0) {
    RefLine entropy;
    entropy.value = view.unigram_entropy;
    entropy.label = fmt::format("{} {:.2f}", entropy_name(view), view.unigram_entropy);
    plot.lines.push_back(std::move(entropy));
  }
  if (view.entropy_rate > 0) {
    RefLine floor;
    floor.value = view.entropy_rate;
    floor.short_label = fmt::format("entropy of the text {:.2f}", view.entropy_rate);
    floor.label = floor.short_label + ", no model can do better";
    floor.label_left = floor.label_below = floor.fill_below = true;
    plot.lines.push_back(std::move(floor));
  }
  if (options.person) {
    RefLine person;
    person.value = *options.person;
    person.short_label = fmt::format("you {:.2f}", *options.person);
    person.label = person.short_label + ", by guessing";
    person.label_left = true;
    plot.lines.push_back(std::move(person));
  }
  put_cursor(plot, options, true);
  return plot;
}

namespace {

Schedule schedule_of(const RunView& run, size_t index, const PlotOptions& options) {
  Schedule schedule = run.spec->train.schedule;
  if (options.drag_rate) schedule.peak = static_cast<float>(*options.drag_rate);
  if (options.drag_warmup && options.drag_run == static_cast<int>(index))
    schedule.warmup = static_cast<int32_t>(std::lround(*options.drag_warmup));
  return schedule;
}

// "full rate at once", "warm-up 200", "full rate at once, then inverse_sqrt"
std::string schedule_words(const Schedule& schedule) {
  std::string text = schedule.warmup > 0 ? fmt::format("warm-up {}", schedule.warmup) : "full rate at once";
  if (schedule.kind == Schedule::Kind::InverseSqrt) text += ", then 1/√step";
  if (schedule.kind == Schedule::Kind::LinearDecay) text += ", then down to 0";
  if (schedule.kind == Schedule::Kind::StepDecay) text += ", then in steps";
  if (schedule.kind == Schedule::Kind::Cosine) text += ", then a cosine to 0";
  return text;
}

// Runs with one schedule are one line: the first is drawn wider, so that both colours are seen.
struct RateGroup {
  Schedule schedule, began;  // now; as the runs began
  int changed = 0;           // step of the last change; 0 = none
  std::vector<size_t> runs;
};

// What was used stays named: a change is named with its step.
std::string words_of(const RateGroup& group) {
  std::string now = schedule_words(group.schedule);
  const std::string was = schedule_words(group.began);
  if (group.changed == 0 || now == was) return now;
  constexpr std::string_view kWarmup = "warm-up ";
  if (was.starts_with(kWarmup) && now.starts_with(kWarmup)) now.erase(0, kWarmup.size());
  return fmt::format("{} → {} at {}", was, now, ui::grouped(group.changed));
}

RateGroup rate_group_of(const RunView& run, size_t index, const PlotOptions& options) {
  RateGroup group{schedule_of(run, index, options), spec_at(run, run.fork_step)->train.schedule, 0, {index}};
  for (const Edit& edit : run.edits)
    if (edit.key.starts_with("train.") && edit.step > run.fork_step + 1) group.changed = edit.step;
  return group;
}

std::vector<RateGroup> rate_groups(const LabView& view, const PlotOptions& options) {
  std::vector<RateGroup> groups;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    RateGroup group = rate_group_of(view.runs[i], i, options);
    auto same = std::find_if(groups.begin(), groups.end(), [&](const RateGroup& g) {
      return g.schedule == group.schedule && g.began == group.began;
    });
    if (same == groups.end())
      groups.push_back(std::move(group));
    else
      same->runs.push_back(i);
  }
  return groups;
}

std::shared_ptr<Line> future_rate(const Schedule& schedule, int from, int to) {
  auto line = std::make_shared<Line>();
  from = std::max(from, 0);
  const int stride = std::max(1, (to - from) / 400);
  for (int64_t at = from; at <= to; at += stride) {  // as wide as the sum, whatever the budget
    const int step = static_cast<int>(at);
    line->x.push_back(static_cast<float>(step));
    line->y.push_back(step == 0 ? (schedule.warmup > 0 ? 0.f : static_cast<float>(learning_rate(schedule, 1)))
                                : static_cast<float>(learning_rate(schedule, step)));
  }
  if (!line->x.empty() && line->x.back() < static_cast<float>(to)) {
    line->x.push_back(static_cast<float>(to));
    line->y.push_back(static_cast<float>(learning_rate(schedule, to)));
  }
  return line;
}

void add_rate_lines(PlotSpec& plot, const RateGroup& group, const LabView& view, LabData& data, int end) {
  for (size_t k = 0; k < group.runs.size(); ++k) {
    const RunView& run = view.runs[group.runs[k]];
    const float width = ui::line::run * static_cast<float>(group.runs.size() - k);
    plot::Series past, future;
    const auto measured = data.rate(run);
    past.id = letter_of(run), future.id = past.id + " planned";
    past.x = Column(measured->x), past.y = Column(measured->y);
    past.x.owner = measured, past.y.owner = measured;
    const auto plan = future_rate(group.schedule, run.step, end);
    future.x = Column(plan->x), future.y = Column(plan->y);
    future.x.owner = plan, future.y.owner = plan;
    future.alpha = 0.4f;
    for (plot::Series* s : {&past, &future}) {
      s->ink = Ink::run(colour_of(run));
      s->width = width;
      if (group.runs.size() > 1) s->dash = ui::Dash{};
      s->end_label = false, s->end_marker = false;
    }
    plot.series.push_back(std::move(past));
    plot.series.push_back(std::move(future));
  }
}

// The name of each group of runs at its line.
void add_rate_names(PlotSpec& plot, const std::vector<RateGroup>& groups, const LabView& view,
                    const PlotOptions& options, int end) {
  float row = 18;
  for (const RateGroup& group : groups) {
    std::string letters;
    for (size_t i : group.runs) letters += (letters.empty() ? "" : ", ") + letter_of(view.runs[i]);
    std::string words = words_of(group);
    // At the line that was drawn: where the change came after the rise, that of the beginning.
    const bool past = group.changed > group.began.warmup;
    const Schedule& drawn = past ? group.began : group.schedule;
    const double peak = drawn.peak;
    if (drawn.warmup > 0) {
      // Right below the line's rising part, where it is three quarters up.
      const double x = std::min<double>(drawn.warmup, end) * 0.72;
      plot.notes.push_back(
          {x, peak * 0.62, letters, words, Ink::run(colour_of(view.runs[group.runs.front()])), 14, 16});
      continue;
    }
    // Between the line and the rise of the others there is little room: a name that an early cursor would
    // cross begins behind it, and there, as with four letters, it is shorter.
    const double from = options.step < 0.3 * end ? options.step : 0;
    if ((from > 0 || view.runs.size() > 3) && words == "full rate at once") words = "full rate";
    plot.notes.push_back(
        {from, peak, letters, words, Ink::run(colour_of(view.runs[group.runs.front()])), 12, row});
    row += 16;
  }
}

// To drag: the end of each warm-up that is seen, and the peak of all at the right end.
void add_rate_handles(PlotSpec& plot, const std::vector<RateGroup>& groups, const LabView& view, int end) {
  for (const RateGroup& group : groups) {
    if (group.schedule.warmup <= 0 || group.schedule.warmup > end) continue;
    const char letter = view.runs[group.runs.front()].letter;
    Handle handle;
    handle.name = fmt::format("warmup/{}", letter);
    handle.x = group.schedule.warmup, handle.y = group.schedule.peak, handle.step = 10;
    handle.help = fmt::format("End of run {}'s warm-up. Drag it: the schedule changes from now on.", letter);
    handle.value = fmt::format("{}", group.schedule.warmup);
    plot.handles.push_back(std::move(handle));
  }
  if (!groups.empty()) {
    Handle handle;
    handle.name = "peak";
    handle.x = end, handle.y = groups.front().schedule.peak;  // also where the schedule has left it by then
    handle.move_x = false, handle.move_y = true;
    handle.help = "The learning rate of all runs. Drag it up or down: it changes from now on.";
    handle.value = ui::number(groups.front().schedule.peak);
    plot.notes.push_back({handle.x, handle.y, "", "peak " + handle.value, {Ink::Role::ink2, 0, 1}, -64, 21});
    plot.handles.push_back(std::move(handle));
  }
}

}  // namespace

PlotSpec rate_plot(const LabView& view, LabData& data, const PlotOptions& options) {
  PlotSpec plot;
  plot.id = "rate", plot.title = "Learning rate", plot.note = "drag a handle to change the schedule";
  plot.x = step_axis(view);
  plot.y.label = "learning rate";
  const int end = static_cast<int>(plot.x.hi);
  double top = 0;
  const std::vector<RateGroup> groups = rate_groups(view, options);
  // As it is, not as it is being dragged: the axis must not run away from the hand.
  for (const RunView& run : view.runs)
    top = std::max({top, static_cast<double>(run.spec->train.schedule.peak),
                    static_cast<double>(data.rate(run)->span().highest)});
  if (top <= 0) top = 1e-3;
  plot.y.lo = 0, plot.y.hi = top * 1.12;
  plot.y.ticks = {{0, "0"}, {top, ui::number(top)}};
  plot.pad_top = 6;
  for (const RateGroup& group : groups) add_rate_lines(plot, group, view, data, end);
  add_rate_names(plot, groups, view, options, end);
  add_rate_handles(plot, groups, view, end);
  if (groups.size() == 1)
    plot.sentence = "All runs follow one schedule.";
  else
    plot.sentence = "The runs differ in their schedule.";
  put_cursor(plot, options, false);
  return plot;
}

}  // namespace normscope::lab
