// The chain is a figure of why arrows in random directions add up slowly: the stream of a fresh model, drawn as a chain
// of its branches. Each is as long as the root of its mean square, and the angle at which it joins is the one that the
// lengths of the stream before and behind it leave, so the end of the chain is as far from the start as the stream is
// long. The player shows as much of it as the user chooses, the report all of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/course/figures.h"
#include "app/ui/paint.h"
#include "engine/core/error.h"

namespace normscope::course {

struct Chain {
  std::vector<ui::Vec>
      ends{};            ///< of the input, then of each branch, from the start at 0; the input is 1 long
  double straight = 1;   ///< length of all shown arrows in one line
  size_t shown = 0;      ///< branches of `ends` that are shown
  double times() const;  ///< length of the stream behind the last one shown
};

/// How many layers are measured; 0 where nothing may be seen.
int32_t chain_layers(const Figure& figure, const FigureData& data);
/// Shows the branches of the lowest `layers`, two in each.
Chain chain_of(const Figure& figure, const FigureData& data, int32_t layers);

/// Places the ends of a whole chain in `rect`, the start first: the same place for each, however many
/// are shown.
std::vector<ui::Vec> chain_points(const Chain& chain, const ui::Rect& rect);
void paint_chain(ui::Painter& p, const ui::Theme& t, const Chain& chain, const ui::Rect& rect,
                 const Words& words);

/// How long the stream is, and how long its arrows were in one line; empty where nothing is known.
std::string chain_sentence(const Chain& chain, const Words& words);

/// Empty where the figure is not a chain, or its two curves are the path and the branches of one run.
Message wrong_chain(const Lesson& lesson, const Figure& figure);

}  // namespace normscope::course
