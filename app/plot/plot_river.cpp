#include "app/plot/plot_river.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/words/words.h"

namespace normscope::plot {
namespace {

constexpr int bend_parts = 10;       // pieces of a curve
constexpr float inflow_depth = 16;   // px below the river
constexpr float inflow_part = 0.8f;  // of a column: the width of an inflow that were all of the river
constexpr float least_named = 7;     // px: thinner bands have no name
constexpr float least_parted = 4;    // px: thinner bands have no line between them
constexpr float source_gap = 8;

const ui::TextStyle number_style{ui::Face::Mono, ui::type::tick}, name_style{ui::Face::Sans, ui::type::body},
    source_style{ui::Face::Sans, ui::type::tick};

// `level_along` returns where a band begins, counted from the upper edge: 0, or the widths of all older ones.
double level_along(const River& river, size_t band, double x) {
  double level = 0;
  for (size_t older = 0; older < band; ++older) level += width_along(river, older, x);
  return level;
}

// `total_along` returns the width of the whole river.
double total_along(const River& river, double x) { return level_along(river, river.bands.size(), x); }

// `stations` returns the places along the river at which a band is drawn, from where it enters.
std::vector<double> stations(const Builder& b, size_t band) {
  const size_t columns = b.plot.river->columns();
  std::vector<double> xs;
  if (band == 0) xs.push_back(b.out.map.x.lo());
  xs.push_back(band == 0 ? 0 : double(band) - 1);
  for (size_t column = std::max<size_t>(1, band); column < columns; ++column)
    for (int part = 1; part <= bend_parts; ++part)
      xs.push_back(double(column) - 1 + double(part) / bend_parts);
  xs.push_back(b.out.map.x.hi());
  return xs;
}

// `add_smooth` adds a strip with thin lines of its colour along its curves, as a strip alone has hard edges.
void add_smooth(Builder& b, StripItem strip) {
  for (const std::vector<ui::Vec>* curve : {&strip.upper, &strip.lower})
    b.add(StrokeItem{*curve, strip.colour, 1, {}, 0, strip.clip});
  b.add(std::move(strip));
}

void add_inflow(Builder& b, size_t band) {
  const ui::Rect& a = b.out.map.area;
  const float column = b.out.map.x(1) - b.out.map.x(0);
  const float width = std::max(1.5f, float(b.plot.river->width(band, band)) * column * inflow_part);
  const float left = b.out.map.x(double(band) - 1), way = std::min(inflow_depth, 0.4f * column);
  // A quarter of an ellipse, upright below and level where it joins the river.
  const auto bank = [&](float from, float x) {
    const float rest = 1 - std::clamp((x - from) / way, 0.f, 1.f);
    const float edge = a.y + a.h * float(total_along(*b.plot.river, b.out.map.x.inverse(x)));
    return edge + inflow_depth * (1 - std::sqrt(1 - rest * rest));
  };
  StripItem strip{{}, {}, line_colour(b.theme, b.plot.river->bands[band].ink), false};
  const auto put = [&](float x) {
    strip.upper.push_back({x, bank(left, x) - 1});
    strip.lower.push_back({x, bank(left + width, x)});
  };
  std::vector<float> xs;
  for (int part = 0; part <= bend_parts; ++part) {
    const float t = float(part) / bend_parts, along = way * t * t;  // closer where it is steep
    xs.push_back(left + along);
    xs.push_back(left + width + along);
  }
  std::sort(xs.begin(), xs.end());
  for (float x : xs) put(x);
  add_smooth(b, std::move(strip));
}

void add_band(Builder& b, size_t band) {
  const River& river = *b.plot.river;
  StripItem strip{{}, {}, line_colour(b.theme, river.bands[band].ink)};
  for (double x : stations(b, band)) {
    const double top = level_along(river, band, x), share = width_along(river, band, x);
    strip.upper.push_back(b.out.map(x, 1 - top));
    strip.lower.push_back(b.out.map(x, 1 - top - share));
  }
  add_smooth(b, std::move(strip));
}

// `add_edge` draws a thin line between a band and the one above it, where both are thick enough for it.
void add_edge(Builder& b, size_t band) {
  const River& river = *b.plot.river;
  const double least = least_parted / b.out.map.area.h;
  std::vector<ui::Vec> line;
  const auto end = [&] {
    if (line.size() > 1) b.add(StrokeItem{line, b.theme.panel, 1, {}, 0, true});
    line.clear();
  };
  for (double x : stations(b, band)) {
    if (width_along(river, band, x) < least || width_along(river, band - 1, x) < least)
      end();
    else
      line.push_back(b.out.map(x, 1 - level_along(river, band, x)));
  }
  end();
}

void number_columns(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  for (size_t column = 1; column < b.plot.river->columns(); ++column)
    b.text_if_free({b.out.map.x(double(column)), a.bottom() + inflow_depth + 12}, number_style, b.theme.ink3,
                   std::to_string(column), ui::Align::Centre);
}

// `name_ends` names the bands at the right end, the thickest first, each only where its name covers no other.
void name_ends(Builder& b) {
  const River& river = *b.plot.river;
  const ui::Rect& a = b.out.map.area;
  const double end = b.out.map.x.hi();
  std::vector<size_t> order(river.bands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t p, size_t q) {
    return width_along(river, p, end) > width_along(river, q, end);
  });
  for (size_t band : order) {
    const double share = width_along(river, band, end);
    if (share * a.h < least_named) continue;
    const float middle = a.y + a.h * float(level_along(river, band, end) + share / 2);
    const float baseline = std::clamp(middle + 4, a.y + 8, a.bottom() - 1);
    const RiverBand& one = river.bands[band];
    if (a.right() + source_gap + b.measure(name_style, one.name) <= b.rect.right())
      b.text_if_free({a.right() + source_gap, baseline}, name_style, b.theme.ink2, one.name);
  }
}

// `name_source` stands below the tile, also where the river begins too thin to keep both at its middle.
void name_source(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const std::string& name = b.plot.river->bands.front().name;
  if (b.measure(source_style, name) <= a.x - source_gap - b.rect.x)
    b.text({a.x - source_gap, river_tile(b).bottom() + 14}, source_style, b.theme.ink2, name,
           ui::Align::Right);
}

}  // namespace

double width_along(const River& river, size_t band, double x) {
  const size_t last = river.columns() - 1;
  const size_t before = std::min(last, size_t(std::max(0.0, std::floor(x)))),
               next = std::min(last, before + 1);
  const double t = std::clamp(x - double(before), 0.0, 1.0), eased = t * t * (3 - 2 * t);
  const double done = (t + eased) / 2;
  return (1 - done) * river.width(before, band) + done * river.width(next, band);
}

std::optional<RiverPlace> place_in(const River& river, double x, double y) {
  if (river.columns() < 2 || y < 0 || y > 1) return {};
  const size_t column = std::min(river.columns() - 1, size_t(std::max(0.0, std::round(x))));
  double level = 0;
  size_t band = 0;
  for (; band + 1 < river.bands.size(); ++band) {
    level += width_along(river, band, x);
    if (1 - y <= level) break;
  }
  if (1 - y > total_along(river, x)) return {};  // below a river that has yet to grow
  return RiverPlace{std::max(column, band),
                    band};  // a band that is entering has its share in the next column
}

std::string place_words(const River& river, const RiverPlace& place) {
  if (place.column == 0) return words::say("plots.river.source");
  const double percent = 100 * river.share(place.column, place.band);
  const std::string share = percent < 1 ? "< 1" : std::to_string(std::lround(percent));
  return words::say(place.band == 0 ? "plots.river.input" : "plots.river.branch",
                    {{"row", (long long)place.column}, {"share", share}, {"branch", (long long)place.band}});
}

void add_river(Builder& b) {
  const size_t bands = b.plot.river->bands.size();
  if (b.plot.river->columns() < 2) return;
  for (size_t band = 1; band < bands; ++band) add_inflow(b, band);
  for (size_t band = 0; band < bands; ++band) add_band(b, band);
  for (size_t band = 1; band < bands; ++band) add_edge(b, band);
  number_columns(b);
  name_ends(b);
  name_source(b);
}

ui::Rect river_tile(const Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const float middle = a.y + a.h * float(b.plot.river->size(0)) / 2;
  return {a.x - source_gap - 16, std::max(a.y - 6, middle - 26), 16, 16};
}

}  // namespace normscope::plot
