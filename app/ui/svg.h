// Writes a picture as an SVG document, shape by shape and text by text as on the screen. It needs no window
// and no font: texts are measured by the advances of Inter and JetBrains Mono. Whatever saves a picture calls it, in
// the window, on the command line and in the browser.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/ui/paint.h"

namespace normscope::ui {

/// Makes text fit for the content or an attribute of an element. It leaves out control characters.
std::string svg_escaped(std::string_view text);

/// Paints a picture from (0, 0) on and returns its size in logical px. Both themes must give the same
/// shapes.
using Picture = std::function<Vec(Painter&, const Theme&)>;

/// This `to_svg` writes one document for both themes: light, and dark where the viewer prefers it. `title` is what a
/// viewer calls the picture. It throws Error where the shapes of the themes differ.
std::string to_svg(std::string_view title, const Picture& picture);
/// This `to_svg` writes one theme without a style sheet, so several documents may stand on one page.
std::string to_svg(std::string_view title, const Picture& picture, const Theme& theme);

}  // namespace normscope::ui
