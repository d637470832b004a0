// Draws everything in the app, in logical px. ScreenPainter paints into the draw list of a window, and
// to_svg() writes the same shapes and texts into a file: code that takes a Painter serves both, so file and
// screen cannot differ. Ui::paint() gives the one of the base layer, Ui::paint_top() the one above everything.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/theme.h"
#include "engine/core/error.h"

struct ImDrawList;
struct ImFont;

namespace normscope::ui {

// Loads the four faces: Inter Regular and SemiBold (with DejaVu Sans for mathematics and Greek), JetBrains Mono Regular
// and Medium (with DejaVu Sans Mono). It searches the usual font folders. A missing face falls back to the next best
// one, and at last to Dear ImGui's built-in font, with a notice of one line. It is called once per ImGui context.

enum class Face { Sans, Bold, Mono, MonoMedium };

struct TextStyle {
  Face face = Face::Sans;
  float px = 12;  // em size in logical px, from the type scale
};

struct Fonts {
  struct Entry {
    ImFont* font = nullptr;
    float factor = 1;  // font size of ImGui (ascent + descent) per em of this face
  };
  std::array<Entry, 4> faces;
  Message notice;  // empty when all faces were found; else one line that names what is missing

  const Entry& operator[](Face f) const { return faces[static_cast<int>(f)]; }
};

/// The folders to search, NORMSCOPE_FONT_DIR first where it is set.
std::vector<std::string> default_font_folders();
/// Adds the faces to the current context's atlas. It never fails: without folders it takes the built-in font.
Fonts load_fonts(const std::vector<std::string>& folders = default_font_folders());

/// Holds polylines one after another: piece i is points[ends[i-1] .. ends[i]).
struct Pieces {
  std::vector<Vec> points;
  std::vector<uint32_t> ends;

  size_t size() const { return ends.size(); }
  std::span<const Vec> operator[](size_t i) const {
    uint32_t begin = i ? ends[i - 1] : 0;
    return {points.data() + begin, ends[i] - begin};
  }
};

/// The line along which dashes are measured. Along the path of a curve that swings up and down in every pixel they
/// would be a fog of specks; along x they stay as long as a smooth curve's.
enum class DashAlong { Path, X };

/// The distance from a to b as the dashes count it.
float dash_length(Vec a, Vec b, DashAlong along);

/// Adds the dashes of `line` to `out`. `phase` says how far into the pattern the line begins; the phase at
/// its end is returned.
float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out,
                 DashAlong along = DashAlong::Path);

enum class Align { Left, Centre, Right };

/// Describes one drawn text: its ink box (cap height to descender), the clip in force, and its layer (0
/// base, 1 popup, 2 top).
struct TextRecord {
  Rect rect, clip;
  std::string text;
  int layer = 0;
  float px = 0;  // of the style
};

class Painter {
 public:
  virtual ~Painter() = default;

  /// Centres the line on the rectangle's edge, moved inwards by half the line's width.
  void fill(const Rect&, Colour, float radius = 0);
  void fill_bottom(const Rect&, Colour, float radius);  // only the lower corners rounded
  virtual void outline(const Rect&, Colour, float width = 1, float radius = 0) = 0;
  void dashed_outline(const Rect&, Colour, float width, Dash, float radius = 0);
  void line(Vec a, Vec b, Colour, float width = 1);
  /// Draws on whole device pixels, one pixel wide (more at a high scale): grids, axes, separators.
  virtual void hairline(Vec a, Vec b, Colour, float width = 1) = 0;
  void dashed_line(Vec a, Vec b, Colour, float width, Dash);
  /// Begins `phase` into the dash. A horizontal or vertical line of two points lies on whole pixels.
  virtual void dashed(std::span<const Vec>, Colour, float width, Dash, float phase = 0,
                      DashAlong = DashAlong::Path) = 0;
  virtual void polyline(std::span<const Vec>, Colour, float width, bool closed = false) = 0;
  virtual void polygon(std::span<const Vec> convex, Colour) = 0;
  /// Fills the area between two lines with the same x, without an edge: the bands of a plot. It leaves no seams
  /// at any opacity.
  virtual void strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour) = 0;
  /// Marks values that are not finite: stripes at 45 degrees without an edge, `stripe` wide and `pitch` apart
  /// along x. The stripes of adjacent rectangles meet.
  virtual void hatch(const Rect&, Colour, float stripe, float pitch);
  virtual void circle(Vec centre, float r, Colour) = 0;
  virtual void ring(Vec centre, float r, Colour, float width = 1) = 0;
  void arc(Vec centre, float r, float from, float to, Colour,
           float width);  // radians from the right, clockwise
  void bezier(Vec a, Vec control_a, Vec control_b, Vec b, Colour, float width);
  /// Draws a run's marker: filled, outlined in `edge` (the panel's colour in plots). `size` is half its width.
  void marker(Vec centre, Marker, float size, Colour fill, Colour edge);
  /// Things that the user can grab: filled with the accent, in the theme's outline.
  void accent_box(const Theme&, const Rect&, float radius);
  void accent_disc(const Theme&, Vec centre, float r);
  /// Lies under a dragged token, `halo` around a target slot or a hovered token.
  void shadow(const Theme&, const Rect&, float radius);
  void halo(const Theme&, const Rect&, float radius, float strength = 1);

  /// Puts the baseline at `at.y`; `at.x` is the left end, middle or right end. It returns the advance width.
  virtual float text(Vec at, TextStyle, Colour, std::string_view, Align = Align::Left) = 0;
  /// Centres the text vertically on its capitals. It cuts longer text at a whole character and adds "…".
  float text_in(const Rect& box, TextStyle, Colour, std::string_view, Align = Align::Left);
  /// Wraps words to box.w and breaks a word that is wider. The first line stands at the top of `box`;
  /// `line` is the line height. It returns the height used.
  float text_wrapped(const Rect& box, TextStyle, Colour, std::string_view, float line);
  virtual float text_width(TextStyle, std::string_view) const = 0;
  float wrapped_height(float width, TextStyle, std::string_view, float line) const;
  /// The longest prefix that fits `width`, with "…" when it was cut.
  std::string fit(TextStyle, std::string_view, float width) const;
  /// Shortens every word wider than `width`, such as a path, in its middle.
  std::string fit_words(TextStyle, std::string_view, float width) const;

  virtual void push_clip(const Rect&) = 0;
  virtual void pop_clip() = 0;
  /// Names all drawing until end_group(). A file shows the title to screen readers and on hover.
  virtual void begin_group([[maybe_unused]] std::string_view title) {}
  virtual void end_group() {}

 protected:
  enum class Corners { All, Lower };
  enum class Edges { Snapped, Exact };  // on whole device pixels or where they are

 private:
  virtual void box(const Rect&, Colour, float radius, Corners, Edges) = 0;
  std::vector<std::string> wrap(float width, TextStyle, std::string_view) const;
  size_t longest_prefix(TextStyle, std::string_view, float width) const;  // bytes
};

/// Scales to device pixels and snaps text to whole pixels. When asked, it records every text with its
/// rectangle and clip, so that a test can demand that no two texts overlap and none is cut off.
class ScreenPainter final : public Painter {
 public:
  ScreenPainter(const Fonts& fonts, ImDrawList* list, float scale, int layer,
                std::vector<TextRecord>* records)
      : fonts_(&fonts), list_(list), scale_(scale), layer_(layer), records_(records) {}
  /// A painter of the same layer whose texts are not recorded.
  ScreenPainter unrecorded() const { return {*fonts_, list_, scale_, layer_, nullptr}; }
  ImDrawList* list() const { return list_; }

  void outline(const Rect&, Colour, float width, float radius) override;
  void hairline(Vec a, Vec b, Colour, float width) override;
  void dashed(std::span<const Vec>, Colour, float width, Dash, float phase, DashAlong) override;
  void polyline(std::span<const Vec>, Colour, float width, bool closed) override;
  void polygon(std::span<const Vec> convex, Colour) override;
  void strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour) override;
  void circle(Vec centre, float r, Colour) override;
  void ring(Vec centre, float r, Colour, float width) override;
  float text(Vec at, TextStyle, Colour, std::string_view, Align) override;
  float text_width(TextStyle, std::string_view) const override;
  void push_clip(const Rect&) override;
  void pop_clip() override;

 private:
  void box(const Rect&, Colour, float radius, Corners, Edges) override;

  const Fonts* fonts_;
  ImDrawList* list_;
  float scale_;
  int layer_;
  std::vector<TextRecord>* records_;
};

// A picture as an SVG document, shape by shape and text by text as on the screen. It needs no window and no font: texts
// are measured by the advances of Inter and JetBrains Mono.

/// Makes text fit for the content or an attribute of an element. It leaves out control characters.
std::string svg_escaped(std::string_view text);

/// Paints a picture from (0, 0) on and returns its size in logical px. Both themes must give the same shapes.
using Picture = std::function<Vec(Painter&, const Theme&)>;

/// One document for both themes: light, and dark where the viewer prefers it. Viewers show `title`
/// as the picture's name. Throws Error where the shapes of the themes differ.
std::string to_svg(std::string_view title, const Picture& picture);
/// One theme without a style sheet, so several documents may stand on one page.
std::string to_svg(std::string_view title, const Picture& picture, const Theme& theme);

}  // namespace normscope::ui
