#include "app/plot/plot_builder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "app/words/words.h"

namespace normscope::plot {
namespace {

constexpr int bend_parts = 10;       // pieces of a curve
constexpr float inflow_depth = 16;   // px below the river
constexpr float inflow_part = 0.8f;  // of a column's width: the width of an inflow with share 1
constexpr float least_named = 7;     // px: thinner bands have no name
// The line between two bands, where the thinner band has at least `least` px. A thick line would cover thin bands.
struct Edge {
  float least, line;
};
constexpr Edge edges[] = {{4, 1}, {1.5f, 0.5f}};
constexpr float source_gap = 8;
constexpr float shifts[] = {0, -4, -8};  // px from the bands' middle, tried for a name of several bands

const ui::TextStyle number_style{ui::Face::Mono, ui::type::tick}, name_style{ui::Face::Sans, ui::type::body},
    source_style{ui::Face::Sans, ui::type::tick};

// The upper edges of the bands in every column, summed once, because drawing a river needs them at hundreds of points.
std::vector<std::vector<double>> levels_of(const River& river) {
  std::vector<std::vector<double>> columns;
  for (size_t column = 0; column < river.columns(); ++column) {
    std::vector<double>& levels = columns.emplace_back(1, 0.0);
    for (size_t band = 0; band < river.bands.size(); ++band)
      levels.push_back(levels.back() + river.width(column, band));
  }
  return columns;
}

// Interpolates the upper edges of the bands between the columns.
struct Levels {
  const std::vector<std::vector<double>>& columns;

  // The upper edge of a band at x: a column's own at its number, and a convex combination of two columns between them,
  // so that the widths of all bands of a river that does not grow add up to one everywhere.
  double at(size_t band, double x) const {
    const size_t last = columns.size() - 1;
    const size_t before = std::min(last, size_t(std::max(0.0, std::floor(x)))),
                 next = std::min(last, before + 1);
    const double t = std::clamp(x - double(before), 0.0, 1.0), eased = t * t * (3 - 2 * t);
    const double done = (t + eased) / 2;
    return (1 - done) * columns[before][band] + done * columns[next][band];
  }
  double width(size_t band, double x) const { return at(band + 1, x) - at(band, x); }
  double total(double x) const { return at(columns.front().size() - 1, x); }
};

// The x of the points of a band's outline, from where the band enters.
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

// Adds a strip with thin lines of its colour along its curves, as a strip alone has hard edges.
void add_smooth(Builder& b, StripItem strip) {
  for (const std::vector<ui::Vec>* curve : {&strip.upper, &strip.lower})
    b.add(StrokeItem{*curve, strip.colour, 1, {}, 0, strip.clip});
  b.add(std::move(strip));
}

// Draws the curve by which a branch flows in from below. A branch that widens the river so much that the river's own
// lower edge falls below the curve gets none: the edge itself shows the inflow.
void add_inflow(Builder& b, const Levels& levels, size_t band) {
  const ui::Rect& a = b.out.map.area;
  const float column = b.out.map.x(1) - b.out.map.x(0);
  const float width = std::max(1.5f, float(b.plot.river->width(band, band)) * column * inflow_part);
  const float left = b.out.map.x(double(band) - 1), way = std::min(inflow_depth, 0.4f * column);
  const auto edge = [&](float x) { return a.y + a.h * float(levels.total(b.out.map.x.inverse(x))); };
  if (edge(left + width + way) - edge(left) > 1.25f * inflow_depth) return;
  // A quarter of an ellipse, upright below and level where it joins the river.
  const auto bank = [&](float from, float x) {
    const float rest = 1 - std::clamp((x - from) / way, 0.f, 1.f);
    return edge(x) + inflow_depth * (1 - std::sqrt(1 - rest * rest));
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
  std::ranges::sort(xs);
  for (float x : xs) put(x);
  add_smooth(b, std::move(strip));
}

void add_band(Builder& b, const Levels& levels, size_t band) {
  const River& river = *b.plot.river;
  StripItem strip{{}, {}, line_colour(b.theme, river.bands[band].ink)};
  for (double x : stations(b, band)) {
    const double top = levels.at(band, x), share = levels.width(band, x);
    strip.upper.push_back(b.out.map(x, 1 - top));
    strip.lower.push_back(b.out.map(x, 1 - top - share));
  }
  add_smooth(b, std::move(strip));
}

// The thickness of the line between a band and the band above it; 0: no line.
float edge_at(const Builder& b, const Levels& levels, size_t band, double x) {
  const auto thin = float(std::min(levels.width(band, x), levels.width(band - 1, x)));
  for (const Edge& edge : edges)
    if (thin * b.out.map.area.h >= edge.least) return edge.line;
  return 0;
}

// Draws the line between a band and the band above it, thinner or not at all where a band is thin.
void add_edge(Builder& b, const Levels& levels, size_t band) {
  std::vector<ui::Vec> line;
  float thick = 0;
  for (double x : stations(b, band)) {
    const ui::Vec at = b.out.map(x, 1 - levels.at(band, x));
    const float now = edge_at(b, levels, band, x);
    line.push_back(at);
    if (now == thick) continue;
    if (thick > 0 && line.size() > 1) b.add(StrokeItem{line, b.theme.panel, thick, {}, 0, true});
    line = {at};
    thick = now;
  }
  if (thick > 0 && line.size() > 1) b.add(StrokeItem{line, b.theme.panel, thick, {}, 0, true});
}

void number_columns(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  for (size_t column = 1; column < b.plot.river->columns(); ++column)
    b.text_if_free({b.out.map.x(double(column)), a.bottom() + inflow_depth + 12}, number_style, b.theme.ink3,
                   std::to_string(column), ui::Align::Centre);
}

// Puts a name right of a part of the river's right end if it overlaps no other text; returns whether it did.
bool name_end(Builder& b, double level, double share, const std::string& name, float shift = 0) {
  const ui::Rect& a = b.out.map.area;
  if (share * a.h < least_named) return false;
  const float middle = a.y + a.h * float(level + share / 2);
  const float baseline = std::clamp(middle + 4, a.y + 8, a.bottom() - 1) + shift;
  return a.right() + source_gap + b.measure(name_style, name) <= b.rect.right() &&
         b.text_if_free({a.right() + source_gap, baseline}, name_style, b.theme.ink2, name);
}

// Gives neighbouring bands without a name a common one, and marks these bands by a line right of their ends.
void name_together(Builder& b, const Levels& levels, const std::vector<bool>& named) {
  const ui::Rect& a = b.out.map.area;
  const double end = b.out.map.x.hi();
  for (size_t first = 1, after; first < named.size(); first = after) {
    after = first + 1;
    if (named[first]) continue;
    while (after < named.size() && !named[after]) ++after;
    if (after - first < 2) continue;
    const double top = levels.at(first, end), share = levels.at(after, end) - top;
    const std::string name = branches_name(first, after - 1);
    const auto fits = [&](float shift) { return name_end(b, top, share, name, shift); };
    if (std::none_of(std::begin(shifts), std::end(shifts), fits)) continue;
    const float x = a.right() + source_gap / 2, upper = a.y + a.h * float(top);
    b.add(StrokeItem{{{x, upper + 1}, {x, upper + a.h * float(share) - 1}}, b.theme.ink3, 1, {}, 0, false});
  }
}

// Names the bands at the right end, the thickest first, each only where its name covers no other; thin ones
// are named together.
void name_ends(Builder& b, const Levels& levels) {
  const River& river = *b.plot.river;
  const double end = b.out.map.x.hi();
  std::vector<bool> named(river.bands.size(), false);
  std::vector<size_t> order(river.bands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t last = river.columns() - 1;
  std::ranges::stable_sort(order,
                           [&](size_t p, size_t q) { return river.width(last, p) > river.width(last, q); });
  for (size_t band : order)
    named[band] = name_end(b, levels.at(band, end), levels.width(band, end), river.bands[band].name);
  name_together(b, levels, named);
}

// Writes the first band's name below the tile, left of the river, if the margin is wide enough.
void name_source(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const std::string& name = b.plot.river->bands.front().name;
  if (b.measure(source_style, name) <= a.x - source_gap - b.rect.x)
    b.text({a.x - source_gap, river_tile(b).bottom() + 14}, source_style, b.theme.ink2, name,
           ui::Align::Right);
}

}  // namespace

std::string branches_name(size_t first, size_t last) {
  return tr("branches {first}–{last}", {{"first", (long long)first}, {"last", (long long)last}});
}

std::optional<RiverPlace> place_in(const River& river, const Drawing& drawing, ui::Vec mouse) {
  const double x = drawing.map.x.inverse(mouse.x), y = drawing.map.y.inverse(mouse.y);
  if (river.columns() < 2 || y < 0 || y > 1) return {};
  const size_t column = std::min(river.columns() - 1, size_t(std::max(0.0, std::round(x))));
  const Levels levels{drawing.levels};
  size_t band = 0;
  while (band + 1 < river.bands.size() && 1 - y > levels.at(band + 1, x)) ++band;
  if (1 - y > levels.total(x)) return {};  // below a river that has yet to grow
  return RiverPlace{std::max(column, band),
                    band};  // a band that is entering has its share in the next column
}

std::string place_words(const River& river, const RiverPlace& place) {
  if (place.column == 0) return tr("Before the first sub-layer the stream is the input alone.");
  const double percent = 100 * river.share(place.column, place.band);
  const std::string share = percent < 1 ? "< 1" : std::to_string(std::lround(percent));
  return tr(place.band == 0 ? "After sub-layer {row}: {share} % of all shares belong to the input."
                            : "After sub-layer {row}: {share} % of all shares belong to branch {branch}.",
            {{"row", (long long)place.column}, {"share", share}, {"branch", (long long)place.band}});
}

void add_river(Builder& b) {
  const size_t bands = b.plot.river->bands.size();
  if (b.plot.river->columns() < 2) return;
  b.out.levels = levels_of(*b.plot.river);
  const Levels levels{b.out.levels};
  for (size_t band = 1; band < bands; ++band) add_inflow(b, levels, band);
  for (size_t band = 0; band < bands; ++band) add_band(b, levels, band);
  for (size_t band = 1; band < bands; ++band) add_edge(b, levels, band);
  number_columns(b);
  name_ends(b, levels);
  name_source(b);
}

ui::Rect river_tile(const Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const float middle = a.y + a.h * float(b.plot.river->size(0)) / 2;
  return {a.x - source_gap - 16, std::max(a.y - 6, middle - 26), 16, 16};
}

}  // namespace normscope::plot
