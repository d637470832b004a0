// A still is a figure as a file, whatever kind it is: a plot, or a picture of this room as it stands when no user moves it.
#pragma once

#include <string>

#include "app/course/figures.h"
#include "app/plot/plot.h"
#include "app/ui/theme.h"

namespace normscope::course {

/// Whether a figure is drawn by a painter of this room, and not as a plot or a table.
bool is_picture(const Figure& figure);

/// Draws such a figure with what may be seen of it.
std::string picture_svg(const Lesson& lesson, const Figure& figure, const FigureData& data,
                        const ui::Theme& theme, plot::ExportSize size);

}  // namespace normscope::course
