// The plot of the learning rate: past, plan, and the handles that change it. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "training/measure/theory/theory.h"

namespace normscope::panels {

using namespace plot;

namespace {

Schedule schedule_of(const RunView& run, size_t index, const PlotOptions& options) {
  Schedule schedule = run.spec->train.schedule;
  if (options.drag_rate) schedule.peak = static_cast<float>(*options.drag_rate);
  if (options.drag_warmup && options.drag_run == static_cast<int>(index))
    schedule.warmup = static_cast<int32_t>(std::lround(*options.drag_warmup));
  return schedule;
}

// Says "warm-up 200", "full rate at once, then 1/√step"; `bare`: "200", the length of a warm-up alone.
std::string schedule_words(const Schedule& schedule, bool bare = false) {
  const std::string steps = std::to_string(schedule.warmup);
  const std::string start = schedule.target > 0
                                ? tr("warm-up to a loss of {loss}", {{"loss", ui::number(schedule.target)}})
                            : schedule.warmup <= 0 ? tr("full rate at once")
                            : bare                 ? steps
                                                   : tr("warm-up {steps}", {{"steps", steps}});
  const std::string then = words::spoken(row_of(schedule.kind).words);
  return then.empty() ? start : tr("{start}, then {then}", {{"start", start}, {"then", then}});
}

// Runs with one schedule, whose lines coincide: each is drawn narrower than the one before, so that all colours show.
struct RateGroup {
  Schedule schedule, began;  // now; as the runs began
  int changed = 0;           // step of the last change; 0 = none
  std::vector<size_t> runs;
};

// Whether two schedules read the same in words.
bool told_alike(const Schedule& a, const Schedule& b) {
  return a.kind == b.kind && a.target == b.target && std::max(a.warmup, 0) == std::max(b.warmup, 0);
}

bool changed(const RateGroup& group) {
  return group.changed != 0 && !told_alike(group.schedule, group.began);
}

// The schedule in words, "warm-up 200", or a change, "warm-up 200 → 100 at 250". `brief`: "full rate" for a constant
// rate without warm-up.
std::string words_of(const RateGroup& group, bool brief) {
  const Schedule &now = group.schedule, &was = group.began;
  if (!changed(group)) {
    const bool plain = now.warmup <= 0 && now.target <= 0 && now.kind == Schedule::Kind::Constant;
    return brief && plain ? tr("full rate") : schedule_words(now);
  }
  const bool both_rise = was.warmup > 0 && now.warmup > 0 && was.target == now.target;
  return tr("{was} → {now} at {step}", {{"was", schedule_words(was)},
                                        {"now", schedule_words(now, both_rise)},
                                        {"step", ui::grouped(group.changed)}});
}

RateGroup rate_group_of(const RunView& run, size_t index, const PlotOptions& options) {
  RateGroup group{
      schedule_of(run, index, options), view::spec_at(run, run.fork_step)->train.schedule, 0, {index}};
  for (const Edit& edit : run.edits)
    if (edit.key.starts_with("train.") && edit.step > run.fork_step + 1) group.changed = edit.step;
  return group;
}

std::vector<RateGroup> rate_groups(const LabView& view, const PlotOptions& options) {
  std::vector<RateGroup> groups;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    RateGroup group = rate_group_of(view.runs[i], i, options);
    auto same = std::ranges::find_if(
        groups, [&](const RateGroup& g) { return g.schedule == group.schedule && g.began == group.began; });
    if (same == groups.end())
      groups.push_back(std::move(group));
    else
      same->runs.push_back(i);
  }
  return groups;
}

// The planned rates from a step on; empty where the rate follows the loss, which has no plan.
std::shared_ptr<view::Line> future_rate(const Schedule& schedule, int from, int to) {
  auto line = std::make_shared<view::Line>();
  if (schedule.target > 0) return line;
  from = std::max(from, 0);
  const int stride = std::max(1, (to - from) / 400);
  for (int64_t at = from; at <= to; at += stride) {  // 64 bits hold the sum whatever the budget
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

void add_rate_lines(PlotSpec& plot, const RateGroup& group, const LabView& view, view::LabData& data,
                    int end) {
  for (size_t k = 0; k < group.runs.size(); ++k) {
    const RunView& run = view.runs[group.runs[k]];
    const float width = ui::line::run * static_cast<float>(group.runs.size() - k);
    plot::Series past, future;
    const auto measured = data.rate(run);
    past.id = view::letter_of(run);
    future.id = tr("{run} planned", {{"run", run.letter}});
    past.x = {measured->x, measured};
    past.y = {measured->y, measured};
    const auto plan = future_rate(group.schedule, run.step, end);
    future.x = {plan->x, plan};
    future.y = {plan->y, plan};
    future.alpha = 0.4f;
    for (plot::Series* s : {&past, &future}) {
      s->ink = Ink::run(view::colour_of(run));
      s->width = width;
      if (group.runs.size() > 1) s->dash = ui::Dash{};
      s->end_label = false;
      s->end_marker = false;
    }
    plot.series.push_back(std::move(past));
    plot.series.push_back(std::move(future));
  }
}

// Writes the name of each group of runs at its line.
void add_rate_names(PlotSpec& plot, const std::vector<RateGroup>& groups, const LabView& view,
                    const PlotOptions& options, int end) {
  float row = 18;
  for (const RateGroup& group : groups) {
    std::string letters;
    for (size_t i : group.runs) letters += (letters.empty() ? "" : ", ") + view::letter_of(view.runs[i]);
    // A name stands at the line that has been drawn, which is the original schedule's where the change came after its
    // warm-up.
    const bool past = group.changed > group.began.warmup;
    const Schedule& drawn = past ? group.began : group.schedule;
    const double peak = drawn.peak;
    if (drawn.warmup > 0 && drawn.target <= 0) {
      // The name stands below the rising part of the line, about three quarters up.
      const double x = std::min<double>(drawn.warmup, end) * 0.72;
      plot.notes.push_back({x, peak * 0.62, letters, words_of(group, false),
                            Ink::run(view::colour_of(view.runs[group.runs.front()])), 14, 16});
      continue;
    }
    // Between the line and the rise of the others there is little room: a name that an early cursor would cross begins
    // behind the cursor. It is shorter there, as it is with four letters.
    const double from = options.step < 0.3 * end ? options.step : 0;
    const bool brief = from > 0 || view.runs.size() > 3;
    plot.notes.push_back({from, peak, letters, words_of(group, brief),
                          Ink::run(view::colour_of(view.runs[group.runs.front()])), 12, row});
    row += 16;
  }
}

// Makes handles for the end of each visible warm-up, and at the right end for the peak of all.
void add_rate_handles(PlotSpec& plot, const std::vector<RateGroup>& groups, const LabView& view, int end) {
  for (const RateGroup& group : groups) {
    // A warm-up that is over cannot change.
    const int done = view.instant ? 0 : view.runs[group.runs.front()].step;
    if (group.schedule.target > 0 || group.schedule.warmup <= done || group.schedule.warmup > end) continue;
    const char letter = view.runs[group.runs.front()].letter;
    Handle handle{.name = fmt::format("warmup/{}", letter),
                  .x = static_cast<double>(group.schedule.warmup),
                  .y = group.schedule.peak,
                  .step = 10};
    handle.help = tr(view.instant ? "End of run {run}'s warm-up. Drag it: the run trains anew with it."
                                  : "End of run {run}'s warm-up. Drag it: the schedule changes from now on.",
                     {{"run", letter}});
    handle.value = fmt::format("{}", group.schedule.warmup);
    plot.handles.push_back(std::move(handle));
  }
  if (!groups.empty()) {
    Handle handle{.name = "peak", .x = static_cast<double>(end)};
    handle.y = groups.front().schedule.peak;  // also where the schedule has left it by then
    handle.move_x = false;
    handle.move_y = true;
    handle.help =
        tr(view.instant ? "The learning rate of all runs. Drag it up or down: they train anew with it."
                        : "The learning rate of all runs. Drag it up or down: it changes from now on.");
    handle.value = ui::number(groups.front().schedule.peak);
    const std::string peak = tr("peak {rate}", {{"rate", handle.value}});
    plot.notes.push_back({handle.x, handle.y, "", peak, {Ink::Role::Ink2, 0, 1}, -64, 21});
    plot.handles.push_back(std::move(handle));
  }
}

// The measured critical rates, and the run whose rate is the largest share of its critical rate.
struct Critical {
  double lowest = 0, highest = 0;  // of all that a logarithmic axis can show; 0: none
  const RunView* run = nullptr;
  double share = 0;  // of that run, at its newest measurement: rate over critical rate
};

// Adds a run's measured critical rates as a thin line, connected over the steps between measurements.
void add_critical_line(PlotSpec& plot, Critical& all, const RunView& run, view::LabData& data) {
  const auto rates = data.rate(run), measured = data.stat(run, kCriticalStat);
  auto line = std::make_shared<view::Line>();
  for (size_t i = 0; i < measured->y.size(); ++i)
    if (view::usable(measured->y[i])) {
      line->x.push_back(measured->x[i]);
      line->y.push_back(measured->y[i]);
    }
  if (line->empty()) return;
  const auto at = std::ranges::lower_bound(rates->x, line->x.back());
  const double rate = at == rates->x.end() ? 0 : rates->y[static_cast<size_t>(at - rates->x.begin())];
  if (const double share = rate / line->y.back(); !all.run || share > all.share) {
    all.run = &run;
    all.share = share;
  }
  const double lowest = line->span().lowest_positive, highest = line->span().highest;
  all.lowest = all.highest > 0 ? std::min(all.lowest, lowest) : lowest;
  all.highest = std::max(all.highest, highest);
  plot::Series series{
      .id = tr("{run} critical", {{"run", run.letter}}), .x = {line->x, line}, .y = {line->y, line}};
  series.ink = Ink::run(view::colour_of(run));
  series.width = ui::line::run * 0.6f;
  series.end_label = false;
  series.end_marker = false;
  plot.series.push_back(std::move(series));
}

// Makes the axis logarithmic, because rates and critical rates differ by orders of magnitude; sets note and sentence.
void show_critical(PlotSpec& plot, const Critical& all, const LabView& view, view::LabData& data,
                   double top) {
  double lowest = std::min(all.lowest, top);
  for (const RunView& run : view.runs)
    if (const double used = data.rate(run)->span().lowest_positive; used > 0) lowest = std::min(lowest, used);
  plot.y.ticks.clear();
  log_axis(plot.y, lowest, std::max(all.highest, top));
  plot.note = tr("thin: critical rate");
  const std::string share = ui::significant(all.share, 2);
  plot.sentence = tr(
      all.share > 1 ? "{run}'s rate is {times}× its critical one: its step raises the loss of its own batch."
                    : "No rate is above its critical one; {run}'s is nearest, at {share} of it.",
      {{"run", all.run->letter}, {"times", share}, {"share", share}});
}

}  // namespace

PlotSpec rate_plot(const LabView& view, view::LabData& data, const PlotOptions& options) {
  PlotSpec plot{.note = tr("drag a handle to change the schedule"), .x = step_axis(view)};
  const int end = static_cast<int>(plot.x.hi);
  double top = 0;
  const std::vector<RateGroup> groups = rate_groups(view, options);
  // The axis follows the schedules as they are, not as they are dragged, or it would run away from the user.
  for (const RunView& run : view.runs)
    top = std::max({top, static_cast<double>(run.spec->train.schedule.peak),
                    static_cast<double>(data.rate(run)->span().highest)});
  if (top <= 0) top = 1e-3;
  plot.y.lo = 0;
  plot.y.hi = top * 1.12;
  plot.y.ticks = {{0, "0"}, {top, ui::number(top)}};
  plot.pad_top = 6;
  for (const RateGroup& group : groups) add_rate_lines(plot, group, view, data, end);
  add_rate_names(plot, groups, view, options, end);
  add_rate_handles(plot, groups, view, end);
  plot.sentence =
      tr(groups.size() == 1 ? "All runs follow one schedule." : "The runs differ in their schedule.");
  Critical critical;
  for (const RunView& run : view.runs) add_critical_line(plot, critical, run, data);
  if (critical.run) show_critical(plot, critical, view, data, top);
  put_cursor(plot, options, false);
  return plot;
}

// ---- The papers' predictions, named curves of measure/theory.h, lie over the measurements.

using Series = plot::Series;  // not the history's

namespace {

constexpr int kEarly = 10;  // steps until which runs can still be compared with where they began

// Asks about a run's one stack, or about the given stack of an encoder-decoder.
theory::Question question_of(const LabView& view, const RunView& run, theory::Subject subject,
                             view::Side side) {
  const bool encoder = side == view::Side::Encoder || run.spec->model.architecture == Architecture::Encoder;
  const bool same_data = run.spec->data == view.runs.front().spec->data;  // the agreement is the first run's
  return {.subject = subject, .decoder = !encoder, .same_token = same_data ? view.agreement.token : 0};
}

// Returns theory's line for a run that began at its own step 1, where theory has one.
std::optional<theory::Line> line_of(const LabView& view, const RunView& run, theory::Subject subject,
                                    view::Side side) {
  if (run.forked_from >= 0 || !run.spec->train.init_from.empty()) return {};
  std::vector<theory::Line> lines = theory::lines(run.spec->model, question_of(view, run, subject, side));
  return lines.empty() ? std::nullopt : std::optional(std::move(lines.front()));
}

// Adds the band in which Pre-LN streams begin, in the colour of the first Pre-LN run.
void add_pre_theory(PlotSpec& plot, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    // An encoder-decoder shows its encoder, because the lemma knows no cross-attention.
    const auto line = line_of(view, run, theory::Subject::StreamSquare, view::sides_of(run).back());
    if (!line || line->high.empty()) continue;
    const std::vector<float> low(line->low.begin(), line->low.end()),
        high(line->high.begin(), line->high.end());
    if (low.size() < 2 || low.front() > 20 * top) return;
    Band band;
    band.id = tr(view::has_both(run) ? "theory for its Pre-LN encoder" : "theory for Pre-LN at the start");
    band.ink = Ink::run(view::colour_of(run));
    band.theory = true;
    band.label = band.id;
    band.help =
        tr("What theory expects of the mean square of the state before any training: in Pre-LN "
           "every branch adds about as much, after a norm all states have one size.");
    const size_t at = (low.size() - 1) / 3;
    band.label_at = {double(at + 1) + 0.4, 0.5 * (low[at] + high[at]) + 0.2 * (high[at] - low[at])};
    band.x = Column::of(std::vector<float>(line->x.begin(), line->x.end()));
    band.lo = Column::of(low);
    band.hi = Column::of(high);
    plot.bands.push_back(std::move(band));
    return;
  }
}

// Adds the level at which the sums of a Post-LN stack begin, whatever its depth.
void add_post_theory(PlotSpec& plot, const LabView& view, double top) {
  for (const RunView& run : view.runs) {
    const auto level = line_of(view, run, theory::Subject::StreamSquare, view::Side::Main);
    if (view::has_both(run) || !level || !level->high.empty()) continue;
    RefLine line{.value = level->low.front()};
    if (line.value < 0.04 * top || line.value > 20 * top) return;
    const words::Place value{"level", ui::decimals(line.value, 2)};
    line.short_label = tr("theory for Post-LN {level}", {value});
    line.label = tr("theory for Post-LN at the start {level}", {value});
    line.label_left = line.label_below = true;
    line.help =
        tr("What theory expects of the mean square of the state before any training: in Pre-LN "
           "every branch adds about as much, after a norm all states have one size.");
    plot.lines.push_back(std::move(line));
    return;
  }
}

void add_name(PlotSpec& plot, double x, float y, std::string letter, std::string text, std::string help) {
  plot.notes.push_back(
      {x, y, std::move(letter), std::move(text), {Ink::Role::Ink2, 0, 1}, -10, 20, std::move(help)});
}

// The predicted gradients of runs that begin alike: a profile, or a single mark where theory knows the last layer only.
struct Prediction {
  std::string letters;
  std::vector<float> y;  // by layer; unknown ones NaN
  std::string of, formula;
  bool from_theory;  // where it ends, too, otherwise where the run's top layer began
};

// The expected gradient norm of the last layer's W2 at step 1; empty where theory has no number.
std::optional<double> last_layer(const LabView& view, const RunView& run) {
  const RunSpec& spec = *run.spec;
  if (spec.train.label_smoothing != 0 || !spec.train.init_from.empty() ||
      !(spec.data == view.runs.front().spec->data))
    return {};
  const auto start = theory::last_layer_start(spec.model, spec.train.batch, view.agreement);
  return start ? std::optional(start->gradient) : std::nullopt;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

void add_prediction(std::vector<Prediction>& all, const RunView& run, const std::vector<double>& profile,
                    double end, Prediction what) {
  for (double share : profile) what.y.push_back(static_cast<float>(share * end));
  for (Prediction& other : all)
    if (same(other.y, what.y)) {
      other.letters += std::string(", ") + run.letter;
      return;
    }
  what.letters = view::letter_of(run);
  all.push_back(std::move(what));
}

// A Post-LN stack's profile over a whole batch: nothing is known of it but where it ends.
std::vector<double> end_only(int layers) {
  std::vector<double> profile(static_cast<size_t>(layers), std::numeric_limits<double>::quiet_NaN());
  profile.back() = 1;
  return profile;
}

// The variance of each cross branch over its skip path's, as the first step measured them.
std::vector<double> cross_variance(view::LabData& data, const RunView& run) {
  const std::vector<float> branch = data.by_layer(run, "cross.branch.variance", 1),
                           skip = data.by_layer(run, "cross.input.variance", 1);
  std::vector<double> ratio;
  for (size_t i = 0; i < branch.size(); ++i)
    if (view::usable(branch[i]) && view::usable(skip[i]))
      ratio.push_back(static_cast<double>(branch[i] / skip[i]));
  return ratio;
}

// Marks the closed form for the last layer, where the profile ends without a measurement.
void mark_last_layer(PlotSpec& plot, const Prediction& p) {
  Series s;
  s.id = tr("theory of the last layer of {runs} at step 1", {{"runs", p.letters}});
  s.x0 = static_cast<double>(p.y.size());
  s.y = Column::of({p.y.back()});
  s.ink = {Ink::Role::Ink2, 0, 1};
  s.marker = ui::Marker::Diamond;
  s.markers = Markers::All;
  s.end_label = false;
  s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
}

}  // namespace

// Draws lines whose every assumption holds (measure/theory/theory.h). Post-LN without
// cross-attention has a mark at its last layer alone: "all layers alike" is true of one position's loss, not a batch's.
bool add_gradient_theory(PlotSpec& plot, const LabView& view, view::LabData& data, const std::string& path,
                         int step) {
  std::vector<Prediction> all;
  const std::string& last = tr("last layer");
  bool of_start = false;
  for (const RunView& run : view.runs) {
    if (run.forked_from >= 0 || !run.spec->train.init_from.empty() || !path.starts_with("ffn.w2")) continue;
    const std::vector<double> cross = cross_variance(data, run);
    theory::Question question = question_of(view, run, theory::Subject::Gradient, view::Side::Main);
    question.cross_variance = cross;
    const std::vector<theory::Line> lines = theory::lines(run.spec->model, question);
    const std::vector<float> start = data.by_layer(run, path, 1);
    if (!lines.empty() && start.size() != lines.front().low.size()) continue;
    const std::string_view name = lines.empty() ? "" : lines.front().equation;
    if (name == "decoder profile") {
      if (view::usable(start.back()))
        add_prediction(all, run, lines.front().low, start.back(),
                       {{}, {}, tr("Post-LN decoder"), tr("∏ 1/√(1 + v), v of the cross branches"), false});
      continue;
    }
    if (step > kEarly) continue;
    const std::optional<double> end = last_layer(view, run);
    if (lines.empty() && !end) continue;
    if (!end && !view::usable(start.back())) continue;
    of_start = true;
    const bool pre = !lines.empty();
    add_prediction(all, run, pre ? lines.front().low : end_only(run.spec->model.layers),
                   end.value_or(start.back()),
                   {{}, {}, pre ? "Pre-LN" : last, pre ? "∝ 1/√q" : last, end.has_value()});
  }
  for (const Prediction& p : all) {
    const bool line = p.y.size() > 1 && std::isfinite(p.y.front());
    const size_t at = line ? p.y.size() / 2 : p.y.size() - 1;
    add_name(plot, double(at + 1), p.y[at], p.letters,
             tr(!p.from_theory ? "theory at step 1: {formula}"
                : line         ? "theory at step 1: {formula}, ending at ◆ {value}"
                               : "theory at step 1: {formula} ◆ {value}",
                {{"formula", p.formula}, {"value", ui::number(p.y.back(), 2)}}),
             view::meaning("theory"));
    if (line)
      add_dotted(plot, Ink::Role::Ink2,
                 tr("theory of {runs} ({whose}) at step 1", {{"runs", p.letters}, {"whose", p.of}}), p.y);
    if (p.from_theory) mark_last_layer(plot, p);
  }
  return of_start;
}

void add_cosine_theory(PlotSpec& plot, const LabView& view, int step) {
  if (step > kEarly) return;
  std::vector<std::vector<double>> drawn;  // runs that differ in their schedule alone share a curve
  for (const RunView& run : view.runs) {
    const auto line = line_of(view, run, theory::Subject::TokenCosine, view::Side::Main);
    if (view::has_both(run) || !line || std::ranges::count(drawn, line->low) > 0) continue;
    drawn.push_back(line->low);
    const std::vector<float> y(drawn.back().begin(), drawn.back().end());
    if (drawn.size() == 1)  // one name serves all of them
      add_name(plot, double(y.size()), y.back(), "", tr("theory at step 1: mean field, even attention"),
               tr("What theory expects of the angle between two tokens before any training, in a very wide "
                  "model whose attention looks at all positions alike."));
    add_dotted(plot, Ink::Role::Ink2, tr("mean field of {runs} at step 1", {{"runs", run.letter}}), y);
  }
}

void add_norm_theory(PlotSpec& plot, const LabView& view, double top) {
  add_pre_theory(plot, view, top);
  add_post_theory(plot, view, top);
}

}  // namespace normscope::panels
