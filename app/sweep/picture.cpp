// A sweep as an SVG: a block a cell in the colour of its metric, with sign, number and words; its seeds below it; the
// border where it begins to learn; both axes and the key. See sweep_writers.h and the style guide's measures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/plot/svg_page.h"
#include "app/sweep/border.h"
#include "app/sweep/sweep_writers.h"
#include "app/ui/theme.h"
#include "engine/core/text_table.h"
#include "training/data/identity/data_identity.h"

namespace normscope::sweep {
namespace {

constexpr double kLeft = 120, kRight = 70, kTop = 108, kFoot = 130, kGap = 6, kStrip = 17;
constexpr double kCellWidth = 82, kCellHeight = 92, kLeast = 26, kMostWidth = 1100, kMostHeight = 700;
constexpr double kWords = 56, kNumber = 40;  ///< px below which a block has no words, no number
constexpr int kColours = 40;                 ///< steps of the ramp, each a class

std::string style_of(const ui::Theme& theme) {
  const auto hex = [](ui::Colour c) { return ui::to_hex(c); };
  std::string style = fmt::format(
      ".bg{{fill:{}}}.ink{{fill:{}}}.ink2{{fill:{}}}.ink3{{fill:{}}}.line{{stroke:{}}}"
      ".open{{fill:none;stroke:{};stroke-dasharray:3 3}}.hatch{{stroke:{}}}.broken{{fill:{}}}",
      hex(theme.panel), hex(theme.ink), hex(theme.ink2), hex(theme.ink3), hex(theme.ink), hex(theme.strong),
      hex(theme.error), hex(theme.ink));
  for (int i = 0; i <= kColours; ++i) {
    const ui::Colour colour = ui::heat_colour(theme, static_cast<float>(i) / kColours);
    style += fmt::format(".c{0}{{fill:{1}}}.t{0}{{fill:{2}}}", i, hex(colour), hex(ui::ink_on(colour)));
  }
  return style;
}

class Picture {
 public:
  Picture(const Grid& grid, Metric metric) : grid_(grid), metric_(metric), scale_(scale_of(grid, metric)) {
    const auto columns = static_cast<double>(grid.plan.columns()),
               rows = static_cast<double>(grid.plan.rows());
    width_ = std::clamp(kMostWidth / columns, kLeast, kCellWidth);
    height_ = std::clamp(kMostHeight / rows, kLeast, kCellHeight);
    right_ = kLeft + columns * width_;
    bottom_ = kTop + rows * height_;
  }

  std::string draw() {
    head();
    for (const Cell& cell : grid_.cells) draw_cell(cell);
    border();
    axes();
    key();
    const double page = std::max(right_ + kRight, 760.0);
    return plot::svg_page(page, bottom_ + kFoot, info(metric_).title, style_of(ui::theme(false)),
                          style_of(ui::theme(true)), kHatch + layer_.str());
  }

 private:
  static constexpr const char* kHatch =
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><line class=\"hatch\" stroke-width=\"2.4\" x1=\"0\" y1=\"0\" x2=\"0\" "
      "y2=\"6\"/></pattern></defs>\n";

  double x_of(double column) const { return kLeft + column * width_; }
  double y_of(double row) const { return bottom_ - row * height_; }
  /// "7": the class of a colour; empty without one.
  std::string colour_of(double value) const {
    const double share = scale_.colour(value);
    return std::isfinite(share) ? std::to_string(std::lround(share * kColours)) : "";
  }

  /// Losses of different data have no colours: a plain outline, where they are known.
  void block(double x, double y, double w, double h, const std::string& colour, bool broken, bool known) {
    const bool plain = known && metric_ == Metric::Loss && !grid_.one_data();
    const std::string paint = !colour.empty() ? fmt::format("class=\"c{}\"", colour)
                              : broken        ? "fill=\"url(#hatch)\""
                              : plain         ? "class=\"line\" fill=\"none\""
                                              : "class=\"open\"";
    layer_.put("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\"/>\n", paint, x,
               y, w, h);
  }

  void draw_cell(const Cell& cell) {
    const bool strip = cell.runs.size() > 1 && std::min(width_, height_) >= kNumber;
    const double x = x_of(static_cast<double>(cell.column)) + kGap / 2;
    const double y = y_of(static_cast<double>(cell.row) + 1) + kGap / 2;
    const double w = width_ - kGap, h = height_ - kGap - (strip ? kStrip : 0);
    const std::string colour = colour_of(value_of(cell, metric_));
    const bool broken = cell.sign == Sign::NotFinite || cell.sign == Sign::Diverges;
    layer_.put("<g><title>{}: {}</title>\n", plot::svg_escaped(grid_.text_of(cell)),
               plot::svg_escaped(cell.refused.empty() ? cell.words() : cell.refused));
    block(x, y, w, h, colour, broken, std::isfinite(cell.mean));
    if (strip) seeds(cell, x, y + h + 3, w);
    const std::string ink = colour.empty() ? "ink2" : "t" + colour;
    const double px = std::min(width_, height_);
    layer_.text(x + 6, y + 16, 13, ink, mark(cell.sign), "start", true);
    if (px >= kNumber && cell.known > 0)
      layer_.text(x + w - 5, y + 16, 12, ink, value_text(cell, metric_), "end");
    if (px >= kWords) layer_.text(x + 6, y + 34, 10.5, ink, words_of(cell));
    layer_.put("</g>\n");
  }

  /// What fits into a block.
  static std::string words_of(const Cell& cell) {
    return cell.sign == Sign::NotFinite && cell.known == 1 ? "not finite" : cell.words();
  }

  void seeds(const Cell& cell, double x, double y, double w) {
    const double each = (w + 2) / static_cast<double>(cell.runs.size());
    for (size_t i = 0; i < cell.runs.size(); ++i) {
      Cell one;
      one.runs = {cell.runs[i]};
      one.summarise();
      const bool broken = one.count(Verdict::NotFinite) + one.count(Verdict::Diverges) > 0;
      block(x + each * static_cast<double>(i), y, each - 2, kStrip - 5, colour_of(value_of(one, metric_)),
            broken, std::isfinite(one.mean));
    }
  }

  void border() {
    for (const Segment& s : border_of(grid_))
      layer_.put(
          "<line class=\"line\" stroke-width=\"2.4\" stroke-linecap=\"square\" x1=\"{:.1f}\" y1=\"{:.1f}\" "
          "x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
          x_of(s.x0), y_of(s.y0), x_of(s.x1), y_of(s.y1));
    name_border();
  }

  /// Named where it leaves the grid at the top, else where it does at the right.
  void name_border() {
    const auto top = static_cast<int32_t>(grid_.plan.rows()),
               right = static_cast<int32_t>(grid_.plan.columns());
    const auto word = [&](int32_t column, int32_t row) {
      const Cell& cell = grid_.at(static_cast<size_t>(column), static_cast<size_t>(row));
      return side_of(cell) == Side::Learns ? "learns" : "does not";
    };
    const std::vector<Segment> segments = border_of(grid_);
    for (const Segment& s : segments) {
      if (s.x0 != s.x1 || s.y1 != top) continue;
      layer_.text(x_of(s.x0) - 6, kTop - 8, 12, "ink", word(s.x0 - 1, top - 1), "end", true);
      layer_.text(x_of(s.x0) + 6, kTop - 8, 12, "ink", word(s.x0, top - 1), "start", true);
      return;
    }
    for (const Segment& s : segments) {
      if (s.y0 != s.y1 || s.x1 != right) continue;
      layer_.text(right_ + 6, y_of(s.y0) - 6, 12, "ink", word(right - 1, s.y0), "start", true);
      layer_.text(right_ + 6, y_of(s.y0) + 15, 12, "ink", word(right - 1, s.y0 - 1), "start", true);
      return;
    }
  }

  void head() {
    layer_.text(ui::space::pad, 28, 15, "ink", info(metric_).title, "start", true);
    const std::string unit = metric_ == Metric::Loss ? fmt::format("{}, mean of {}; ", nats_per(grid_.unit()),
                                                                   loss_window_text(grid_))
                                                     : "";
    layer_.text(ui::space::pad, 48, 12, "ink2", unit + setting_text(grid_));
    if (!grid_.one_data()) layer_.text(ui::space::pad, 66, 12, "ink", kDifferentData, "start", true);
  }

  void axes() {
    const Plan& plan = grid_.plan;
    // Long names, of placements for instance, stand slanted.
    size_t longest = 0;
    for (const std::string& value : plan.axes[0].values) longest = std::max(longest, value.size());
    const bool slanted = static_cast<double>(longest) * 7 > width_;
    for (size_t i = 0; i < plan.columns(); ++i) {
      const double x = x_of(static_cast<double>(i) + 0.5), y = bottom_ + 18;
      if (slanted) layer_.put("<g transform=\"rotate(-30 {:.1f} {:.1f})\">\n", x, y);
      layer_.text(x, y, 12, "ink2", plan.axes[0].values[i], slanted ? "end" : "middle");
      if (slanted) layer_.put("</g>\n");
    }
    layer_.text((kLeft + right_) / 2, bottom_ + (slanted ? 64 : 40), 12, "ink", plan.axes[0].title(),
                "middle", true);
    if (plan.axes.size() < 2) return;
    for (size_t i = 0; i < plan.rows(); ++i)
      layer_.text(kLeft - 8, y_of(static_cast<double>(i) + 0.5) + 4, 12, "ink2", plan.axes[1].values[i],
                  "end");
    layer_.text(ui::space::pad, kTop - 24, 12, "ink", plan.axes[1].title(), "start", true);
  }

  void key() {
    const double y = bottom_ + kFoot - 46, width = 220;
    if (metric_ != Metric::Loss || grid_.one_data()) colours(y, width);
    layer_.text(kLeft + width + 30, y + 4, 11, "ink2",
                "↘ learns  — stuck  ↗ diverges  × not finite  ? seeds disagree  … undecided");
    layer_.text(kLeft + width + 30, y + 22, 11, "ink2",
                "Line: where at least half of the seeds begin to learn. Under a cell: its seeds.");
  }

  /// The colours and what stands at their ends.
  void colours(double y, double width) {
    for (int i = 0; i <= kColours; ++i)
      layer_.put("<rect class=\"c{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"10\"/>\n", i,
                 kLeft + width * i / (kColours + 1), y, width / (kColours + 1) + 0.3);
    const auto end = [&](double value) {
      return info(metric_).log ? experiments::power(value) : fixed(value, 2);
    };
    const bool loss = metric_ == Metric::Loss;
    layer_.text(kLeft, y + 24, 11, "ink2",
                end(scale_.low) + (loss ? " " + frequencies_of(grid_.unit()) : ""));
    layer_.text(kLeft + width, y + 24, 11, "ink2", (loss ? "best cell " : "") + end(scale_.high), "end");
  }

  const Grid& grid_;
  Metric metric_;
  ColourScale scale_;
  double width_ = 0, height_ = 0, right_ = 0, bottom_ = 0;
  plot::SvgLayer layer_;
};

}  // namespace

std::string to_svg(const Grid& grid, Metric metric) { return Picture(grid, metric).draw(); }

}  // namespace normscope::sweep
