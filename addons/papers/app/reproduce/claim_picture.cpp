// The claim picture is an SVG with a row for every number: the paper's on the left, ours with the range over the seeds
// on the right, each on its own scale. The claim's curves follow below. writers.h declares to_svg().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "addons/papers/app/reproduce/writers.h"
#include "app/plot/plot.h"
#include "app/ui/svg.h"
#include "app/words/words.h"

namespace normscope::reproduce {
namespace {

using namespace ui;

constexpr float kClaimWidth = 960, kNames = 300, kPanel = 280, kOurs = kNames + kPanel + 40, kRow = 24,
                kHead = 92, kPlotHeight = 380;
constexpr TextStyle kBody{Face::Sans, type::body}, kTick{Face::Sans, type::tick};

/// Has the number of the paper, a measure of ours, or both.
struct PictureRow {
  std::string what, unit;
  double paper = std::numeric_limits<double>::quiet_NaN();
  bool read_off = false;
  std::string measure;
};

std::vector<PictureRow> rows_of(const Claim& claim) {
  std::vector<PictureRow> rows;
  for (const Stated& s : claim.numbers) rows.push_back({s.what, s.unit, s.value, s.read_off, s.measure});
  for (const Beside& b : claim.besides)
    rows.push_back({b.what, "", std::numeric_limits<double>::quiet_NaN(), false, b.measure});
  return rows;
}

/// Places a number in a panel; all numbers of one unit share a scale.
struct Scale {
  float left = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  float at(double value) const {
    return left + kPanel * (high > low ? static_cast<float>((value - low) / (high - low)) : 0.5f);
  }
};

/// Paints the table of a claim. Each unit has its own scale, because only numbers of one unit compare.
class ClaimTable {
 public:
  ClaimTable(Painter& painter, const Theme& theme, const Outcome& outcome)
      : p_(painter), t_(theme), outcome_(outcome), claim_(*outcome.claim), rows_(rows_of(claim_)) {}

  /// The height.
  float draw() {
    p_.text({space::pad, 26}, {Face::Bold, type::run_name}, t_.ink,
            fmt::format("{}, {}", claim_.source.paper, claim_.source.item));
    float y = 34;
    const auto paragraph = [&](Colour colour, const std::string& text) {
      y += p_.text_wrapped({space::pad, y, kClaimWidth - 2 * space::pad, 0}, kBody, colour, text, 16);
    };
    paragraph(t_.ink, claim_.says);
    paragraph(t_.ink2, fmt::format("{}: {}", verdict_of(outcome_), outcome_.sentence));
    y = std::max(y + 12, kHead);
    if (!rows_.empty()) {
      p_.text({kNames, y}, kTick, t_.ink3, tr("the paper; hollow: read off its picture"));
      p_.text({kOurs, y}, kTick, t_.ink3,
              tr("here; line: range of {count} seed | here; line: range of {count} seeds",
                 {{"count", outcome_.seeds}}));
    }
    for (const PictureRow& row : rows_) {
      y += kRow;
      p_.hairline({kNames, y}, {kClaimWidth - 20, y}, t_.grid);
      p_.text_in({space::pad, y - kRow / 2, kNames - 12 - space::pad, kRow}, kBody, t_.ink2, row.what,
                 Align::Right);
      draw_paper(row, y);
      if (!row.measure.empty()) draw_ours(row, y);
    }
    return y + 24;
  }

 private:
  const course::Measure& measure_of(const PictureRow& row) const {
    return *claim_.language.measure(row.measure);
  }
  const course::Spread& spread_of(const PictureRow& row) const {
    return outcome_.results.measures.at(row.measure).spread;
  }

  /// Writes to the right of `end` in the left half of a panel, and to the left of `begin` in the right half.
  void number(const Scale& scale, double middle, double begin, double end, float y, const std::string& text) {
    const bool right = scale.at(middle) < scale.left + kPanel / 2;
    p_.text({scale.at(right ? end : begin) + (right ? 10 : -10), y + 4}, kTick, t_.ink2, text,
            right ? Align::Left : Align::Right);
  }

  void draw_paper(const PictureRow& row, float y) {
    if (std::isnan(row.paper)) {
      p_.text({kNames, y + 4}, kTick, t_.ink3, tr("the text states no number"));
      return;
    }
    Scale scale{kNames};
    for (const PictureRow& other : rows_)
      if (other.unit == row.unit) scale.add(other.paper);
    const Rect square = centred({scale.at(row.paper), y}, 9, 9);
    p_.fill(square, row.read_off ? t_.panel : t_.ink2);
    p_.outline(square, t_.ink2);
    number(scale, row.paper, row.paper, row.paper, y, fmt::format("{:g} {}", row.paper, row.unit));
  }

  void draw_ours(const PictureRow& row, float y) {
    const course::Measure& measure = measure_of(row);
    const course::Spread& spread = spread_of(row);
    if (!std::isfinite(spread.mean)) {
      p_.text({kOurs, y + 4}, kTick, t_.ink3, tr("no finite number"));
      return;
    }
    Scale scale{kOurs};
    for (const PictureRow& other : rows_)
      if (!other.measure.empty() && measure_of(other).unit == measure.unit)
        for (const double end : {spread_of(other).low, spread_of(other).high}) scale.add(end);
    const Colour colour = t_.runs[0].line;
    p_.line({scale.at(spread.low), y}, {scale.at(spread.high), y}, colour, 2);
    p_.circle({scale.at(spread.mean), y}, 4, colour);
    number(scale, spread.mean, spread.low, spread.high, y, course::shown(spread.mean, measure));
  }

  Painter& p_;
  const Theme& t_;
  const Outcome& outcome_;
  const Claim& claim_;
  std::vector<PictureRow> rows_;
};

plot::Column float_column(const std::vector<double>& values) {
  return plot::Column::of(std::vector<float>(values.begin(), values.end()));
}

void widen(plot::Axis& axis, double& low, double& high, const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value) || (axis.scale == plot::AxisScale::Log && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
}

void set_range(plot::Axis& axis, double low, double high) {
  if (!(low <= high)) return;  // nothing has a number yet
  const bool log = axis.scale == plot::AxisScale::Log;
  const double margin = high > low ? (log ? 0 : 0.05 * (high - low)) : (log ? 0 : 0.5);
  axis.lo = log ? low / 1.2 : low - margin;
  axis.hi = log ? high * 1.2 : high + margin;
}

plot::PlotSpec curve_plot(const Outcome& outcome, const Drawn& drawn) {
  plot::PlotSpec spec;
  spec.id = outcome.claim->id;
  spec.title = drawn.title;
  spec.note = tr("here; bands: range over the seeds");
  spec.x.label = drawn.x;
  spec.y.label = drawn.y;
  if (drawn.log_x) spec.x.scale = plot::AxisScale::Log;
  if (drawn.log_y) spec.y.scale = plot::AxisScale::Log;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double x_low = kFar, x_high = -kFar, y_low = kFar, y_high = -kFar;
  int run = 0;
  for (const Drawn::Trace& trace : drawn.lines) {
    const course::CurveBand& band = outcome.results.curves.at(trace.line);
    if (band.x.empty()) continue;
    widen(spec.x, x_low, x_high, band.x);
    widen(spec.y, y_low, y_high, band.low);
    widen(spec.y, y_low, y_high, band.high);
    const plot::Ink ink = plot::Ink::run(run++ % 4);
    if (outcome.seeds > 1) {
      plot::Band area;
      area.id = trace.line;
      area.ink = ink;
      area.x = float_column(band.x);
      area.lo = float_column(band.low);
      area.hi = float_column(band.high);
      spec.bands.push_back(std::move(area));
    }
    plot::Series series;
    series.id = trace.line;
    series.name = trace.name;
    series.ink = ink;
    series.x = float_column(band.x);
    series.y = float_column(band.mean);
    series.markers = band.x.size() <= 24 ? plot::Markers::All : plot::Markers::Sparse;
    spec.series.push_back(std::move(series));
  }
  set_range(spec.x, x_low, x_high);
  set_range(spec.y, y_low, y_high);
  return spec;
}

}  // namespace

std::string to_svg(const Outcome& outcome) {
  return ui::to_svg(outcome.claim->id, [&](Painter& p, const Theme& t) {
    float y = ClaimTable(p, t, outcome).draw();
    for (const Drawn& drawn : outcome.claim->drawings) {
      plot::draw_still(p, t, curve_plot(outcome, drawn), {0, y, kClaimWidth, kPlotHeight});
      y += kPlotHeight;
    }
    return Vec{kClaimWidth, y};
  });
}

}  // namespace normscope::reproduce
