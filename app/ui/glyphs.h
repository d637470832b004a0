// The outlines of the letters of the four faces, for files that must look alike where no font is installed: figures of
// papers, whose publishers refuse fonts that are not embedded.
//
// Called by svg.cpp and pdf.cpp. It reads the files that files_of_face() finds.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "app/ui/paint.h"

namespace normscope::ui {

/// A part of an outline. A curve is a cubic Bézier with the control points `a` and `b`.
struct Stroke {
  enum class To : uint8_t { Move, Line, Curve, Close } to;
  Vec end{}, a{}, b{};
};

class Glyphs {
 public:
  /// Of this computer's fonts, read once. Throws Error that names a face without a file.
  static const Glyphs& found();
  explicit Glyphs(const std::vector<std::string>& folders);
  ~Glyphs();

  /// The advance in logical px. A sign that no face has takes no room.
  float width(TextStyle, std::string_view) const;
  /// Closed outlines whose inside is where they wind around; the baseline begins at `at`.
  std::vector<Stroke> outline(TextStyle, Vec at, std::string_view) const;

 private:
  struct Font;
  using Chain = std::vector<std::unique_ptr<Font>>;  ///< letters, then symbols
  template <class Each>
  float each_glyph(TextStyle, std::string_view, const Each&) const;

  std::array<Chain, 4> faces_;
};

}  // namespace normscope::ui
