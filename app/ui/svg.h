// A picture as an SVG document: what is painted on the screen is written into a file, shape by shape and text by text.
// Needs no window and no font: texts are measured by the advances of Inter and JetBrains Mono. Called by whatever saves a
// picture, in the window, on the command line and in the browser.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/ui/paint.h"

namespace normscope::ui {

/// Text as the content or attribute of an element; control characters are left out.
std::string svg_escaped(std::string_view text);

/// Paints a picture from (0, 0) on and returns its size, logical px. Its shapes are the same in both themes.
using Picture = std::function<Vec(Painter&, const Theme&)>;

/// Light, and dark where the viewer prefers it. `title`: what a viewer calls the picture. Throws Error where the shapes
/// of the themes differ.
std::string to_svg(std::string_view title, const Picture& picture);
/// In one theme, without a style sheet: several may stand on one page.
std::string to_svg(std::string_view title, const Picture& picture, const Theme& theme);

}  // namespace normscope::ui
