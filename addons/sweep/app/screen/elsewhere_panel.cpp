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
  Rect rest = panel(ui, rect, {tr("Run it elsewhere"), tr("one run for each task"), "", 0, false});
  const std::vector<words::Label> labels{words::label("command"), words::label("Slurm array"),
                                         words::label("GNU parallel")};
  Rect row = rest.take_top(28, 8);
  segmented(ui, "sweep/form", {row.x, row.y, std::min(row.w, segmented_width(ui, labels)), 26}, labels, form_,
            tr("The sweep as text: one command, a job array for Slurm, or lines for GNU parallel."));
  Rect buttons = rest.take_bottom(28, 8);
  const std::string text = text_for(experiments::kForms[form_], plan_, info(metric_).name);
  ui.mark("sweep/text", rest, text, tr("What is copied: it trains this very plan."));
  ui.paint().fill(rest, ui.theme().dark ? ui.theme().field : ui.theme().sunk, radius::field);
  draw_script(ui.paint(), ui.theme(), rest.inset(8, 6), text);
  const std::string& copy = tr("Copy");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, copy) + 20);
  if (button(ui, "sweep/copy", buttons.take_left(wide, 10), copy, tr("Copies the text (C).")))
    asked_.copied = text;
  for (const char* ending : {"csv", "svg", "json"}) {
    std::string label(ending);
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (button(ui, fmt::format("sweep/export/{}", ending), buttons.take_left(62, 6), label,
               tr("Saves what is known so far as {kind} in the pictures folder.", {{"kind", label}})))
      save(ending);
  }
}

}  // namespace normscope::sweep
