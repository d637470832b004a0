#include "app/lab/transport.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/diagram/diagram.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/view/lab_data.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"
#include "training/session/session_file.h"
#include "training/spec/small_size.h"

namespace normscope::lab {
namespace {

using namespace ui;

// A round distance of tick labels that keeps them about 120 px apart.
int tick_distance(int steps, float width) {
  const double wanted = steps * 120.0 / std::max(1.f, width);
  double unit = 1;
  while (unit * 10 <= wanted) unit *= 10;
  for (double k : {1.0, 2.0, 5.0, 10.0})
    if (unit * k >= wanted) return std::max(1, static_cast<int>(unit * k));
  return std::max(1, static_cast<int>(unit * 10));
}

constexpr float kApart = 14;  // px between two labels
constexpr float kOver = 6;    // px that a label reaches beyond its marker, at least

struct TimelineLabel {
  float x, w, left;  // x: of the marker; w, left: of the text
  int row;           // 0: next to the bar
  std::string text;
  bool upright = false;  // a line leads from the second row through the first down to the marker
  const char* term = "";
};

// Places the labels of the timeline's events in rows: above the marker, or pushed to either side, clear of the
// playhead's flag, of the bookmarks and of each other. A label that does not fit goes to the next row; where all rows
// are full, the run's letter replaces it, or nothing where even that does not fit.
struct Placing {
  Rect bar;
  float playhead, flag_left, flag_right;  // the ends of its flag with the button beside it, in the lower row
  int rows;
  std::function<float(int)> x_of_step;
  std::function<float(const std::string&)> width_of;
  std::vector<float> bookmarks{};  // their middles, also in the lower row
  std::vector<TimelineLabel> labels{};

  void place(std::vector<TimelineMark> left) {
    for (int row = 0; row < rows; ++row) left = fill(left, row);
    for (const TimelineMark& mark : left) add_letter(mark);
    for (TimelineLabel& l : labels) l.upright = l.row > 0 && free_below(l);
  }

  TimelineLabel over_marker(const TimelineMark& mark, int row) const {
    TimelineLabel l{x_of_step(mark.step), width_of(mark.text), 0, row, mark.text, false, mark.term};
    l.left = std::clamp(l.x - l.w / 2, bar.x - 8, std::max(bar.x, bar.right() - l.w));
    return l;
  }

  // Whether a label covers the flag or a bookmark, which are in the lower row only.
  bool covers_flag(const TimelineLabel& l) const {
    if (l.row > 0) return false;
    const auto over = [&](float from, float to) { return l.left < to && l.left + l.w > from; };
    return over(flag_left + 2, flag_right - 2) ||
           std::ranges::any_of(bookmarks, [&](float x) { return over(x - 9, x + 9); });
  }

  // Adds the labels that have room in this row and returns the other marks.
  std::vector<TimelineMark> fill(const std::vector<TimelineMark>& marks, int row) {
    std::vector<TimelineLabel> placed;
    std::vector<TimelineMark> rest;
    for (const TimelineMark& mark : marks) {
      TimelineLabel l = over_marker(mark, row);
      if (row == 0 && l.left < flag_right && l.left + l.w > flag_left)
        l.left = l.x <= playhead ? std::min(l.left, flag_left - l.w) : std::max(l.left, flag_right);
      if (!placed.empty()) {
        TimelineLabel& last = placed.back();
        float before =
            placed.size() > 1 ? placed[placed.size() - 2].left + placed[placed.size() - 2].w + kApart : bar.x;
        if (row == 0 && last.left >= flag_right - 2) before = std::max(before, flag_right);
        float missing = last.left + last.w + kApart - l.left;
        if (missing > 0) {
          const float back =
              std::clamp(std::min(last.left - before, last.left - (last.x + kOver - last.w)), 0.f, missing);
          last.left -= back;
          missing -= back;
          l.left += missing;
        }
      }
      const bool under = l.left <= l.x - kOver + 1 && l.left + l.w >= l.x + kOver - 1;
      if (under && !covers_flag(l) && l.left >= bar.x - 8 && l.left + l.w <= bar.right() + 8)
        placed.push_back(std::move(l));
      else
        rest.push_back(mark);
    }
    labels.insert(labels.end(), placed.begin(), placed.end());
    return rest;
  }

  void add_letter(const TimelineMark& mark) {
    TimelineMark short_mark = mark;
    short_mark.text = mark.letters.substr(0, 1);
    TimelineLabel letter = over_marker(short_mark, 0);
    letter.left = letter.x - letter.w / 2;
    const bool taken = std::ranges::any_of(labels, [&](const TimelineLabel& l) {
      return l.row == 0 && letter.left < l.left + l.w + 4 && letter.left + letter.w > l.left - 4;
    });
    if (!taken && !covers_flag(letter)) labels.push_back(std::move(letter));
  }

  // False where a label of the lower row interrupts the line from the upper one.
  bool free_below(const TimelineLabel& l) const {
    const TimelineLabel line{l.x, 6, l.x - 3, 0, {}};
    return !covers_flag(line) && std::ranges::none_of(labels, [&](const TimelineLabel& other) {
      return other.row == 0 && l.x > other.left - 3 && l.x < other.left + other.w + 3;
    });
  }
};

struct Timeline {
  Ui& ui;
  TransportState& state;
  const LabView& view;
  Rect bar;
  Size size;
  Painter& p;
  const Theme& t;
  int last;
  float room_left = 26, room_right = 26;  // px beside the playhead for its flag and the fork button

  float x_of(double step) const { return bar.x + static_cast<float>(step / last) * bar.w; }

  void input(const Rect& area, const Rect& transport) {
    HitOptions options;
    options.arrows = Arrows::Across;
    options.beside = transport;  // the labels over the bar are part of it
    const int now = cursor_step(state, view);
    const Hit hit =
        ui.hit("timeline", area, fmt::format("{}", now),
               tr("The time of all runs. Drag to look at an earlier step. Double-click, press End or drag "
                  "to the newest step to follow training. Right-click sets a bookmark."),
               options);
    if (hit.held)
      pin_cursor(state, view,
                 static_cast<int>(std::lround((ui.mouse().x - bar.x) / bar.w * static_cast<float>(last))));
    if (hit.double_clicked) state.pinned_step.reset();
    if (hit.right_clicked) {
      const auto step = std::lround((ui.mouse().x - bar.x) / bar.w * static_cast<float>(last));
      toggle_bookmark(state, std::clamp(static_cast<int>(step), 0, view.step));
    }
    if (hit.arrow_x) step_cursor(state, view, hit.arrow_x);
  }

  void track() {
    p.fill(bar, t.trough, bar.h / 2);
    p.outline(bar, t.control, 1, bar.h / 2);
    if (view.step > 0) p.fill({bar.x, bar.y, x_of(view.step) - bar.x, bar.h}, t.ink2, bar.h / 2);
    if (size == Size::Compact) return;
    const int distance = tick_distance(last, bar.w);
    const TextStyle style{Face::Mono, type::tick};
    for (int step = 0; step <= last; step += distance) {
      const std::string text = grouped(step);
      if (step != 0 && last - step < distance / 2 && step != last) continue;
      const Align align = step == 0 ? Align::Left : step == last ? Align::Right : Align::Centre;
      p.text({x_of(step), bar.bottom() + 17}, style, t.ink3, text, align);
    }
    if (last % distance) p.text({bar.right(), bar.bottom() + 17}, style, t.ink3, grouped(last), Align::Right);
  }

  void marker(const TimelineMark& mark, Vec at) {
    const RunLook& look = t.runs[static_cast<size_t>(mark.run)];
    if (!mark.found) return p.marker(at, look.marker, 5.5f, look.line, t.panel);
    p.ring(at, 6, t.panel, 5);
    p.ring(at, 6, look.line, 2);
  }

  // Draws the marks' labels in two rows; in the compact layout in one row of smaller text, directly above the marks.
  void labels(const std::vector<TimelineMark>& marks, float playhead) {
    const bool compact = size == Size::Compact;
    const TextStyle style{Face::Sans, compact ? type::tick : type::body};
    Placing placing{bar,
                    playhead,
                    playhead - room_left,
                    playhead + room_right,
                    compact ? 1 : 2,
                    [this](int step) { return x_of(step); },
                    [&](const std::string& text) { return p.text_width(style, text); }};
    for (int step : state.bookmarks) placing.bookmarks.push_back(x_of(step));
    placing.place(marks);
    int n = 0;
    for (const TimelineLabel& l : placing.labels) {
      const float base = bar.y - (compact ? 8.f : l.row == 0 ? 17.f : 33.f);
      if (*l.term)
        ui.tell(fmt::format("timeline/label{}/term/{}", n++, l.term), {l.left, base - 12, l.w, 15}, l.text,
                view::meaning(l.term));
      if (!compact) p.hairline({l.x, bar.y - 12}, {l.x, bar.y - 4}, t.strong);
      if (l.upright) p.hairline({l.x, bar.y - 29}, {l.x, bar.y - 12}, t.strong);
      p.text({l.left, base}, style, t.ink2, l.text);
    }
  }

  void events(float playhead, std::vector<TimelineMark> marks) {
    std::erase_if(marks, [&](const TimelineMark& mark) { return mark.step > last; });
    labels(marks, playhead);
    const auto place_of = [&](const TimelineMark& mark) {
      return centred({x_of(mark.step), bar.centre().y}, 14, 14);
    };
    std::string said;  // events under the mouse, for those whose label is only a letter or a marker
    for (const TimelineMark& mark : marks)
      if (place_of(mark).contains(ui.mouse()))
        said += tr("{what} at step {step}", {{"what", mark.text}, {"step", grouped(mark.step)}}) + ". ";
    int n = 0;
    for (const TimelineMark& mark : marks) {
      const std::string& kind = tr(mark.found ? "Where the run parts from the baseline."
                                              : "Something the runs did, at the step where it was seen.");
      ui.tell(fmt::format("timeline/event{}", n++), place_of(mark),
              fmt::format("{} {}", mark.step, mark.text), said.empty() ? kind : said);
      marker(mark, {x_of(mark.step), bar.centre().y});
    }
  }

  void bookmarks() {
    std::optional<int> chosen;
    for (int step : state.bookmarks) {
      const Vec at{x_of(std::min(step, last)), bar.y - (size == Size::Compact ? 10.f : 22.f)};
      const Hit hit =
          ui.hit(fmt::format("timeline/bookmark/{}", step), centred(at, 24, 18), fmt::format("{}", step),
                 tr("A bookmark. Click to go there; press B there to remove it."));
      draw_icon(p, Icon::Bookmark, at, 15, hit.hovered ? t.ink : t.ink2);
      if (hit.clicked) chosen = step;
    }
    if (chosen) pin_cursor(state, view, *chosen);
  }

  // The fork button's rectangle next to the flag, on the side with space; nothing where no fork is possible.
  std::optional<Rect> fork_place(float x) {
    const int step = cursor_step(state, view);
    const auto source = static_cast<size_t>(std::max(state.fork_source, 0));
    if (!state.pinned_step || source >= view.runs.size() || step > view.runs[source].step) return {};
    if (size == Size::Compact) {
      const Rect place{std::min(x + 5, bar.right() - 12), bar.y - 20, 20, 18};
      room_right = place.right() + 4 - x;
      return place;
    }
    const float w = p.text_width({Face::Sans, type::tick}, tr("play on from here")) + 24;
    const bool right = x + 26 + w <= bar.right() + 8;
    (right ? room_right : room_left) += w + 4;
    return Rect{right ? x + 26 : x - 26 - w, bar.y - 30, w, 18};
  }

  void fork_button(const Rect& place, std::vector<session::Command>& commands) {
    const RunView& run = view.runs[static_cast<size_t>(state.fork_source)];
    const std::string help =
        tr("D becomes {run} as it stood at step {step}: it waits there for a change or for play, "
           "and then catches up with the others.",
           {{"run", run.letter}, {"step", cursor_step(state, view)}});
    const bool pressed = size == Size::Compact ? icon_button(ui, "timeline/fork", place, Icon::Play, help)
                                               : button(ui, "timeline/fork", place, tr("play on from here"),
                                                        help, {.style = {Face::Sans, type::tick}});
    if (pressed) commands.emplace_back(session::ForkFrom{state.fork_source, cursor_step(state, view)});
  }

  void playhead(float x) {
    const float cy = bar.centre().y;
    if (size == Size::Compact) {
      p.line({x, cy - 14}, {x, cy + 10}, t.ink, 1.6f);
    } else {
      flag(p, t, bar, x, grouped(cursor_step(state, view)));
    }
    p.accent_disc(t, {x, cy}, 7);
  }
};

void clock_line(Ui& ui, const Rect& line, const LabView& view, bool clock) {
  Painter& p = ui.paint();
  const Colour ink = ui.theme().ink2;
  const TextStyle style{Face::Sans, type::tick};
  if (view.instant) {
    const std::string& text = tr("small model, trained whole at every change");
    p.text({line.x, line.centre().y + 4}, style, ink, p.fit(style, text, line.w));
    return ui.tell("transport/clock", line, text,
                   !line.contains(ui.mouse())
                       ? text
                       : tr("Each run on one thread. \"Train in full\" changes {changes}.",
                            {{"changes", size_changes(view, false)}}));
  }
  const bool known = clock && view.seconds_per_step > 0;
  const std::string ms = known
                             ? tr("{ms} ms per step", {{"ms", ui::decimals(view.seconds_per_step * 1000, 1)}})
                             : tr("– ms per step");
  const double rate = view.tokens_per_second;
  const std::string many = !known        ? "–"
                           : rate >= 1e6 ? ui::decimals(rate / 1e6, 1) + " M"
                           : rate >= 1e3 ? fmt::format("{:.0f} k", rate / 1e3)
                                         : fmt::format("{:.0f}", rate);
  const std::string tokens = view::any_stream(view) ? tr("{many} tokens/s", {{"many", many}})
                                                    : tr("{many} rows/s", {{"many", many}});
  const std::string threads =
      clock ? tr("{count} thread | {count} threads", {{"count", view.threads}}) : tr("– threads");
  float x = line.x;
  for (const std::string& part : {ms, tokens, threads}) {
    const float w = p.text_width(style, part);
    if (x + w > line.right()) break;
    p.text({x, line.centre().y + 4}, style, ink, part);
    x += w + 10;
  }
  ui.tell("transport/clock", line, ms + ", " + tokens + ", " + threads,
          tr("How long one step of all runs together takes, how many tokens they read in a second "
             "(rows, for images and states of a parse), and how many threads compute."));
}

void budget_field(Ui& ui, TransportState& state, const LabView& view, const Rect& rect,
                  std::vector<session::Command>& commands) {
  if (state.budget <= 0) state.budget = view.budget;
  FieldOptions options{.lo = 1, .hi = 100000, .step = 50, .log = false, .integer = true, .track = false};
  const ui::Change change =
      field(ui, "transport/budget", rect, "", state.budget,
            tr("How many steps the runs take. Drag or type; more continues, fewer stops early. At its "
               "end play brings as many again."),
            options);
  if (change == ui::Change::Done)
    commands.emplace_back(session::SetBudget{static_cast<int>(std::lround(state.budget))});
  if (change == ui::Change::None) state.budget = view.budget;
}

constexpr float kSpeedWidth = 168;  // fits the labels of all segments with some 10 px on either side of each

// Whether the runs have paused at the budget, so that play adds LabView::portion steps.
bool at_end(const LabView& view) { return !view.playing && view.step > 0 && view.step >= view.budget; }

/// The command that replaces the runs by instant runs at the small size, or by the same runs at the usual size.
session::ReplaceRuns at_other_size(const LabView& view, bool small) {
  session::ReplaceRuns runs;
  for (const RunView& run : view.runs) {
    runs.runs.push_back(small ? *run.spec : at_usual_size(*run.spec));
    // At the small size every run begins at step 0: none is a fork.
    const auto source = static_cast<size_t>(run.forked_from);  // -1 becomes larger than any index
    if (small && source < view.runs.size() &&
        runs.runs.back().name == diagram::fork_name(view.runs[source].letter, false))
      runs.runs.back().name = diagram::fork_name(view.runs[source].letter, true);
    runs.letters += run.letter;
  }
  return small ? instant(std::move(runs)) : runs;
}

constexpr int kInstant = 3;

void choose_speed(TransportState& state, const LabView& view, int speed,
                  std::vector<session::Command>& commands) {
  if (speed == kInstant) return void(commands.emplace_back(at_other_size(view, true)));
  state.speed = speed;
  commands.emplace_back(session::SetSpeed{kSpeeds[speed]});
  if (view.instant) commands.emplace_back(at_other_size(view, false));
}

/// Why the runs cannot be instant; empty: they can.
std::string not_instant(const LabView& view) {
  for (const RunView& run : view.runs)
    if (const Message why = without_small_size(*run.spec); !why.empty()) return words::spoken(why);
  return view.runs.empty() ? tr("There are no runs.") : "";
}

void speed_switch(Ui& ui, TransportState& state, const LabView& view, const Rect& rect,
                  std::vector<session::Command>& commands) {
  const std::vector<words::Label> speeds = labels_of({"slow", "1×", "max", "instant"});
  const std::string refused = not_instant(view);
  std::string small = tr(
      "A small model, of which every change trains all steps anew within moments: whatever you move, the plots show "
      "how the training would have ended (N).");
  if (!view.instant && refused.empty() && rect.contains(ui.mouse()))
    small += " " + tr("It changes {changes}.", {{"changes", size_changes(view, true)}});
  const std::vector<std::string> helps{tr("Four steps a second."), tr("Twenty steps a second."),
                                       tr("As fast as training can go."), std::move(small)};
  int speed = view.instant ? kInstant : state.speed;
  if (segmented(
          ui, "transport/speed", rect, speeds, speed,
          tr("How fast training goes: four steps a second, twenty, as fast as it can, or whole at every "
             "change."),
          helps, std::vector<std::string>{"", "", "", refused}))
    choose_speed(state, view, speed, commands);
}

// The list that the step counter of the compact layout opens: budget, speed and clock figures.
void pace_menu(Ui& ui, TransportState& state, const LabView& view, const Rect& counter, bool clock,
               std::vector<session::Command>& commands) {
  constexpr const char* kName = "transport/pace";
  const Hit hit = ui.hit(kName, counter, fmt::format("{} of {}", view.step, view.budget),
                         tr("The newest step and the budget. Click to set the budget and the speed."));
  if (hit.hovered) ui.paint().outline(counter, ui.theme().control, 1, radius::field);
  draw_icon(ui.paint(), Icon::ChevronDown, {counter.right() - 9, counter.centre().y}, 12, ui.theme().ink3);
  if (hit.clicked || std::exchange(state.open_pace, false)) ui.open_popup(kName);
  const Rect list{counter.x - 8, counter.y - 126, 272, 116};
  if (!ui.begin_popup(kName, list)) return;
  Rect rest = list.inset(12, 10);
  const TextStyle plain{Face::Sans, type::body};
  Rect budget = rest.take_top(28, 6), speed = rest.take_top(28, 6);
  ui.paint().text_in(budget.take_left(56), plain, ui.theme().ink2, tr("Budget"));
  budget_field(ui, state, view, budget.take_left(110, 8).inset(0, 2), commands);
  ui.paint().text_in(budget, plain, ui.theme().ink3, tr("steps"));
  ui.paint().text_in(speed.take_left(56), plain, ui.theme().ink2, tr("Speed"));
  speed_switch(ui, state, view, speed.take_left(kSpeedWidth), commands);
  clock_line(ui, rest, view, clock);
  ui.end_popup();
}

void play_or_pause(const LabView& view, std::vector<session::Command>& commands) {
  if (view.instant)
    commands.emplace_back(at_other_size(view, false));
  else if (view.playing)
    commands.emplace_back(session::Pause{});
  else
    commands.emplace_back(session::Play{});
}

void buttons(Ui& ui, TransportState& state, const LabView& view, float x, float cy, bool compact,
             std::vector<session::Command>& commands) {
  ButtonOptions plain, primary;
  primary.primary = true;
  const float h = compact ? 28 : 30, big = compact ? 34 : 36;
  if (icon_button(ui, "transport/first", centred({x + 17, cy}, 34, h), Icon::First,
                  tr("Look at step 0: the cursor goes there, the runs stay as they are."), plain))
    pin_cursor(state, view, 0);
  if (view.instant) {
    if (icon_button(ui, "transport/reset", centred({x + 155, cy}, 34, h), Icon::Reset,
                    tr("Another seed for all runs: other weights, other batches."), plain))
      commands.emplace_back(session::Reset{true});
    primary.style = {Face::Bold, type::body};
    if (button(
            ui, "transport/play", {x + 40, cy - big / 2, 86, big}, tr("Train in full"),
            tr("Trains these runs at the usual size, step by step (Space); undo brings the small ones back."),
            primary))
      play_or_pause(view, commands);
    return;
  }
  if (icon_button(ui, "transport/reset", centred({x + 155, cy}, 34, h), Icon::Reset,
                  tr("Train again from step 0 with the same seed; undo brings the runs back. Shift: with a "
                     "new seed."),
                  plain)) {
    commands.emplace_back(session::Reset{ui.shift()});
    state.pinned_step.reset();
  }
  if (at_end(view)) {  // more steps are offered in place of play
    primary.style = {Face::Bold, type::body};
    const std::string more = tr("{steps} more", {{"steps", grouped(view.portion)}});
    if (button(ui, "transport/play", {x + 40, cy - big / 2, 86, big}, more,
               tr("The budget is reached. All runs go on for {steps} more steps (Space).",
                  {{"steps", grouped(view.portion)}}),
               primary))
      commands.emplace_back(session::Play{});
    return;
  }
  if (icon_button(ui, "transport/play", centred({x + 63, cy}, 46, big),
                  view.playing ? Icon::Pause : Icon::Play, tr("Train or pause all runs together (Space)."),
                  primary, view.playing ? "playing" : "paused")) {
    play_or_pause(view, commands);
  }
  if (icon_button(ui, "transport/step", centred({x + 109, cy}, 34, h), Icon::Step,
                  tr("One step of every run (Right)."), plain)) {
    commands.emplace_back(session::StepOnce{});
    state.pinned_step.reset();
  }
}

}  // namespace

std::string size_changes(const LabView& view, bool small) {
  const session::ReplaceRuns other = at_other_size(view, small);
  std::string said;
  std::vector<std::string> keys;
  for (size_t i = 0; i < view.runs.size(); ++i)
    for (const Edit& edit : edits_between(*view.runs[i].spec, other.runs[i], 0)) {
      const Field* field = find_field(edit.key);
      if (!field || std::ranges::find(keys, edit.key) != keys.end()) continue;
      keys.push_back(edit.key);
      said += fmt::format("{}{} {} → {}", said.empty() ? "" : ", ", words::spoken(field->label),
                          words::with_decimal(get_field(*view.runs[i].spec, edit.key)),
                          words::with_decimal(edit.value));
    }
  return said;
}

void toggle_bookmark(TransportState& state, int step) {
  const auto place = std::ranges::lower_bound(state.bookmarks, step);
  if (place != state.bookmarks.end() && *place == step)
    state.bookmarks.erase(place);
  else
    state.bookmarks.insert(place, step);
}

int cursor_step(const TransportState& state, const LabView& view) {
  return state.pinned_step ? std::min(*state.pinned_step, view.step) : view.step;
}

void pin_cursor(TransportState& state, const LabView& view, int step) {
  step = std::clamp(step, 0, view.step);
  state.pinned_step.reset();
  if (step < view.step) state.pinned_step = step;
}

void step_cursor(TransportState& state, const LabView& view, int by) {
  pin_cursor(state, view, cursor_step(state, view) + by);
}

void draw_transport(Ui& ui, TransportState& state, const LabView& view, const Rect& rect, Size size,
                    bool clock, std::vector<session::Command>& commands, std::vector<TimelineMark> marks) {
  ui.begin_region("transport", "transport/play");
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(rect, t.panel);
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
  const bool compact = size == Size::Compact;
  const float cy = compact ? rect.centre().y : rect.y + 38;
  std::optional<Ui::Group> group(std::in_place, ui, "pace");
  buttons(ui, state, view, rect.x + 14, cy, compact, commands);

  float x = rect.x + 190;
  const TextStyle counter{Face::Mono, type::counter}, plain{Face::Sans, type::body};
  const std::string now = grouped(view.step);
  Rect bar;
  if (compact) {
    const float w = p.text({x, cy + 6}, {Face::Mono, type::figure}, t.ink, now);
    const float of = p.text({x + w + 6, cy + 5}, plain, t.ink3, fmt::format("/ {}", grouped(view.budget)));
    ui.mark("transport/counter", {x, cy - 12, w + of + 6, 24}, now,
            tr("The newest step, and after it the budget."));
    pace_menu(ui, state, view, {x - 6, cy - 14, w + of + 34, 28}, clock, commands);
    const float start = std::max(rect.x + 292, x + w + of + 44);
    bar = {start, cy - 3, rect.right() - 20 - start, 6};
  } else {
    speed_switch(ui, state, view, {x, cy - 14, kSpeedWidth, 28}, commands);
    x = rect.x + 210 + kSpeedWidth;
    const float base = rect.y + 37;
    const float w = p.text({x, base}, counter, t.ink, now);
    ui.tell("transport/counter", {x, base - 18, w, 22}, now, tr("The newest step."));
    const float of = p.text({x + w + 9, base}, plain, t.ink3, tr("of"));
    const float budget_w = std::max(46.f, p.text_width({Face::Mono, type::body}, grouped(view.budget)) + 22);
    const Rect budget{x + w + of + 18, base - 16, budget_w, 22};
    budget_field(ui, state, view, budget, commands);
    p.text({budget.right() + 8, base}, plain, t.ink3, tr("steps"));
    clock_line(ui, {x, rect.y + 43, 250, 18}, view, clock);
    const float start = 483 + kSpeedWidth;
    bar = {rect.x + start, rect.y + 47, rect.w - start - 26, 6};
  }
  group.reset();
  group.emplace(ui, "time");
  Timeline timeline{ui, state, view, bar, size, p, t, view::steps_shown(view)};
  if (compact) timeline.room_left = timeline.room_right = 6;  // the playhead has no flag
  // The button is hit before the timeline's own area, which reaches under it in the compact layout.
  if (const auto fork = timeline.fork_place(timeline.x_of(cursor_step(state, view))))
    timeline.fork_button(*fork, commands);
  timeline.input({bar.x - 8, bar.centre().y - 14, bar.w + 16, 28}, rect);
  const float playhead = timeline.x_of(cursor_step(state, view));
  timeline.track();
  timeline.events(playhead, std::move(marks));
  timeline.bookmarks();
  timeline.playhead(playhead);
}

void transport_keys(Ui& ui, TransportState& state, const LabView& view,
                    std::vector<session::Command>& commands, bool bookmarks) {
  if (view::pressed(ui, view::Act::Play)) play_or_pause(view, commands);
  if (view::pressed(ui, view::Act::Step)) {
    if (state.pinned_step || view.instant)
      step_cursor(state, view, 1);
    else
      commands.emplace_back(session::StepOnce{});
  }
  if (view::pressed(ui, view::Act::Instant) && (view.instant || not_instant(view).empty()))
    choose_speed(state, view, view.instant ? state.speed : kInstant, commands);
  if (view::pressed(ui, view::Act::Back)) step_cursor(state, view, -1);
  if (view::pressed(ui, view::Act::Newest)) state.pinned_step.reset();
  if (bookmarks && view::pressed(ui, view::Act::Bookmark)) toggle_bookmark(state, cursor_step(state, view));
}

namespace {

// The label of an event and its glossary entry. Events of other kinds are not shown.
struct EventWords {
  RunEvent::Kind kind;
  const char* text;
  const char* term = "";
};
constexpr EventWords kEventWords[] = {{RunEvent::Kind::LeftPlateau, "leaves the plateau", "plateau"},
                                      {RunEvent::Kind::BeganBelow, "began below the plateau", "plateau"},
                                      {RunEvent::Kind::Stuck, "is called stuck", "plateau"},
                                      {RunEvent::Kind::Returned, "falls back to the plateau", "plateau"},
                                      {RunEvent::Kind::Unstuck, "is no longer stuck", "plateau"},
                                      {RunEvent::Kind::NonFinite, "is not finite"},
                                      {RunEvent::Kind::Forked, "starts as a fork", "fork"},
                                      {RunEvent::Kind::Edited, "edited"}};

bool says_change(const RunEvent& event) {
  return event.kind == RunEvent::Kind::Edited && !event.text.empty();
}

std::string event_text(const RunEvent& event, const EventWords& words) {
  return says_change(event) ? words::with_decimal(event.text) : tr(words.text);
}

// Says "B leaves the plateau", or of a change "B: batch 8 → 16", "Runs A–C: …", "Runs A, C: …".
std::string told(const TimelineMark& mark) {
  const std::string& letters = mark.letters;
  const words::Place what{"what", mark.text};
  if (letters.size() == 1)
    return tr(mark.change ? "{run}: {what}" : "{run} {what}", {{"run", letters}, what});
  if (letters.size() > 2 && letters.back() - letters.front() + 1 == static_cast<int>(letters.size()))
    return tr("Runs {first}–{last}: {what}", {{"first", letters.front()}, {"last", letters.back()}, what});
  std::string runs;
  for (size_t i = 0; i < letters.size(); ++i) runs += (i ? ", " : "") + letters.substr(i, 1);
  return tr("Runs {runs}: {what}", {{"runs", runs}, what});
}

}  // namespace

std::vector<TimelineMark> timeline_marks(const LabView& view, const std::vector<TimelineMark>& found) {
  std::vector<TimelineMark> marks;
  for (const RunView& run : view.runs) {
    if (!run.history) continue;
    for (const RunEvent& event : run.history->events()) {
      const auto known = std::ranges::find(kEventWords, event.kind, &EventWords::kind);
      const bool of_source = run.forked_from >= 0 && event.step < run.fork_step;
      if (known == std::end(kEventWords) || of_source) continue;
      std::string text = event_text(event, *known);
      // An edit of several runs in one step is one mark.
      const auto same = std::ranges::find_if(
          marks, [&](const TimelineMark& mark) { return mark.step == event.step && mark.text == text; });
      if (same != marks.end() && event.kind == RunEvent::Kind::Edited)
        same->letters += run.letter;
      else
        marks.push_back({run.letter - 'A', event.step, std::move(text), std::string(1, run.letter), false,
                         known->term, says_change(event)});
    }
  }
  marks.insert(marks.end(), found.begin(), found.end());
  for (TimelineMark& mark : marks) mark.text = told(mark);
  std::ranges::stable_sort(marks, {}, &TimelineMark::step);
  return marks;
}

}  // namespace normscope::lab
