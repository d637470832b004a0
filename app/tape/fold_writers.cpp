#include "app/tape/fold_writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/plot/svg_page.h"
#include "app/ui/theme.h"

namespace normscope::tape {
namespace {

constexpr double kRow = 20, kTop = 84, kWidth = 860;
constexpr double kLeftBar = 172, kName = 208, kShape = 470, kGradient = 560, kRightBar = 580;
constexpr double kLeftRoom = 100, kRightRoom = 180;

std::string side_csv(const FoldSide& side, const Roof& roof) {
  return fmt::format("{},{:.0f},{:.0f},{:.4g},{:.4g}", side.instruction, side.cost.flop, side.cost.bytes,
                     side.seconds, least_seconds(side.cost, roof));
}

std::string style_of(const ui::Theme& theme) {
  const auto hex = [](ui::Colour colour) { return ui::to_hex(colour); };
  return fmt::format(".bg{{fill:{}}}.ink{{fill:{}}}.ink2{{fill:{}}}.ink3{{fill:{}}}.trough{{fill:{}}}",
                     hex(theme.panel), hex(theme.ink), hex(theme.ink2), hex(theme.ink3), hex(theme.trough));
}

class Picture {
 public:
  Picture(const Fold& fold, const Roof& roof) : fold_(fold), roof_(roof) {
    double most_left = 0, most_right = 0;
    for (const FoldLine& line : fold.lines) {
      most_left = std::max(most_left, line.forward.seconds);
      most_right = std::max(most_right, line.backward.seconds);
    }
    if (most_left > 0 && most_right > 0)
      per_second_ = std::min(kLeftRoom / most_left, kRightRoom / most_right);
  }

  std::string draw(const FoldWords& words) {
    layer_.text(14, 26, 15, "ink", words.title, "start", true);
    layer_.text(14, 46, 12, "ink2", words.sentence);
    layer_.text(kLeftBar, 70, 12, "ink", "forward", "end", true);
    layer_.text(kRightBar, 70, 12, "ink", "backward", "start", true);
    layer_.text(kShape, 70, 11, "ink3", "result", "end");
    layer_.text(kGradient, 70, 11, "ink3", "gradient", "end");
    double y = kTop;
    for (const FoldLine& line : fold_.lines) {
      layer_.put("<g><title>{}: {}</title>\n", plot::svg_escaped(line.name), to_string(line.op));
      layer_.text(kName, y + 4, 11, "ink", line.name);
      layer_.text(kShape, y + 4, 11, "ink3", to_string(line.shape), "end");
      if (line.gradient > 0)
        layer_.text(kGradient, y + 4, 11, "ink2", fmt::format("{:.2g}", line.gradient), "end");
      side(line.forward, y, true);
      side(line.backward, y, false);
      layer_.put("</g>\n");
      y += kRow;
    }
    layer_.text(14, y + 20, 12, "ink2", words.foot);
    return plot::svg_page(kWidth, y + 40, words.title, style_of(ui::theme(false)), style_of(ui::theme(true)),
                          layer_.str());
  }

 private:
  void side(const FoldSide& side, double y, bool forward) {
    if (side.instruction < 0 || side.seconds <= 0) return;
    const double w = std::max(1.0, side.seconds * per_second_);
    const double peak =
        side.cost.flop > 0 && roof_.flops > 0 ? std::min(w, side.cost.flop / roof_.flops * per_second_) : 0;
    bar("trough", forward ? kLeftBar - w : kRightBar, y, w);
    if (peak > 0) bar("ink2", forward ? kLeftBar - peak : kRightBar, y, peak);
    layer_.text(forward ? kLeftBar - w - 6 : kRightBar + w + 6, y + 4, 11, "ink",
                fmt::format("{:.3g} ms", 1e3 * side.seconds), forward ? "end" : "start");
  }

  void bar(const char* colour, double x, double y, double w) {
    layer_.put("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"9\"/>\n", colour, x,
               y - 4.5, w);
  }

  const Fold& fold_;
  const Roof& roof_;
  double per_second_ = 0;
  plot::SvgLayer layer_;
};

}  // namespace

std::string fold_csv(const Fold& fold, const Roof& roof) {
  std::string out =
      "name,op,layer,shape,bytes,forward,forward_flop,forward_bytes,forward_seconds,forward_least_seconds,"
      "backward,backward_flop,backward_bytes,backward_seconds,backward_least_seconds,gradient_norm\n";
  for (const FoldLine& line : fold.lines)
    fmt::format_to(std::back_inserter(out), "{},{},{},\"{}\",{},{},{},{:.6g}\n", line.name,
                   to_string(line.op), line.layer, to_string(line.shape), line.bytes,
                   side_csv(line.forward, roof), side_csv(line.backward, roof), line.gradient);
  return out;
}

std::string fold_svg(const Fold& fold, const Roof& roof, const FoldWords& words) {
  return Picture(fold, roof).draw(words);
}

}  // namespace normscope::tape
