// The zoo as an SVG: a line an entry, its final loss without and with warm-up, the range over the seeds, and
// the level of letter frequencies. See summary.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/plot/svg_page.h"
#include "app/ui/theme.h"
#include "app/zoo/summary.h"
#include "engine/core/text_table.h"

namespace normscope::zoo {
namespace {

constexpr double kLeft = 330, kRight = 30, kWidth = 960, kTop = 96, kRowHeight = 20, kHeading = 30;
constexpr double kBeyond =
    0.35;  ///< nats of the axis above letter frequencies; what lies higher stands at its end

std::string style_of(const ui::Theme& theme) {
  const auto hex = [](ui::Colour c) { return ui::to_hex(c); };
  return fmt::format(
      ".bg{{fill:{}}}.ink{{fill:{}}}.ink2{{fill:{}}}.ink3{{fill:{}}}.grid{{stroke:{}}}.axis{{stroke:{}}}"
      ".cold{{fill:{};stroke:{}}}.warm{{fill:{};stroke:{}}}.coldline{{stroke:{}}}.warmline{{stroke:{}}}",
      hex(theme.panel), hex(theme.ink), hex(theme.ink2), hex(theme.ink3), hex(theme.grid), hex(theme.ink3),
      hex(theme.runs[0].line), hex(theme.runs[0].line), hex(theme.panel), hex(theme.runs[1].line),
      hex(theme.runs[0].line), hex(theme.runs[1].line));
}

class Picture {
 public:
  explicit Picture(const Summary& summary) : summary_(summary) {
    if (!std::isfinite(summary.level)) return;  // nothing is trained yet
    low_ = summary.level;
    for (const Row& row : summary.rows)
      for (const Arm& arm : row.arms)
        if (row.layers > 0 && std::isfinite(arm.low)) low_ = std::min(low_, arm.low);
    low_ = std::floor(low_ * 5) / 5;
    high_ = summary.level + kBeyond;
  }

  std::string draw() {
    double y = kTop;
    for (const int32_t layers : summary_.plan.depths) y = draw_depth(layers, y);
    grid(y);
    legend();
    return plot::svg_page(kWidth, y + 24, "The zoo: final loss of every entry", style_of(ui::theme(false)),
                          style_of(ui::theme(true)), back_.str() + front_.str());
  }

 private:
  double x_of(double loss) const {
    return kLeft + (std::min(loss, high_) - low_) / (high_ - low_) * (kWidth - kLeft - kRight);
  }

  double draw_depth(int32_t layers, double y) {
    bool any = false;
    const Group* group = nullptr;
    for (const Row& row : summary_.rows) {
      if (row.layers != layers) continue;
      if (!any && summary_.plan.depths.size() > 1) {
        front_.text(ui::space::pad, y + 16, 15, "ink", fmt::format("{} layers", layers), "start", true);
        y += kHeading - 4;
      }
      any = true;
      if (!group || *group != row.entry.group) {
        front_.text(ui::space::pad, y + 20, 13, "ink", title(row.entry.group), "start", true);
        y += kHeading;
      }
      group = &row.entry.group;
      draw_row(row, y + kRowHeight / 2);
      y += kRowHeight;
    }
    return any ? y + 10 : y;
  }

  void draw_row(const Row& row, double y) {
    back_.put("<line class=\"grid\" x1=\"{:g}\" y1=\"{:.1f}\" x2=\"{:g}\" y2=\"{:.1f}\"/>\n", kLeft, y,
              kWidth - kRight, y);
    front_.text(kLeft - 12, y + 4, 12, "ink2", row.entry.title, "end");
    for (const int arm : {0, 1}) draw_arm(row.arms[arm], y + (arm == 0 ? -2.5 : 2.5), arm == 1);
  }

  void draw_arm(const Arm& arm, double y, bool warm) {
    if (arm.known == 0) return;
    const char* kind = warm ? "warm" : "cold";
    if (!std::isfinite(arm.mean)) {
      front_.text(kWidth - kRight - (warm ? 0 : 66), y + (warm ? 1.5 : 6.5), 10, "ink3", "not finite", "end");
      return;
    }
    front_.put(
        "<line class=\"{}line\" stroke-width=\"1.6\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
        "y2=\"{:.1f}\"/>\n",
        kind, x_of(arm.low), y, x_of(arm.high), y);
    if (arm.mean > high_)  // an arrow: beyond the axis
      front_.put("<path class=\"{}\" stroke-width=\"1.6\" d=\"M{:.1f} {:.1f}l8 4l-8 4z\"/>\n", kind,
                 kWidth - kRight, y - 4);
    else
      front_.put("<circle class=\"{}\" stroke-width=\"1.6\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.6\"/>\n", kind,
                 x_of(arm.mean), y);
  }

  void grid(double bottom) {
    const double step = high_ - low_ > 2 ? 0.5 : 0.2;
    for (double loss = std::ceil(low_ / step) * step; loss <= high_ + 1e-9; loss += step) {
      back_.put("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:g}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                x_of(loss), kTop - 4, bottom);
      front_.text(x_of(loss), kTop - 10, 11, "ink3", fmt::format("{:.1f}", loss), "middle");
    }
    if (!std::isfinite(summary_.level)) return;
    back_.put(
        "<line class=\"axis\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\" x1=\"{0:.1f}\" y1=\"{1:g}\" "
        "x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
        x_of(summary_.level), kTop - 4, bottom);
    front_.text(x_of(summary_.level), kTop - 26, 11, "ink2",
                fmt::format("letter frequencies {}", fixed(summary_.level, 2)), "middle");
  }

  void legend() {
    front_.text(ui::space::pad, 28, 15, "ink", "The zoo: who learns, and how well", "start", true);
    front_.text(
        ui::space::pad, 48, 12, "ink2",
        fmt::format("mean loss of the last {} steps, nats per letter; lines: range of {} seeds; arrows: "
                    "beyond the axis",
                    Record::kWindow, summary_.plan.seeds));
    double x = kWidth - kRight - 250;
    for (const bool warm : {false, true}) {
      front_.put("<circle class=\"{}\" stroke-width=\"1.6\" cx=\"{:.1f}\" cy=\"24\" r=\"3.6\"/>\n",
                 warm ? "warm" : "cold", x);
      front_.text(x + 10, 28, 12, "ink", warm ? "with warm-up" : "without warm-up");
      x += 140;
    }
  }

  const Summary& summary_;
  double low_ = 0, high_ = 1;
  plot::SvgLayer back_, front_;
};

}  // namespace

bool has_picture(const Plan& plan) {
  return std::any_of(plan.entries.begin(), plan.entries.end(),
                     [](const Entry& entry) { return !system_of(entry.group); });
}

std::string to_svg(const Summary& summary) { return Picture(summary).draw(); }

}  // namespace normscope::zoo
