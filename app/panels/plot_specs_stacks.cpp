// The two stacks of an encoder-decoder in the plots by layer: how their lines differ and what the
// sentences say about both. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/plot_specs.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::panels {
std::string whose(const RunView& run, view::Side side) {
  if (!view::has_both(run)) return view::letter_of(run);
  const std::string& stack = tr(side == view::Side::Main ? "decoder" : "encoder");
  return tr("{run}'s {stack}", {{"run", run.letter}, {"stack", stack}});
}

void dress_line(plot::Series& s, const RunView& run, view::Side side, bool compact) {
  if (!view::has_both(run)) return;
  const bool decoder = side == view::Side::Main;
  const std::string& stack = tr(decoder ? "decoder" : "encoder");
  s.id = fmt::format("{} {}", run.letter, stack);
  s.name = compact ? stack : tr(decoder ? "dec." : "enc.");
  if (side == view::Side::Main) return;
  s.width = 1.3f;
  s.markers = plot::Markers::None;
}

plot::Series layer_line(const LabView& view, size_t index, bool compact, view::Side side) {
  const RunView& run = view.runs[index];
  plot::Series s;
  s.id = view::letter_of(run);
  s.letter = s.id;
  s.name = short_label(view, index);
  s.x0 = 1;
  s.ink = plot::Ink::run(view::colour_of(run));
  s.markers = plot::Markers::All;
  s.end_marker = false;
  dress_line(s, run, side, compact);
  return s;
}

float depth_pad_right(const LabView& view, bool compact) {
  return compact ? 140.f : view::any_both(view) ? 62.f : 30.f;
}

std::string stacks_sentence(char letter, const std::vector<float>& decoder,
                            const std::vector<float>& encoder) {
  const auto way = [](const std::vector<float>& v) {
    if (v.size() < 2 || !view::usable(v.front()) || !view::usable(v.back())) return std::string();
    const double ratio = double(v.back()) / v.front(), factor = std::max(ratio, 1 / ratio);
    if (factor < 1.25) return tr("is flat");
    const std::string times = factor < 20 ? ui::decimals(factor, 1) : ui::grouped(std::llround(factor));
    return tr(ratio > 1 ? "falls {times}×" : "grows {times}×", {{"times", times}});
  };
  const std::string low = way(decoder), high = way(encoder);
  if (low.empty() || high.empty()) return {};
  return tr("Going down {run}: decoder {decoder}, encoder {encoder}.",
            {{"run", letter}, {"decoder", low}, {"encoder", high}});
}

}  // namespace normscope::panels
