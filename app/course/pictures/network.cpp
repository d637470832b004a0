#include "app/course/pictures/pictures.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/core/error.h"

namespace normscope::course {
namespace {

using namespace ui;

constexpr size_t kMaxNumbers = 6;  // in a box
constexpr float kNameWidth = 15, kMaxCell = 48, kColumnGap = 10, kHighestLevel = 76, kHighestBox = 44;
// Between two levels: room for an arrow and an instruction's words, or for the arrow alone where levels are low.
constexpr float kWhatHigh = 15, kGapWithWords = 17, kArrowGap = 9, kLowestWithWords = 46;
constexpr float kTwoLines = 30;  // a lower box gives its value the whole height until there is a gradient
constexpr float kApart = 5;      // px between the line up and the line down
constexpr float kTip = 5;

const TextStyle kNameStyle{Face::Bold, type::title}, kNumberStyle{Face::Mono, type::tick},
    kWhatStyle{Face::Sans, type::tick};

std::vector<std::string> numbers_of(const std::vector<std::string>& lines) {
  return lines.empty() ? std::vector<std::string>{} : numbers_in(lines.front());
}

/// Finds the box of a name while the network grows.
class Layout {
 public:
  Layout(const SmallTape& tape, const TapeTable& table) : tape_(tape), table_(table) {}

  TapeNetwork all() {
    for (size_t row = 0; row < table_.rows.size(); ++row) {
      box_of_[table_.rows[row].name] = row;
      network_.boxes.push_back({row, 0, 0, {}});
    }
    for (const SmallTape::Number& n : tape_.numbers) note_width(n.values.size(), n.rows, n.name);
    size_t level = 0;
    for (size_t row = tape_.numbers.size(); row < table_.rows.size(); ++row) put(row, ++level);
    network_.levels = level + 1;
    for (const NetworkBox& box : network_.boxes)
      network_.columns = std::max(network_.columns, box.column + 1);
    return std::move(network_);
  }

 private:
  void note_width(size_t values, int32_t rows, const std::string& name) {
    if ((rows > 1 && static_cast<size_t>(rows) != values) || values > kMaxNumbers)
      throw Error("'{}' has {} numbers in {} rows: expected one row or column of at most {}", name, values,
                  rows, kMaxNumbers);
    network_.numbers = std::max(network_.numbers, values);
  }

  const SmallTape::Instruction* instruction(const std::string& name) const {
    for (const SmallTape::Instruction& i : tape_.instructions)
      if (i.name == name) return &i;
    return nullptr;
  }

  /// Whether a sum reads `name` too and `reader` is no sum: then `reader` begins a branch.
  bool branches_off(const std::string& name, const std::string& reader) const {
    const SmallTape::Instruction* reads = instruction(reader);
    if (!reads || reads->op == SmallTape::Op::Add) return false;
    return std::ranges::any_of(tape_.instructions,
                               [&](const auto& i) { return i.op == SmallTape::Op::Add && i.of[0] == name; });
  }

  void put(size_t row, size_t level) {
    NetworkBox& box = network_.boxes[row];
    box.level = level;
    const std::string& name = table_.rows[row].name;
    const SmallTape::Instruction* i = instruction(name);
    if (!i || (i->op == SmallTape::Op::CrossEntropy && row > 0 && !instruction(table_.rows[row - 1].name)))
      return read(box, row - 1);  // the probabilities read the scores, and the loss reads them
    for (size_t k = 0; k < i->of.size(); ++k) {
      const size_t from = box_of_.at(i->of[k]);
      box.reads.push_back(from);
      NetworkBox& source = network_.boxes[from];
      const bool given = from < tape_.numbers.size();
      if (k == 0) box.column = source.column + (branches_off(i->of[0], name) ? 1 : 0);
      if (k > 0 && given) {  // a weight stands beside what it multiplies
        source.level = level;
        source.column = box.column + 1;
      }
    }
  }

  void read(NetworkBox& box, size_t from) {
    box.reads.push_back(from);
    box.column = network_.boxes[from].column;
  }

  const SmallTape& tape_;
  const TapeTable& table_;
  std::map<std::string, size_t> box_of_;
  TapeNetwork network_;
};

/// A right-angled line from a box to a box that reads it, `aside` px off the middle.
std::vector<Vec> wire_between(const TapeNetwork& network, const NetworkPlaces& places, size_t from, size_t to,
                              float aside) {
  const NetworkBox &a = network.boxes[from], &b = network.boxes[to];
  const Rect &source = places.boxes[from], &target = places.boxes[to];
  if (a.column == b.column)
    return {{source.centre().x + aside, source.y}, {source.centre().x + aside, target.bottom()}};
  if (a.level == b.level)
    return {{source.x, source.centre().y + aside}, {target.right(), target.centre().y + aside}};
  if (a.column < b.column) {
    const float x = target.centre().x + aside, y = source.centre().y - aside;
    return {{source.right(), y}, {x, y}, {x, target.bottom()}};
  }
  const float x = source.centre().x + aside, y = target.centre().y + aside;
  return {{x, source.y}, {x, y}, {target.right(), y}};
}

/// Draws the head of an arrow that comes from `from` and ends at `to`.
void tip(Painter& p, Vec from, Vec to, Colour colour) {
  const float dx = to.x > from.x ? 1.f : to.x < from.x ? -1.f : 0.f;
  const float dy = to.y > from.y ? 1.f : to.y < from.y ? -1.f : 0.f;
  const Vec back{to.x - dx * kTip, to.y - dy * kTip};
  p.polygon(std::array{to, Vec{back.x - dy * kTip * 0.7f, back.y + dx * kTip * 0.7f},
                       Vec{back.x + dy * kTip * 0.7f, back.y - dx * kTip * 0.7f}},
            colour);
}

/// Whether the backward pass has reached a box. The probabilities have no gradient of their own, because the loss
/// writes the gradient of the scores directly: they count as passed once the scores are reached.
bool passed_back(const NetworkPicture& picture, size_t box) {
  if (!picture.table->rows[box].gradient.empty()) return true;
  const std::vector<size_t>& reads = picture.network->boxes[box].reads;
  const bool has_own = box + 2 != picture.network->boxes.size() || reads.size() != 1;
  return !has_own && !picture.table->rows[reads[0]].gradient.empty() &&
         !picture.table->rows[box + 1].gradient.empty();
}

void draw_wires(Painter& p, const Theme& t, const NetworkPicture& picture, const NetworkPlaces& places) {
  const TapeNetwork& network = *picture.network;
  for (size_t to = 0; to < network.boxes.size(); ++to)
    for (const size_t from : network.boxes[to].reads) {
      const bool up = !picture.table->rows[to].value.empty();
      const bool down = passed_back(picture, to) && passed_back(picture, from);
      std::vector<Vec> points = wire_between(network, places, from, to, down ? -kApart : 0);
      p.polyline(points, up ? t.ink2 : t.wire, up ? 1.7f : 1);
      tip(p, points[points.size() - 2], points.back(), up ? t.ink2 : t.wire);
      if (!down) continue;
      points = wire_between(network, places, from, to, kApart);
      std::ranges::reverse(points);
      p.dashed(points, t.ink, 1.7f, {4, 3});
      tip(p, points[points.size() - 2], points.back(), t.ink);
    }
}

/// Draws the numbers of a box's upper or lower line, the followed one in a frame. A single number has the
/// whole line; of several, one that is too wide for its cell is written as `shorter` has it.
void draw_line(Painter& p, const Theme& t, const Rect& line, float cell,
               const std::vector<std::string>& numbers, const std::vector<std::string>& shorter,
               size_t place) {
  if (numbers.size() == 1) p.text_in(line.inset(6, 0), kNumberStyle, t.ink, numbers[0]);
  Rect at{line.x, line.y, cell, line.h};
  for (size_t k = 0; numbers.size() > 1 && k < numbers.size(); ++k, at.x += cell) {
    if (k + 1 == place) p.outline(at.inset(1, 1), t.ink, 1.2f, 3);
    const bool fits = p.text_width(kNumberStyle, numbers[k]) <= cell - 2;
    p.text({at.centre().x, at.centre().y + 4}, kNumberStyle, t.ink,
           fits || k >= shorter.size() ? numbers[k] : shorter[k], Align::Centre);
  }
}

void draw_box(Painter& p, const Theme& t, const NetworkPicture& picture, const NetworkPlaces& places,
              size_t index) {
  const TapeRow& row = picture.table->rows[index];
  const Rect& box = places.boxes[index];
  p.fill(box, row.now ? t.accent_soft : t.raised, radius::field);
  Rect numbers = box;
  numbers.take_left(places.name);
  Rect upper = numbers;
  const Rect lower = upper.take_bottom(box.h / 2);
  if (row.gradient.empty() && box.h < kTwoLines) upper = numbers;
  if (!row.gradient.empty()) p.fill(lower.inset(1, 1), t.sunk, 3);
  p.outline(box, row.now ? t.ink : t.strong, row.now ? 1.6f : 1, radius::field);
  p.text_in({box.x, box.y, places.name, box.h}, kNameStyle, t.ink, row.name, Align::Centre);
  const TapeRow& shorter = (picture.shorter ? picture.shorter : picture.table)->rows[index];
  draw_line(p, t, upper, places.cell, numbers_of(row.value), numbers_of(shorter.value), picture.place);
  draw_line(p, t, lower, places.cell, numbers_of(row.gradient), numbers_of(shorter.gradient), picture.place);
  if (row.what.empty() || !places.with_words) return;
  const TapeNetwork& network = *picture.network;
  const bool read = network.boxes[index].level + 1 < network.levels;  // a line leaves its upper edge
  const float room = read ? box.w / 2 - kApart - kTip : box.w;
  p.text_in({box.x, box.y - kWhatHigh - 1, room, kWhatHigh}, kWhatStyle, t.ink3,
            p.fit(kWhatStyle, row.what, room));
}

}  // namespace

TapeNetwork network_of(const SmallTape& tape, const TapeTable& table) { return Layout(tape, table).all(); }

NetworkPlaces places_of(const TapeNetwork& network, const Rect& area) {
  NetworkPlaces places;
  const auto columns = static_cast<float>(network.columns), levels = static_cast<float>(network.levels);
  const float width = (area.w - kColumnGap * (columns - 1)) / columns;
  places.name = kNameWidth;
  places.cell = std::min(kMaxCell, (width - kNameWidth - 2) / static_cast<float>(network.numbers));
  const float level = std::min(kHighestLevel, area.h / levels);
  places.with_words = level >= kLowestWithWords;
  const float high = std::min(kHighestBox, level - (places.with_words ? kGapWithWords : kArrowGap));
  const float box = kNameWidth + places.cell * static_cast<float>(network.numbers) + 2;
  size_t highest = 0;  // level of a box beside the stream
  for (const NetworkBox& one : network.boxes) {
    const float x = area.x + (box + kColumnGap) * static_cast<float>(one.column);
    const float bottom = area.bottom() - level * static_cast<float>(one.level);
    places.boxes.push_back({x, bottom - high, box, high});
    if (one.column > 0) highest = std::max(highest, one.level);
  }
  const float left = area.x + box + kColumnGap;
  const float bottom = area.bottom() - level * static_cast<float>(highest + 1);
  places.free = {left, area.y, area.right() - left, std::max(0.f, bottom - area.y - 12)};
  return places;
}

size_t place_at(const NetworkPicture& picture, const NetworkPlaces& places, Vec point) {
  for (size_t i = 0; i < places.boxes.size(); ++i) {
    Rect numbers = places.boxes[i];
    numbers.take_left(places.name);
    if (!numbers.contains(point)) continue;
    const auto place = static_cast<size_t>((point.x - numbers.x) / places.cell) + 1;
    const size_t there = numbers_of(picture.table->rows[i].value).size();
    return place <= there && there > 1 ? place : 0;
  }
  return 0;
}

void draw_network(Painter& p, const Theme& t, const NetworkPicture& picture, const NetworkPlaces& places) {
  draw_wires(p, t, picture, places);
  for (size_t i = 0; i < places.boxes.size(); ++i) draw_box(p, t, picture, places, i);
}

}  // namespace normscope::course
