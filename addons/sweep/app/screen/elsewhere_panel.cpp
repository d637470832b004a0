// The elsewhere panel offers the sweep as text to run elsewhere, and as files.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/experiments/elsewhere.h"

namespace normscope::sweep {

using namespace ui;

void SweepScreen::save(const std::string& ending) {
  const std::string text = ending == "csv"   ? to_csv(*grid_)
                           : ending == "svg" ? to_svg(*grid_, metric_)
                                             : to_json(*grid_).dump(1) + "\n";
  asked_.files.push_back({"sweep." + ending, text});
}

namespace {

/// Cuts each line of a script into pieces that fit the width. It drops what exceeds the height, because
/// Copy takes the whole script anyway.
void draw_script(Painter& p, const Theme& t, const Rect& rect, std::string_view text) {
  const TextStyle mono{Face::Mono, type::tick};
  const float line = 15, letter = p.text_width(mono, "0");
  const auto most = static_cast<size_t>(std::max(8.f, rect.w / letter));
  float y = rect.y;
  while (!text.empty() && y + line <= rect.bottom()) {
    std::string_view piece = text.substr(0, text.find('\n'));
    size_t gap = 1;  // skips the end of the line, or the blank at which it is cut
    if (piece.size() > most) {
      const size_t blank = piece.rfind(' ', most);
      gap = blank == piece.npos || blank == 0 ? 0 : 1;
      piece = piece.substr(0, gap == 0 ? most : blank);
    }
    p.text({rect.x, y + 11}, mono, t.ink, piece);
    text.remove_prefix(std::min(text.size(), piece.size() + gap));
    y += line;
  }
}

}  // namespace

void SweepScreen::draw_elsewhere(Ui& ui, const Rect& rect) {
  Rect rest = panel(ui, rect,
                    {words::say("sweep.elsewhere.title"), words::say("sweep.elsewhere.note"), "", 0, false});
  const std::vector<words::Label> labels{words::label("sweep.elsewhere.command"),
                                         words::label("sweep.elsewhere.slurm"),
                                         words::label("sweep.elsewhere.parallel")};
  Rect row = rest.take_top(28, 8);
  segmented(ui, "sweep/form", {row.x, row.y, std::min(row.w, segmented_width(ui, labels)), 26}, labels, form_,
            words::say("sweep.elsewhere.help_form"));
  Rect buttons = rest.take_bottom(28, 8);
  const std::string text = text_for(experiments::kForms[form_], plan_, info(metric_).name);
  ui.mark("sweep/text", rest, text, words::say("sweep.elsewhere.help_text"));
  ui.paint().fill(rest, ui.theme().dark ? ui.theme().field : ui.theme().sunk, radius::field);
  draw_script(ui.paint(), ui.theme(), rest.inset(8, 6), text);
  const std::string& copy = words::say("sweep.elsewhere.copy");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, copy) + 20);
  if (button(ui, "sweep/copy", buttons.take_left(wide, 10), copy, words::say("sweep.elsewhere.help_copy")))
    asked_.copied = text;
  for (const char* ending : {"csv", "svg", "json"}) {
    std::string label(ending);
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (button(ui, fmt::format("sweep/export/{}", ending), buttons.take_left(62, 6), label,
               words::say("sweep.elsewhere.help_save", {{"kind", label}})))
      save(ending);
  }
}

}  // namespace normscope::sweep
