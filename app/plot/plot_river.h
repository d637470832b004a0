// A river of a plot: where its bands run, what is under the mouse, and how it is drawn. Private to app/plot.
#pragma once

#include <optional>
#include <string>

#include "app/plot/plot_builder.h"

namespace normscope::plot {

struct RiverPlace {
  size_t column = 0, band = 0;
};

// The column and the band under the mouse, where the river is.
std::optional<RiverPlace> place_in(const River&, const Drawing&, ui::Vec mouse);
// What share the band has there: "After sub-layer 7: 12 % of all shares belong to branch 3."
std::string place_words(const River&, const RiverPlace&);

// What several bands beside each other are called: "branches 1–8".
std::string branches_name(size_t first, size_t last);

// Adds the bands, what flows in below them, the numbers of the columns and the names at the ends.
void add_river(Builder&);
// The place of the run's letter: left of the river, where it begins.
ui::Rect river_tile(const Builder&);

}  // namespace normscope::plot
