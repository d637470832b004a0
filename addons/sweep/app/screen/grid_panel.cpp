// The grid panel has the sentence, the grid or the line plot, and the key; grid_picture.h draws the grid.
#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::sweep {

using namespace ui;

GridPicture SweepScreen::picture() const {
  return {*grid_, metric_, scale_, key_, state_->under_way, tiles_, shown_cell()};
}

void SweepScreen::draw_grid_panel(Ui& ui, const Rect& rect) {
  const bool compact = size_ == Size::Compact;
  const std::string& title = info(metric_).title();
  PanelOptions options;
  options.title = capitalised(title.size() < 40 ? title : info(metric_).name);
  options.note =
      metric_ == Metric::Loss ? loss_note(*grid_) : tr("{steps} steps", {{"steps", base_.train.steps}});
  Rect rest = panel(ui, rect, options);
  const Rect sentence = rest.take_top(space::sentence_row);
  const std::string words = grid_sentence(*grid_);
  const TextStyle body{Face::Sans, type::body};
  ui.paint().text_in(sentence.moved(0, -7), body, ui.theme().ink2,
                     fitting(ui.paint(), body, sentence.w, {words, words.substr(0, words.find(". ") + 1)}));
  ui.mark("sweep/sentence", sentence, words, tr("What the grid says, computed from its cells."));
  const Rect foot = rest.take_bottom(40, 4);
  if (plan_.axes.size() < 2) {
    draw_key(ui, foot);
    return draw_line_plot(ui, rest);
  }
  Rect above{}, beside{};
  if (!compact) above = rest.take_top(88);
  rest.take_top(24);
  rest.take_left(64);
  if (!compact) beside = rest.take_right(84, 8);
  rest.take_bottom(42);
  const GridLayout at = fitted(rest, plan_.columns(), plan_.rows());
  draw_key(ui, {foot.x, std::min(foot.y, at.area.bottom() + 56), foot.w, foot.h});
  hold_grid(ui, at);
  picture().paint(ui.paint(), ui.theme(), at);
  draw_brush(ui, at);
  if (!compact) draw_profiles(ui, at, above, beside);
}

}  // namespace normscope::sweep
