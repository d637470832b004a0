// A small tape drawn as a network: a box for each number and instruction, upward as data flows, with values above
// gradients in every box, and lines for what reads what. The player shows it beside the table of the same tape
// (tapes.h); check_tapes refuses a tape that cannot be drawn.
#pragma once

#include <cstddef>
#include <vector>

#include "app/course/tapes.h"
#include "app/ui/paint.h"

namespace normscope::course {

struct NetworkBox {
  size_t row = 0;                ///< of the table
  size_t level = 0, column = 0;  ///< from below, and from the left: the stream, its branch, the weights
  std::vector<size_t> reads;     ///< boxes
};
struct TapeNetwork {
  std::vector<NetworkBox> boxes;                ///< in the order of the table's rows
  size_t levels = 0, columns = 0, numbers = 0;  ///< the last: most numbers in a box
};

/// Lays a tape out. It throws Error for one whose numbers are not single rows, or too many to be drawn.
TapeNetwork network_of(const SmallTape& tape, const TapeTable& table);

/// A network at one moment of its replay.
struct NetworkPicture {
  const TapeNetwork* network = nullptr;
  const TapeTable* table = nullptr;
  const TapeTable* shorter = nullptr;  ///< the same with fewer digits, for a number that has no room
  size_t place = 1;                    ///< that is followed: its numbers are framed
};

/// Where what was drawn, or will be, lies in a rectangle.
struct NetworkPlaces {
  std::vector<ui::Rect> boxes;  ///< by box
  float name = 0, cell = 0;     ///< widths in a box
  bool with_words = true;       ///< whether there is room for what an instruction does
  ui::Rect free;                ///< beside the stream, above the branch: room for words
};
NetworkPlaces places_of(const TapeNetwork& network, const ui::Rect& area);
/// The place, from 1, of the number under a point; 0: there is none.
size_t place_at(const NetworkPicture& picture, const NetworkPlaces& places, ui::Vec point);

void draw_network(ui::Painter& p, const ui::Theme& t, const NetworkPicture& picture,
                  const NetworkPlaces& places);

}  // namespace normscope::course
