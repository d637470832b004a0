// The fold picture draws the fold of a step: forward down on the left, backward up on the right, an op and its gradient
// on one row, with bars of their times and the track between. The screen paints the visible rows, fold_svg all rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "addons/tape-screen/app/fold_rows.h"
#include "app/ui/paint.h"

namespace normscope::tape_screen {

/// Where the columns of the fold are, px from the left edge of its panel, and how high a row is.
struct FoldColumns {
  float rate_left, bar_right, left_room, track_left, name, shape_right, bytes_right, track_right, bar_left,
      right_room, rate_right, row;
};
// The style guide's; a picture alone has an extra column of gradients beside the right track.
inline constexpr FoldColumns kWideFold{62, 172, 54, 190, 208, 444, 500, 522, 540, 118, 726, 29},
    kNarrowFold{0, 112, 44, 128, 144, 328, 384, 404, 420, 86, 0, 24},
    kFoldAlone{62, 172, 54, 190, 208, 444, 500, 590, 608, 118, 794, 20};

struct FoldPicture {
  const StepFacts& facts;
  const std::vector<FoldRow>& rows;
  FoldColumns at = kWideFold;
  bool wide = true, clock = true;  ///< false: without words and rates; without times
  bool alone = false;              ///< a picture by itself, in which nothing opens or closes
  ui::Rect panel{}, list{};
  size_t first = 0, end = 0;  ///< the visible rows
  float px_per_second = 0;

  float y(size_t row) const { return list.y + (static_cast<float>(row - first) + 0.5f) * at.row; }
  float left() const { return panel.x + at.track_left; }
  float right() const { return panel.x + at.track_right; }
  bool folds() const { return end == rows.size(); }  ///< its last row is visible
  ui::Rect turn() const { return {left() + 20, list.bottom() - 2, right() - left() - 40, 20}; }
  std::string turn_words() const;  ///< "the fold: loss 2.91, gradient 0.028"

  void paint_headings(ui::Painter& p, const ui::Theme& t, float baseline) const;
  void paint(ui::Painter& p, const ui::Theme& t) const;
};

/// Says "7.2 ms forward, 15 ms backward, 1.1 ms update; ..."; it is empty for a step without times.
std::string times_of(const StepFacts& facts);
/// Draws every op of the step with the norms of the gradients, in light colours, and in dark ones where the
/// viewer prefers them.
std::string fold_svg(const StepFacts& facts);

}  // namespace normscope::tape_screen
