// The player's drawing of a tape as a network, which follows one number through it. See player.h.
#include "app/course/pictures/network.h"
#include "app/course/tapes.h"
#include "app/lessons/player.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kLeastWords = 76;  // px: in lower room beside the drawing its words have no place
const TextStyle kNow{Face::Bold, type::title}, kFormula{Face::Sans, type::title},
    kHint{Face::Sans, type::body};

}  // namespace

/// How the followed number came about in the line that ran last.
std::string Player::formula_now(const Figure& figure, const TapeTable& table, size_t place) const {
  if (table.done == 0) return "";
  const SmallTape tape = tape_of(*lesson(), figure.tape, shown_changes());
  return followed(tape, replay_small_tape(tape), table.done - 1, place, *course_.words);
}

/// Draws the network; what the last line did stands in the room beside it, where there is some.
void Player::show_network(Ui& ui, const Rect& rect, const Figure& figure, const TapeTable& table) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const SmallTape tape = tape_of(*lesson(), figure.tape, shown_changes());
  const TapeNetwork network = network_of(tape, table);
  const NetworkPlaces places = places_of(network, rect);
  const TapeTable shorter = table_of_tape(tape, table.done, *course_.words, 2);
  NetworkPicture picture{&network, &table, &shorter, static_cast<size_t>(figure.follow)};
  if (const size_t pointed = place_at(picture, places, ui.mouse());
      pointed > 0 && ui.under_mouse() == "lesson/tape")
    picture.place = pointed;
  draw_network(p, t, picture, places);
  Rect words = places.free;
  if (words.h < kLeastWords) return;
  words.take_top(
      p.text_wrapped(words, kNow, t.ink, table.done == 0 ? tr("Nothing has run yet.") : table.said, 18), 6);
  words.take_top(p.text_wrapped(words, kFormula, t.ink, formula_now(figure, table, picture.place), 19), 6);
  for (const char* key :
       {"In each box: the value above, its gradient below.", "Point at a number to follow it."})
    if (words.h >= 18) words.take_top(p.text_wrapped(words, kHint, t.ink3, tr(key), 17));
}

}  // namespace normscope::lessons
