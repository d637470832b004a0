// Texts that have to find a place in a plot. No text is ever written over another: labels are pushed apart, notes try
// other places, and a text without a place is left out.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "app/plot/plot_builder.h"
#include "app/plot/plot_river.h"
#include "app/ui/numbers.h"

namespace normscope::plot {
namespace {

const ui::TextStyle bold{ui::Face::Bold, ui::type::title}, value_style{ui::Face::Mono, ui::type::title},
    small{ui::Face::Sans, ui::type::body}, tiny{ui::Face::Sans, ui::type::tick};
constexpr float part_gap = 6;

struct Label {
  const Series* series;
  ui::Vec end;     // of the line, px
  float baseline;  // wanted, then placed
};

// How much of a label is written: everything, letter and value, the letter alone.
enum class Detail { Full, Value, Letter };

float width_of(const Series& s, Detail detail, const Measure& measure) {
  float w = 0;
  auto part = [&](ui::TextStyle style, const std::string& text) {
    if (!text.empty()) w += (w > 0 ? part_gap : 0) + measure(style, text);
  };
  part(bold, s.letter);
  if (detail != Detail::Letter || s.letter.empty()) part(value_style, s.value);
  if (detail == Detail::Full || (s.letter.empty() && s.value.empty())) part(small, s.name);
  return w;
}

void write(Builder& b, const Series& s, ui::Vec at, Detail detail) {
  const ui::Colour colour = text_colour(b.theme, s.ink);
  auto part = [&](ui::TextStyle style, ui::Colour ink, const std::string& text) {
    if (text.empty()) return;
    b.text(at, style, ink, text);
    at.x += b.measure(style, text) + part_gap;
  };
  part(bold, colour, s.letter);
  if (detail != Detail::Letter || s.letter.empty()) part(value_style, colour, s.value);
  bool only_name = s.letter.empty() && s.value.empty();
  if (detail == Detail::Full || only_name) part(small, only_name ? colour : b.theme.ink2, s.name);
}

std::vector<Label> wanted_labels(Builder& b) {
  std::vector<Label> labels;
  const ui::Rect& a = b.out.map.area;
  for (const Series& s : b.plot.series) {
    if (!s.end_label || s.y.empty() || (s.letter.empty() && s.value.empty() && s.name.empty())) continue;
    size_t i = s.y.size();
    while (i > 0 && !std::isfinite(s.y[i - 1])) --i;
    if (i == 0) continue;
    ui::Vec end = b.out.map(s.x_at(i - 1), s.y[i - 1]);
    labels.push_back({&s, {std::min(end.x, a.right()), end.y}, std::clamp(end.y, a.y, a.bottom()) + 4.5f});
  }
  // With more labels than lines of text the middle ones go, because the outermost tell the spread.
  size_t room = std::max<size_t>(1, size_t(a.h / 14));
  std::ranges::stable_sort(labels, {}, &Label::baseline);
  while (labels.size() > room) labels.erase(labels.begin() + long(labels.size() / 2));
  return labels;
}

// What does not move in the label column (texts, the flag, reference lines), as slots for baselines.
// Obstacles with no room for a label between them become one.
std::vector<Slot> obstacles(const Builder& b, const ui::Rect& column) {
  const ui::Rect& a = b.out.map.area;
  std::vector<std::pair<float, float>> spans;
  for (const ui::Rect& t : b.taken)
    if (t.overlaps(column) && t.bottom() < a.bottom() + 2) spans.push_back({t.y + 1.5f, t.bottom() + 5});
  for (const RefLine& l : b.plot.lines)
    if (float p = b.out.map.y(l.value); l.horizontal && column.x < a.right() && p > a.y && p < a.bottom())
      spans.push_back({p + 3, p + 5});  // a baseline 5 px above or 13 below clears the line
  std::ranges::sort(spans);
  std::vector<Slot> slots;
  for (size_t i = 0; i < spans.size();) {
    auto [top, bottom] = spans[i];
    for (++i; i < spans.size() && spans[i].first - bottom < label_gap; ++i)
      bottom = std::max(bottom, spans[i].second);
    slots.push_back({(top + bottom) / 2, (bottom - top) / 2, 1e6f});
  }
  return slots;
}

void label_ends(Builder& b) {
  std::vector<Label> labels = wanted_labels(b);
  if (labels.empty()) return;
  const ui::Rect& a = b.out.map.area;
  float x = a.right() + 10;
  if (b.plot.labels_inside) {
    x = 0;
    for (const Label& l : labels) x = std::max(x, l.end.x + label_offset);
    if (b.plot.heat) x = std::max(x, a.right() + label_offset);
    if (b.plot.cursor) x = std::max(x, std::min(b.out.map.x(b.plot.cursor->x), a.right()) + label_offset);
  }
  float available = b.rect.right() - 2 - x;
  Detail detail = Detail::Full;
  auto widest = [&](Detail d) {
    float w = 0;
    for (const Label& l : labels) w = std::max(w, width_of(*l.series, d, b.measure));
    return w;
  };
  for (Detail d : {Detail::Full, Detail::Value, Detail::Letter}) {
    detail = d;
    if (widest(d) <= available) break;
  }
  float width = widest(detail);
  if (width > available) x = b.rect.right() - 2 - width;

  const ui::Rect column{x - 4, a.y - 20, width + 8, a.h + 40};
  std::vector<Slot> slots;
  for (const Label& l : labels) slots.push_back({l.baseline, label_gap / 2, 1});
  for (Slot obstacle : obstacles(b, column)) slots.push_back(obstacle);
  std::vector<float> placed = spread(slots, a.y + 9, a.bottom() - 2);
  for (size_t i = 0; i < labels.size(); ++i) {
    const float w = width_of(*labels[i].series, detail, b.measure);
    // A label takes the computed place or the next free one: it is never lost while there is any room.
    for (float d = 0; d < a.h; d = d <= 0 ? 4 - d : -d) {
      float y = placed[i] + d;
      if (y < a.y + 8 || y > a.bottom() - 1 || !b.is_free({x - 1, y - 10, w + 2, 12.5f})) continue;
      write(b, *labels[i].series, {x, y}, detail);
      break;
    }
  }
}

// Writes beside an earlier cursor what it reads from each line: the numbers at the ends belong to the
// ends. The texts stand over the lines, on a ground of their own.
void label_cursor(Builder& b) {
  if (b.cursor_x < b.out.map.area.x) return;
  const ui::Rect& a = b.out.map.area;
  struct Reading {
    const Series* series;
    ui::Vec at;
    std::string number;
  };
  std::vector<Reading> readings;
  std::vector<Slot> slots;
  float width = 0;
  for (const Series& s : b.plot.series) {
    const size_t i = nearest_index(s, b.plot.cursor->x);
    if (s.decimals < 0 || i + 1 >= s.y.size() || !std::isfinite(s.y[i]) || s.x_at(0) > b.plot.cursor->x)
      continue;
    const ui::Vec at = b.out.map(s.x_at(i), s.y[i]);
    if (at.y < a.y || at.y > a.bottom()) continue;
    readings.push_back({&s, at, ui::decimals(double(s.y[i]), s.decimals)});
    slots.push_back({at.y + 4.5f, label_gap / 2, 1});
    width = std::max(width,
                     b.measure(bold, s.letter) + part_gap + b.measure(value_style, readings.back().number));
  }
  const std::vector<float> rows = spread(slots, a.y + 30, a.bottom() - 2);  // below the flag
  // Near the ends, whose labels stand right of them, they stand left of the cursor.
  const float end = std::min(b.out.map.x(end_of_lines(b.plot)), a.right());
  const float left = b.cursor_x + (b.cursor_x + 12 + width < end ? 9 : -9 - width);
  for (size_t i = 0; i < readings.size(); ++i) {
    const auto& [series, at, number] = readings[i];
    const ui::Colour ink = text_colour(b.theme, series->ink);
    b.add(FillItem{ui::Rect{left, rows[i] - 11, width, 14}.inset(-3, 0), b.theme.panel.alpha(0.85f), 3});
    b.text({left, rows[i]}, bold, ink, series->letter);
    b.text({left + b.measure(bold, series->letter) + part_gap, rows[i]}, value_style, ink, number);
    b.add(MarkItem{at, ui::Marker::Circle, 3, line_colour(b.theme, series->ink), b.theme.panel});
  }
}

ui::Rect text_box(ui::Vec at, float width) { return {at.x, at.y - 9.4f, width, 12.4f}; }

// Finds the free place of the whole area whose middle is nearest to a point.
bool nearest_free(const ui::Rect& inside, ui::Vec p, float width, const std::function<bool(ui::Vec)>& fits,
                  ui::Vec& found) {
  constexpr float across = 10, down = 7;
  float best = 1e9f;
  for (float y = inside.y + 11; y < inside.bottom() - 3; y += down)
    for (float x = inside.x + 1; x + width < inside.right(); x += across) {
      const float distance = std::hypot(x + width / 2 - p.x, y - 4 - p.y);
      if (distance < best && fits({x, y})) {
        best = distance;
        found = {x, y};
      }
    }
  return best < 1e9f;
}

// Finds a place for a text near a point: the wanted place first, then around the point, then wherever it
// crosses nothing. A place on a grid line or reference line moves beside it. A text without a place is left out,
// because a text over a line makes both unreadable.
bool place_near(Builder& b, ui::Vec p, ui::Vec offset, float width, ui::Vec& found) {
  const ui::Rect inside = b.out.map.area;
  std::vector<ui::Vec> tries{
      offset, {offset.x, 4 - offset.y}, {-width - offset.x, offset.y}, {-width - offset.x, 4 - offset.y}};
  for (float away : {18.f, 30.f, 44.f, 60.f, 80.f})
    for (float share : {0.5f, 0.3f, 0.7f, 0.1f, 0.9f, -0.1f, 1.1f})
      for (float dy : {away, 4 - away}) tries.push_back({-share * width, dy});
  const auto fits = [&](ui::Vec at) {
    const ui::Rect box = text_box(at, width);
    return inside.contains(box) && b.is_free(box.inset(-2, -1)) && !b.crosses_curve(box.inset(-3, -2));
  };
  const auto between = [&](ui::Vec at) { return fits(at) && !b.crosses_level(text_box(at, width)); };
  for (ui::Vec d : tries) {
    if (!fits(p + d)) continue;
    for (float shift : {0.f, -3.f, 3.f, -6.f, 6.f, -9.f, 9.f})
      if (const ui::Vec at = p + d + ui::Vec{0, shift}; between(at)) {
        found = at;
        return true;
      }
  }
  return nearest_free(inside, p, width, between, found) || nearest_free(inside, p, width, fits, found);
}

// The name of a level. It stands above its line at the right, or where the plot wants it. Where a curve
// or another text is in the way, it goes to the other side of the line, to the other end, or anywhere along it; then
// beside it, with a thin line to it. It stands over a curve only where all of these places are taken.
class LevelName {
 public:
  LevelName(Builder& b, const RefLine& line) : b_(b), line_(line), p_(b.out.map.y(line.value)) {
    const float above = p_ - 5, below = p_ + 13, clear = 11;  // clear: over a curve that lies on the level
    rows_ = {line.label_below ? below : above, line.label_below ? above : below, above - clear};
  }
  void write() {
    std::vector<std::string> texts;
    for (const std::string& text : {line_.label, line_.short_label})
      if (!text.empty() && b_.measure(small, text) <= b_.out.map.area.w * 0.8f) texts.push_back(text);
    for (const Air air : {Air::Clear, Air::Touching})
      for (const std::string& text : texts)
        if (at_ends(text, air) || along(text, air)) return;
    for (const std::string& text : texts)
      if (with_leader(text) || at_ends(text, Air::Over)) return;
  }

 private:
  // How near the curves may come to a name: not at all, up to its letters, or through it.
  enum class Air { Clear, Touching, Over };

  bool crosses(const ui::Rect& box, Air air) const {
    return air != Air::Over && b_.crosses_curve(air == Air::Clear ? box.inset(-3, -2) : box);
  }
  bool at_ends(const std::string& text, Air air) {
    const ui::Rect& a = b_.out.map.area;
    for (float y : rows_)
      for (bool left : {line_.label_left, !line_.label_left})
        if (put(text, {left ? a.x + 8 : a.right() - 3 - b_.measure(small, text), y}, air)) return true;
    return false;
  }
  bool along(const std::string& text, Air air) {
    constexpr float stride = 12;
    const float begin = b_.out.map.area.x + 8, end = b_.out.map.area.right() - 3 - b_.measure(small, text);
    for (float y : rows_)
      for (float d = stride; d < end - begin; d += stride)
        if (put(text, {line_.label_left ? begin + d : end - d, y}, air)) return true;
    return false;
  }
  bool put(const std::string& text, ui::Vec at, Air air) {
    const ui::Rect& a = b_.out.map.area;
    if (at.y < a.y + 6 || at.y > a.bottom() - 1) return false;
    const ui::Rect box = b_.box(at, small, text, ui::Align::Left);
    if (crosses(box, air) || !b_.is_free(box.inset(-3, -1))) return false;
    // Grid lines and the cursor are interrupted for the name.
    const ui::Colour ground = line_.fill_below && at.y > p_ ? b_.theme.sunk : b_.theme.panel;
    if (air != Air::Over && b_.crosses_level(box)) b_.add(FillItem{box.inset(-2, 0), ground});
    const float end = std::min(box.bottom() + 1, a.bottom() - 1);  // the axis stays whole
    if (b_.cursor_x > box.x - 3 && b_.cursor_x < box.right() + 3)
      b_.add(FillItem{{b_.cursor_x - 3, box.y - 1, 6, end - box.y + 1}, ground});
    if (!b_.text_if_free(at, small, b_.theme.ink2, text)) return false;
    b_.explain(line_.help);
    return true;
  }
  bool with_leader(const std::string& text) {
    const ui::Rect& a = b_.out.map.area;
    const float width = b_.measure(small, text);
    const ui::Vec end{line_.label_left ? a.x + 24 + width / 2 : a.right() - 24 - width / 2, p_};
    ui::Vec at;
    if (!place_near(b_, end, {-width / 2, -26}, width, at)) return false;
    const float x = at.x + width / 2;
    b_.add(StrokeItem{{{x, at.y + (p_ > at.y ? 4.f : -10.f)}, {x, p_}}, b_.theme.ink3, 1, {}, 0, false});
    b_.text(at, small, b_.theme.ink2, text);
    b_.explain(line_.help);
    return true;
  }

  Builder& b_;
  const RefLine& line_;
  float p_;
  std::array<float, 3> rows_;
};

// Writes the first of a line's names that ends before the next upright line.
void name_upright(Builder& b, const RefLine& line, float x) {
  float next = std::numeric_limits<float>::max();
  for (const RefLine& other : b.plot.lines)
    if (const float there = b.out.map.x(other.value); !other.horizontal && there > x)
      next = std::min(next, there);
  const ui::Vec at{x + 5, b.out.map.area.y + 10};
  for (const std::string* name : {&line.label, &line.short_label})
    if (at.x + b.measure(tiny, *name) < next && b.text_if_free(at, tiny, b.theme.ink2, *name)) return;
}

void name_levels(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  for (const RefLine& l : b.plot.lines) {
    if (l.label.empty()) continue;
    const float p = l.horizontal ? b.out.map.y(l.value) : b.out.map.x(l.value);
    if (l.horizontal ? (p < a.y || p > a.bottom() + 1) : (p < a.x || p > a.right())) continue;
    if (l.horizontal)
      LevelName(b, l).write();
    else
      name_upright(b, l, p);
  }
}

void add_notes(Builder& b) {
  for (const Note& note : b.plot.notes) {
    ui::Vec p = b.out.map(note.x, note.y), at;
    float letter = note.letter.empty() ? 0 : b.measure(bold, note.letter) + part_gap;
    float width = letter + b.measure(small, note.text);
    if (!place_near(b, p, {note.dx, note.dy}, width, at)) continue;
    if (letter > 0) b.text(at, bold, text_colour(b.theme, note.ink), note.letter);
    b.text({at.x + letter, at.y}, small, b.theme.ink2, note.text);
    b.explain(note.help);
  }
}

void name_bands(Builder& b) {
  for (const Band& band : b.plot.bands) {
    if (band.label.empty() || band.x.empty()) continue;
    ui::Vec p;
    if (band.label_at) {
      p = b.out.map(band.label_at->first, band.label_at->second);
    } else {
      size_t i = band.x.size() / 2;
      p = b.out.map(band.x[i], band.hi[i]);
    }
    ui::Vec at;
    float width = b.measure(small, band.label);
    if (!place_near(b, p, {-width * 0.7f, -26}, width, at)) continue;
    ui::Vec from{std::clamp(p.x, at.x, at.x + width), at.y + (p.y > at.y ? 4.f : -10.f)};
    b.add(StrokeItem{{from, p}, b.theme.ink3, 1, {}, 0, false});
    b.text(at, small, b.theme.ink2, band.label);
    b.explain(band.help);
  }
}

}  // namespace

float label_width(const PlotSpec& plot, const Measure& measure) {
  float w = 0;
  for (const Series& s : plot.series)
    if (s.end_label) w = std::max(w, width_of(s, Detail::Full, measure));
  if (plot.river) {
    for (const RiverBand& band : plot.river->bands) w = std::max(w, measure(small, band.name));
    const size_t branches = plot.river->bands.size() - 1;
    w = std::max(w, measure(small, branches_name(branches, branches)));
  }
  return w;
}

void add_labels(Builder& b) {
  if (b.plot.cursor) label_cursor(b);
  name_levels(b);
  label_ends(b);
  // Notes keep clear of the cursor; the names of levels stay where they are when it passes.
  b.curves.mark({b.cursor_x - 1, b.out.map.area.y, 2, b.out.map.area.h});
  name_bands(b);
  add_notes(b);
}

}  // namespace normscope::plot
