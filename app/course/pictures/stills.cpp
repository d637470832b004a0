#include "app/course/pictures/stills.h"

#include "app/course/pictures/bars.h"
#include "app/course/pictures/chain.h"
#include "app/course/pictures/network.h"
#include "app/course/pictures/walk.h"
#include "app/ui/svg.h"

namespace normscope::course {
namespace {

constexpr float kSentenceLine = 17;

/// Draws a picture below its title and its sentence.
ui::Vec paint_still(ui::Painter& p, const ui::Theme& t, const Lesson& lesson, const Figure& figure,
                    const FigureData& data, plot::ExportSize size) {
  const ui::Rect whole{0, 0, size.width, size.height};
  p.begin_group(figure.title);
  p.fill(whole, t.panel);
  ui::Rect rest = whole.inset(ui::space::pad, 8);
  const Words& words = *lesson.words;
  ui::Rect head = rest.take_top(26);
  head.take_left(p.text_in(head, {ui::Face::Bold, ui::type::title}, t.ink, figure.title) + 12);
  if (data.reference && figure.bars.empty() && figure.follow == 0)  // nothing of a tape is random
    p.text_in(head, {ui::Face::Sans, ui::type::body}, t.ink3,
              words.tr("mean of {seeds} seeds", {{"seeds", data.reference->seeds}}));
  const auto say = [&](const std::string& sentence) {
    rest.take_top(p.text_wrapped(rest, {ui::Face::Sans, ui::type::body}, t.ink2, sentence, kSentenceLine), 6);
  };
  if (!figure.bars.empty()) {
    say(figure.note);
    Bars bars = bars_of(lesson.tape(figure.bars)->tape, {}, tape_beside(lesson, figure));
    bars.back_known = data.reference != nullptr && data.draw_only.empty();
    paint_bars(p, t, bars, rest, words, false);
  } else if (figure.follow > 0) {
    say(figure.note);
    const SmallTape& tape = lesson.tape(figure.tape)->tape;
    const bool known = data.reference != nullptr && data.draw_only.empty();
    const size_t done = known ? kMostSmallNames * 2 : 0;
    const TapeTable table = table_of_tape(tape, done, words), shorter = table_of_tape(tape, done, words, 2);
    const TapeNetwork network = network_of(tape, table);
    draw_network(p, t, {&network, &table, &shorter, static_cast<size_t>(figure.follow)},
                 places_of(network, rest));
  } else if (!figure.chain.empty()) {
    const Chain chain = chain_of(figure, data, chain_layers(figure, data));
    say(chain.shown == 0 ? figure.note : chain_sentence(chain, words));
    paint_chain(p, t, chain, rest, words);
  } else {
    const auto [first, last] = walk_steps(lesson, figure, data);
    const Walk walk = walk_at(lesson, figure, data, opening_step(figure, {first, last}));
    say(last < first ? figure.note : walk_sentence(walk, words));
    paint_walk(p, t, walk, rest, words);
  }
  p.end_group();
  return {size.width, size.height};
}

}  // namespace

bool is_picture(const Figure& figure) {
  return !figure.walk.empty() || !figure.chain.empty() || !figure.bars.empty() || figure.follow > 0;
}

std::string picture_svg(const Lesson& lesson, const Figure& figure, const FigureData& data,
                        const ui::Theme& theme, plot::ExportSize size) {
  return ui::to_svg(
      figure.title,
      [&](ui::Painter& p, const ui::Theme& t) { return paint_still(p, t, lesson, figure, data, size); },
      theme);
}

}  // namespace normscope::course
