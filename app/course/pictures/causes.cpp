#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/course/pictures/pictures.h"
#include "app/ui/widgets.h"
#include "training/io/text.h"
#include "training/spec/spec.h"

namespace normscope::course {
namespace {

using namespace ui;

constexpr float kCauseBox = 32, kCausePad = 12, kCauseRing = 22, kCauseRingGap = 6;
constexpr float kReturnRoom = 30;   // px: room on the left for the arrow back to the first cause
constexpr float kCauseArrow = 28;   // px: from the left edge of a box to the arrow below it
constexpr float kBesideArrow = 46;  // px: from there to the words beside the arrow
constexpr float kBetweenColumns = 24, kWordsPad = 6, kCauseLine = 18, kSettingLine = 16;
constexpr float kCauseShaft = 2.4f, kCauseTip = 8, kCauseBarb = 5;
constexpr float kScissors = 11;      // px: radius of the disc on an arrow
constexpr float kLeftColumn = 0.5f;  // share of the width in which the left column ends

const TextStyle kCauseStyle{Face::Bold, type::run_name}, kToldStyle{Face::Sans, type::title},
    kSettingStyle{Face::Mono, type::tick}, kColumnStyle{Face::Sans, type::body},
    kRingStyle{Face::Mono, type::tick};

/// "model.placement = pre", shortened where it has no room.
std::string switch_text(const Painter& p, const std::string& setting, float room) {
  const size_t equals = setting.find('=');
  return p.fit(kSettingStyle, setting.substr(0, equals) + " = " + setting.substr(equals + 1), room);
}

float cut_height(const Painter& p, const Causes::Link& link, float width) {
  return p.wrapped_height(width, kToldStyle, link.cut, kCauseLine) +
         kSettingLine * static_cast<float>(link.settings.size());
}

/// An open pair of scissors in a disc, about to close on what is to its right.
void paint_scissors(Painter& p, const Theme& t, Vec at) {
  p.circle(at, kScissors, t.panel);
  p.ring(at, kScissors - 1, t.ink, 1.4f);
  for (const float side : {-1.f, 1.f}) {
    p.ring({at.x - 4.5f, at.y + side * 3.2f}, 2.1f, t.ink, 1.3f);
    p.line({at.x - 2.8f, at.y + side * 2.1f}, {at.x + 6, at.y - side * 3.4f}, t.ink, 1.4f);
  }
}

void paint_tip(Painter& p, Vec tip, Vec along, Colour colour) {
  const Vec across{along.y * kCauseBarb, -along.x * kCauseBarb},
      foot{tip.x - along.x * kCauseTip, tip.y - along.y * kCauseTip};
  const Vec head[] = {{foot.x + across.x, foot.y + across.y}, {foot.x - across.x, foot.y - across.y}, tip};
  p.polygon(head, colour);
}

/// The arrow from the last cause back to the first.
void paint_return(Painter& p, const Theme& t, const Rect& first, const Rect& last, float end) {
  const float x = last.x + kCauseArrow, left = first.x - kReturnRoom + kCauseBarb;
  const Vec path[] = {{x, last.bottom()},
                      {x, end},
                      {left, end},
                      {left, first.centre().y},
                      {first.x - kCauseTip, first.centre().y}};
  p.polyline(path, t.ink2, kCauseShaft);
  paint_tip(p, {first.x - 1, first.centre().y}, {1, 0}, t.ink2);
}

void paint_link(Painter& p, const Theme& t, const Causes::Link& link, const CausesPlaces& places, size_t i) {
  const Rect &box = places.boxes[i], &beside = places.measured[i];
  p.fill(box, t.raised, radius::button);
  p.outline(box, t.wire, line::box, radius::button);
  p.text_in(box.inset(kCausePad, 0), kCauseStyle, t.ink, link.cause);
  for (size_t k = 0; k < link.lessons.size(); ++k) {
    const Rect& ring = places.rings[i][k];
    p.ring(ring.centre(), kCauseRing / 2 - 1, t.control, 1.6f);
    p.text_in(ring, kRingStyle, t.ink2, std::to_string(link.lessons[k]->number), Align::Centre);
  }
  p.text_wrapped(beside, kToldStyle, t.ink, link.measured, kCauseLine);
  Rect cut = places.cuts[i];
  const float middle = cut.centre().y;
  paint_scissors(p, t, {box.x + kCauseArrow, middle});
  paint_scissors(p, t, {cut.x + kScissors, cut.y + kCauseLine / 2});
  cut.take_left(2 * kScissors, 8);
  cut.take_top(p.text_wrapped(cut, kToldStyle, t.ink, link.cut, kCauseLine));
  for (const std::string& setting : link.settings)
    p.text_in(cut.take_top(kSettingLine), kSettingStyle, t.ink2, switch_text(p, setting, cut.w));
}

/// The pieces of a block up to its {cut} or behind it, without the emphasised words and the rings.
std::string sentence_of(const Block& block, bool behind,
                        const std::function<std::string(const std::string&)>& range) {
  std::string out;
  bool cut = false;
  for (const Inline& piece : block.inlines) {
    cut = cut || piece.kind == Inline::Kind::Cut;
    if (cut != behind || piece.strong) continue;
    if (piece.kind == Inline::Kind::Text) out += piece.text;
    if (piece.kind == Inline::Kind::Band) out += range(piece.text);
  }
  return std::string(trimmed(out));
}

std::vector<std::string> settings_in(const std::string& mark) {
  std::vector<std::string> all;
  for (const std::string_view part : split(mark, ';'))
    if (const std::string_view setting = trimmed(part); !setting.empty()) all.emplace_back(setting);
  return all;
}

}  // namespace

std::string Causes::Link::as_text(const Words& words) const {
  return words.tr("{cause}: {measured} Cut by {settings}: {cut}",
                  {{"cause", cause},
                   {"measured", measured},
                   {"settings", fmt::format("{}", fmt::join(settings, ", "))},
                   {"cut", cut}});
}

RunSpec run_with(const std::vector<std::string>& settings) {
  RunSpec spec;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    set_field(spec, setting.substr(0, equals), equals == setting.npos ? "" : setting.substr(equals + 1));
  }
  return spec;
}

Causes causes_of(const Course& course, const std::function<std::string(const std::string&)>& range) {
  Causes causes;
  if (!course.why) return causes;
  for (const Block& block : course.why->blocks) {
    if (block.kind != Block::Kind::Numbered) continue;
    Causes::Link link;
    link.measured = sentence_of(block, false, range);
    link.cut = sentence_of(block, true, range);
    for (const Inline& piece : block.inlines) {
      if (piece.strong && piece.kind == Inline::Kind::Text) link.cause += piece.text;
      if (piece.kind == Inline::Kind::Cut) link.settings = settings_in(piece.text);
      if (piece.kind == Inline::Kind::Lesson) link.lessons.push_back(course.find(piece.text));
    }
    causes.links.push_back(std::move(link));
  }
  return causes;
}

CausesPlaces places_of(const Painter& p, const Causes& causes, Vec corner, float width) {
  CausesPlaces places;
  const float left = corner.x + kReturnRoom, middle = corner.x + width * kLeftColumn,
              right = corner.x + width;
  places.head = {middle, corner.y, right - middle, kCauseBox};
  float y = corner.y;
  for (const Causes::Link& link : causes.links) {
    // A cause with long words reaches over the second column, which is empty beside it; not beside the first.
    const float rings = static_cast<float>(link.lessons.size()) * (kCauseRing + kCauseRingGap);
    const float most = (places.boxes.empty() ? middle - kBetweenColumns : right) - left;
    const Rect box{left, y, std::min(most, p.text_width(kCauseStyle, link.cause) + 2 * kCausePad + rings + 2),
                   kCauseBox};
    std::vector<Rect>& numbers = places.rings.emplace_back();
    for (size_t k = 0; k < link.lessons.size(); ++k)
      numbers.push_back({box.right() - kCausePad + kCauseRingGap -
                             static_cast<float>(link.lessons.size() - k) * (kCauseRing + kCauseRingGap),
                         box.centre().y - kCauseRing / 2, kCauseRing, kCauseRing});
    y = box.bottom() + kWordsPad;
    Rect beside{left + kBesideArrow, y, middle - kBetweenColumns - left - kBesideArrow, 0};
    Rect cut{middle, y, right - middle, 0};
    beside.h = p.wrapped_height(beside.w, kToldStyle, link.measured, kCauseLine);
    cut.h = cut_height(p, link, cut.w - 2 * kScissors - 8);
    const float high = std::max({beside.h, cut.h, 2 * kScissors + 2 * kCauseTip});
    for (Rect* one : {&beside, &cut}) one->y += (high - one->h) / 2;
    places.boxes.push_back(box);
    places.measured.push_back(beside);
    places.cuts.push_back(cut);
    y += high + kWordsPad;
  }
  places.height = y - corner.y;
  return places;
}

void paint_causes(Painter& p, const Theme& t, const Causes& causes, const CausesPlaces& places,
                  const Words& words) {
  if (causes.links.empty()) return;
  for (size_t i = 0; i + 1 < places.boxes.size(); ++i) {
    const float x = places.boxes[i].x + kCauseArrow, tip = places.boxes[i + 1].y - 1;
    p.line({x, places.boxes[i].bottom()}, {x, tip - kCauseTip + 1}, t.ink2, kCauseShaft);
    paint_tip(p, {x, tip}, {0, 1}, t.ink2);
  }
  paint_return(p, t, places.boxes.front(), places.boxes.back(),
               places.boxes.front().y + places.height - kWordsPad / 2);
  p.text_in(places.head, kColumnStyle, t.ink3, words.tr("What cuts the arrow, and what came of it"));
  for (size_t i = 0; i < causes.links.size(); ++i) {
    p.begin_group(causes.links[i].as_text(words));
    paint_link(p, t, causes.links[i], places, i);
    p.end_group();
  }
}

std::string causes_svg(const Causes& causes, const Words& words) {
  constexpr float kWide = 720, kEdge = 12;
  return ui::to_svg(words.tr("So why?"), [&](Painter& p, const Theme& t) {
    const CausesPlaces places = places_of(p, causes, {kEdge, kEdge}, kWide - 2 * kEdge);
    const Vec size{kWide, places.height + 2 * kEdge};
    p.fill({0, 0, size.x, size.y}, t.panel);
    paint_causes(p, t, causes, places, words);
    return size;
  });
}

Message wrong_causes(const Prose& page) {
  for (const Block& block : page.blocks) {
    if (block.kind != Block::Kind::Numbered) continue;
    const auto count = [&](Inline::Kind kind, bool strong) {
      return std::ranges::count_if(
          block.inlines, [&](const Inline& piece) { return piece.kind == kind && piece.strong == strong; });
    };
    const auto nothing = [](const std::string&) { return std::string(); };
    const int line = block.inlines.empty() ? 1 : block.inlines.front().line;
    if (count(Inline::Kind::Text, true) != 1 || count(Inline::Kind::Cut, false) != 1 ||
        count(Inline::Kind::Band, false) == 0 || sentence_of(block, true, nothing).empty())
      return Message(
          "{}:{}: an item of the numbered list is no cause: expected *words*, a sentence with {{band "
          "ID.MEASURE}}, one {{cut KEY=VALUE}} and a sentence",
          page.file, line);
    for (const Inline& piece : block.inlines) {
      if (piece.kind != Inline::Kind::Cut) continue;
      try {
        run_with(settings_in(piece.text));
      } catch (const Error& error) {
        return Message("{}:{}: {{cut}}: {}", page.file, piece.line, error.message);
      }
    }
  }
  return {};
}

}  // namespace normscope::course
