#include "app/lab/timeline_labels.h"

#include <algorithm>

#include "app/words/words.h"

namespace normscope::lab {
namespace {

constexpr std::string_view kBecame = "→";  // separates old and new value in an edit
constexpr float kApart = 14;               // px between two labels
constexpr float kOver = 6;                 // px that a label reaches beyond its marker, at least

// What stands beside an event's marker; events with an empty text are not shown.
std::string event_text(const RunEvent& event) {
  switch (event.kind) {
    case RunEvent::Kind::LeftPlateau:
      // A run of trained weights never was on the plateau, and its event says so.
      return event.text.starts_with("began") ? words::spoken(event.text) : tr("leaves the plateau");
    case RunEvent::Kind::Stuck:
      return tr("is called stuck");
    case RunEvent::Kind::Returned:
      return tr("falls back to the plateau");
    case RunEvent::Kind::Unstuck:
      return tr("is no longer stuck");
    case RunEvent::Kind::NonFinite:
      return tr("is not finite");
    case RunEvent::Kind::Forked:
      return tr("starts as a fork");
    case RunEvent::Kind::Edited:
      return event.text.empty() ? tr("edited") : words::with_decimal(event.text);
    case RunEvent::Kind::Started:
    case RunEvent::Kind::Finished:
    case RunEvent::Kind::Resumed:
      break;
  }
  return {};
}

const char* term_of(RunEvent::Kind kind) {
  switch (kind) {
    case RunEvent::Kind::LeftPlateau:
    case RunEvent::Kind::Stuck:
    case RunEvent::Kind::Returned:
    case RunEvent::Kind::Unstuck:
      return "plateau";
    case RunEvent::Kind::Forked:
      return "fork";
    default:
      return "";
  }
}

// Says "B leaves the plateau", or of a change "B: batch 8 → 16", "Runs A–C: …", "Runs A, C: …".
std::string told(const TimelineMark& mark) {
  const std::string& letters = mark.letters;
  const words::Place what{"what", mark.text};
  if (letters.size() == 1)
    return tr(mark.text.find(kBecame) == mark.text.npos ? "{run} {what}" : "{run}: {what}",
              {{"run", letters}, what});
  if (letters.size() > 2 && letters.back() - letters.front() + 1 == static_cast<int>(letters.size()))
    return tr("Runs {first}–{last}: {what}", {{"first", letters.front()}, {"last", letters.back()}, what});
  std::string runs;
  for (size_t i = 0; i < letters.size(); ++i) runs += (i ? ", " : "") + letters.substr(i, 1);
  return tr("Runs {runs}: {what}", {{"runs", runs}, what});
}

struct Placing {
  const TimelineRoom& room;
  const std::function<float(int)>& x_of_step;
  const std::function<float(const std::string&)>& width_of;
  std::vector<TimelineLabel> labels;

  TimelineLabel over_marker(const TimelineMark& mark, int row) const {
    const ui::Rect& bar = room.bar;
    TimelineLabel l{x_of_step(mark.step), width_of(mark.text), 0, row, mark.text, false, mark.term};
    l.left = std::clamp(l.x - l.w / 2, bar.x - 8, std::max(bar.x, bar.right() - l.w));
    return l;
  }

  // Tests the lower row alone, because the flag and the bookmarks stand there.
  bool covers_flag(const TimelineLabel& l) const {
    if (l.row > 0) return false;
    const auto over = [&](float from, float to) { return l.left < to && l.left + l.w > from; };
    return over(room.flag_left + 2, room.flag_right - 2) ||
           std::ranges::any_of(room.bookmarks, [&](float x) { return over(x - 9, x + 9); });
  }

  // Adds the labels that have room in this row and returns the other marks.
  std::vector<TimelineMark> fill(const std::vector<TimelineMark>& marks, int row) {
    const ui::Rect& bar = room.bar;
    std::vector<TimelineLabel> placed;
    std::vector<TimelineMark> rest;
    for (const TimelineMark& mark : marks) {
      TimelineLabel l = over_marker(mark, row);
      if (row == 0 && l.left < room.flag_right && l.left + l.w > room.flag_left)
        l.left =
            l.x <= room.playhead ? std::min(l.left, room.flag_left - l.w) : std::max(l.left, room.flag_right);
      if (!placed.empty()) {
        TimelineLabel& last = placed.back();
        float before =
            placed.size() > 1 ? placed[placed.size() - 2].left + placed[placed.size() - 2].w + kApart : bar.x;
        if (row == 0 && last.left >= room.flag_right - 2) before = std::max(before, room.flag_right);
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
      if (under && !covers_flag(l) && l.left + l.w <= bar.right() + 8)
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

}  // namespace

std::vector<TimelineMark> timeline_marks(const LabView& view, const std::vector<TimelineMark>& found) {
  std::vector<TimelineMark> marks;
  for (const RunView& run : view.runs) {
    if (!run.history) continue;
    for (const RunEvent& event : run.history->events()) {
      std::string text = event_text(event);
      if (text.empty()) continue;
      // An edit of several runs in one step is one mark.
      const auto same = std::ranges::find_if(
          marks, [&](const TimelineMark& mark) { return mark.step == event.step && mark.text == text; });
      if (same != marks.end() && event.kind == RunEvent::Kind::Edited)
        same->letters += run.letter;
      else
        marks.push_back({run.letter - 'A', event.step, std::move(text), std::string(1, run.letter), false,
                         term_of(event.kind)});
    }
  }
  marks.insert(marks.end(), found.begin(), found.end());
  for (TimelineMark& mark : marks) mark.text = told(mark);
  std::ranges::stable_sort(marks, {}, &TimelineMark::step);
  return marks;
}

std::vector<TimelineLabel> place_timeline_labels(const std::vector<TimelineMark>& marks,
                                                 const TimelineRoom& room,
                                                 const std::function<float(int)>& x_of_step,
                                                 const std::function<float(const std::string&)>& width_of) {
  Placing placing{room, x_of_step, width_of, {}};
  std::vector<TimelineMark> left = marks;
  for (int row = 0; row < room.rows; ++row) left = placing.fill(left, row);
  for (const TimelineMark& mark : left) placing.add_letter(mark);
  for (TimelineLabel& l : placing.labels) l.upright = l.row > 0 && placing.free_below(l);
  return std::move(placing.labels);
}

}  // namespace normscope::lab
