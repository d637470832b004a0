// A picture that is no plot, written as an SVG: lines of elements and texts that wear classes, with one style for the
// light theme and one for viewers that prefer the dark one. Called by the pictures of the zoo and of a sweep.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace normscope::plot {

/// Text as the content or attribute of an element; control characters are left out.
std::string svg_escaped(std::string_view text);

/// What is drawn, in order. Coordinates are px from the upper left corner.
class SvgLayer {
 public:
  template <typename... A>
  void put(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(args)...);
  }
  /// On the baseline y. `style`: its class; `anchor`: start, middle or end.
  void text(double x, double y, double px, std::string_view style, std::string_view what,
            std::string_view anchor = "start", bool bold = false);
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

/// The whole file. The styles are rules of CSS; one of the class "bg" fills the page.
std::string svg_page(double width, double height, std::string_view title, std::string_view light,
                     std::string_view dark, std::string_view body);

}  // namespace normscope::plot
