// The picture of the zoo is an SVG with one line per entry: its final loss without and with warm-up, the range over the
// seeds, and the level of letter frequencies (summary.h).
#include <algorithm>
#include <cmath>
#include <string>

#include "addons/papers/app/zoo/summary.h"
#include "app/ui/numbers.h"
#include "app/ui/svg.h"
#include "app/words/words.h"
#include "training/io/text_table.h"

namespace normscope::zoo {
namespace {

using namespace ui;

constexpr float kLeft = 330, kRight = 30, kWidth = 960, kTop = 96, kRowHeight = 20, kHeading = 30,
                kLine = 1.6f;
/// The nats that the axis shows above letter frequencies; higher losses are drawn at its end.
constexpr double kBeyond = 0.35;
constexpr TextStyle kTitle{Face::Bold, type::run_name}, kGroup{Face::Bold, type::title},
    kBody{Face::Sans, type::body}, kTick{Face::Sans, type::tick};

class Picture {
 public:
  Picture(Painter& painter, const Theme& theme, const Summary& summary)
      : p_(painter), t_(theme), summary_(summary) {
    if (!std::isfinite(summary.level)) return;  // nothing is trained yet
    low_ = summary.level;
    for (const Row& row : summary.rows)
      for (const Arm& arm : row.arms)
        if (row.layers > 0 && std::isfinite(arm.low)) low_ = std::min(low_, arm.low);
    low_ = std::floor(low_ * 5) / 5;
    high_ = summary.level + kBeyond;
  }

  /// Walks down the rows twice: first to learn how far the grid must reach, then to draw them over it.
  Vec draw() {
    const float bottom = draw_rows(false);
    grid(bottom);
    draw_rows(true);
    legend();
    return {kWidth, bottom + 24};
  }

 private:
  float x_of(double loss) const {
    return kLeft +
           static_cast<float>((std::min(loss, high_) - low_) / (high_ - low_)) * (kWidth - kLeft - kRight);
  }

  float draw_rows(bool drawn) {
    float y = kTop;
    for (const int32_t layers : summary_.plan.depths) y = draw_depth(layers, y, drawn);
    return y;
  }

  float draw_depth(int32_t layers, float y, bool drawn) {
    bool any = false;
    const Group* group = nullptr;
    const auto head = [&](float down, TextStyle style, const std::string& text) {
      if (drawn) p_.text({space::pad, y + down}, style, t_.ink, text);
    };
    for (const Row& row : summary_.rows) {
      if (row.layers != layers) continue;
      if (!any && summary_.plan.depths.size() > 1) {
        head(16, kTitle, tr("{count} layer | {count} layers", {{"count", layers}}));
        y += kHeading - 4;
      }
      any = true;
      if (!group || *group != row.entry.group) {
        head(20, kGroup, title(row.entry.group));
        y += kHeading;
      }
      group = &row.entry.group;
      if (drawn) draw_row(row, y + kRowHeight / 2);
      y += kRowHeight;
    }
    return any ? y + 10 : y;
  }

  void draw_row(const Row& row, float y) {
    p_.hairline({kLeft, y}, {kWidth - kRight, y}, t_.grid);
    p_.text({kLeft - 12, y + 4}, kBody, t_.ink2, row.entry.title, Align::Right);
    for (const bool warm : {false, true}) draw_arm(row.arms[warm], y + (warm ? 2.5f : -2.5f), warm);
  }

  /// Draws a dot: filled without warm-up, hollow with it.
  void mean(Vec at, bool warm) {
    p_.circle(at, 3.6f + kLine / 2, t_.runs[warm].line);
    if (warm) p_.circle(at, 3.6f - kLine / 2, t_.panel);
  }

  void draw_arm(const Arm& arm, float y, bool warm) {
    if (arm.known == 0) return;
    const Colour colour = t_.runs[warm].line;
    const float end = kWidth - kRight;
    if (!std::isfinite(arm.mean)) {
      p_.text({end - (warm ? 0 : 66), y + (warm ? 1.5f : 6.5f)}, kTick, t_.ink3, tr("not finite"),
              Align::Right);
      return;
    }
    p_.line({x_of(arm.low), y}, {x_of(arm.high), y}, colour, kLine);
    if (arm.mean <= high_) return mean({x_of(arm.mean), y}, warm);
    const Vec arrow[] = {{end, y - 4}, {end + 8, y}, {end, y + 4}};  // the loss lies beyond the axis
    p_.polygon(arrow, warm ? t_.panel : colour);
    p_.polyline(arrow, colour, kLine, true);
  }

  void grid(float bottom) {
    const double step = high_ - low_ > 2 ? 0.5 : 0.2;
    for (double loss = std::ceil(low_ / step) * step; loss <= high_ + 1e-9; loss += step) {
      p_.hairline({x_of(loss), kTop - 4}, {x_of(loss), bottom}, t_.grid);
      p_.text({x_of(loss), kTop - 10}, kTick, t_.ink3, ui::decimals(loss, 1), Align::Centre);
    }
    if (!std::isfinite(summary_.level)) return;
    const float x = x_of(summary_.level);
    p_.dashed_line({x, kTop - 4}, {x, bottom}, t_.ink3, line::reference, {2, 3});
    p_.text({x, kTop - 26}, kTick, t_.ink2,
            tr("letter frequencies {loss}", {{"loss", words::with_decimal(fixed(summary_.level, 2))}}),
            Align::Centre);
  }

  void legend() {
    p_.text({space::pad, 28}, kTitle, t_.ink, tr("The zoo: who learns, and how well"));
    p_.text({space::pad, 48}, kBody, t_.ink2,
            tr("mean loss of the last {steps} steps, nats per letter; lines: range of {seeds} seeds; "
               "arrows: beyond the axis",
               {{"steps", Record::kWindow}, {"seeds", summary_.plan.seeds}}));
    float x = kWidth - kRight - 250;
    for (const bool warm : {false, true}) {
      mean({x, 24}, warm);
      p_.text({x + 10, 28}, kBody, t_.ink, warm ? tr("with warm-up") : tr("without warm-up"));
      x += 140;
    }
  }

  Painter& p_;
  const Theme& t_;
  const Summary& summary_;
  double low_ = 0, high_ = 1;
};

}  // namespace

bool has_picture(const Plan& plan) {
  return std::any_of(plan.entries.begin(), plan.entries.end(),
                     [](const Entry& entry) { return !system_of(entry.group); });
}

std::string to_svg(const Summary& summary) {
  return ui::to_svg(tr("The zoo: final loss of every entry"),
                    [&](Painter& p, const Theme& t) { return Picture(p, t, summary).draw(); });
}

}  // namespace normscope::zoo
