// The drawing interface of the whole app, in logical px. ScreenPainter draws into an ImGui draw list, and to_svg()
// writes the same shapes and texts into a file: code that takes a Painter serves both, so the two cannot differ.
// Ui::paint() is the painter of the current layer, Ui::paint_top() the painter above the screens.
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

// The four faces: Inter Regular and SemiBold (with DejaVu Sans for mathematics and Greek), JetBrains Mono Regular and
// Medium (with DejaVu Sans Mono). load_fonts() searches the usual font folders, once per ImGui context. A missing face
// is replaced by the next best one, at last by Dear ImGui's built-in font, and a notice of one line names it.

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
/// Adds the faces to the current context's atlas. It never fails: without any font file it takes the built-in font.
Fonts load_fonts(const std::vector<std::string>& folders = default_font_folders());
/// The file of a face, or of the next best one, and the one of its symbols; what is not found is left out.
std::vector<std::string> files_of_face(Face, const std::vector<std::string>& folders);
/// Empty where it cannot be read.
std::string font_bytes(const std::string& path);

/// The sign of a UTF-8 text at `at`, which moves behind it; U+FFFD for bytes that are none.
char32_t next_sign(std::string_view text, size_t& at);
/// The signs that texts had since the last call and no face has, such as Chinese ones; each is named once.
std::vector<char32_t> take_missing_signs();
/// Adds a font for such signs to every face of the current context's atlas, once by its name. The bytes must outlive it.
void add_to_faces(std::span<const uint8_t> font, int face, const std::string& name);

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

/// How the length of dashes is measured. Along the path of a curve that swings up and down in every pixel, the dashes
/// would be specks; along x they stay as long as those of a smooth curve.
enum class DashAlong { Path, X };

/// The distance from a to b in that measure.
float dash_length(Vec a, Vec b, DashAlong along);

/// Adds the dashes of `line` to `out`. The line begins `phase` px into the pattern; returns the phase at the line's
/// end.
float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out,
                 DashAlong along = DashAlong::Path);

enum class Align { Left, Centre, Right };

/// One drawn text, for tests: its ink box (cap height to descender), the clip in force, and its layer (0 base, 1 popup,
/// 2 top, 3 tooltip).
struct TextRecord {
  Rect rect, clip;
  std::string text;
  int layer = 0;
  float px = 0;  // of the style
};

class Painter {
 public:
  virtual ~Painter() = default;

  void fill(const Rect&, Colour, float radius = 0);
  void fill_bottom(const Rect&, Colour, float radius);  // only the lower corners rounded
  /// Draws the line inside the rectangle, along its edge.
  virtual void outline(const Rect&, Colour, float width = 1, float radius = 0) = 0;
  void dashed_outline(const Rect&, Colour, float width, Dash, float radius = 0);
  void line(Vec a, Vec b, Colour, float width = 1);
  /// Draws on whole device pixels, one pixel wide (more at a high scale): grids, axes, separators.
  virtual void hairline(Vec a, Vec b, Colour, float width = 1) = 0;
  void dashed_line(Vec a, Vec b, Colour, float width, Dash);
  /// `phase`: see cut_dashes(). A horizontal or vertical line of two points lies on whole pixels.
  virtual void dashed(std::span<const Vec>, Colour, float width, Dash, float phase = 0,
                      DashAlong = DashAlong::Path) = 0;
  virtual void polyline(std::span<const Vec>, Colour, float width, bool closed = false) = 0;
  virtual void polygon(std::span<const Vec> convex, Colour) = 0;
  /// Fills the area between two lines with the same x, without an edge, for the bands of a plot. It shows no seams at
  /// any opacity.
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
  /// What the user can drag is filled with the accent colour and has the theme's outline.
  void accent_box(const Theme&, const Rect&, float radius);
  void accent_disc(const Theme&, Vec centre, float r);
  /// The shadow below a dragged token; `halo`: a glow around a target slot or a hovered token.
  void shadow(const Theme&, const Rect&, float radius);
  void halo(const Theme&, const Rect&, float radius, float strength = 1);

  /// Puts the baseline at `at.y`; `at.x` is the left end, middle or right end. Returns the advance width.
  virtual float text(Vec at, TextStyle, Colour, std::string_view, Align = Align::Left) = 0;
  /// Centres the text vertically on its capitals. A longer text is cut at a whole character and gets "…".
  float text_in(const Rect& box, TextStyle, Colour, std::string_view, Align = Align::Left);
  /// Wraps words to box.w and breaks a word that is wider. The first line stands at the top of `box`;
  /// `line` is the line height. It returns the height used.
  float text_wrapped(const Rect& box, TextStyle, Colour, std::string_view, float line);
  virtual float text_width(TextStyle, std::string_view) const = 0;
  std::vector<std::string> wrap(float width, TextStyle,
                                std::string_view) const;  ///< the lines of text_wrapped()
  float wrapped_height(float width, TextStyle, std::string_view, float line) const;
  /// The longest prefix that fits `width`, with "…" when it was cut.
  std::string fit(TextStyle, std::string_view, float width) const;
  /// Shortens every word wider than `width`, such as a path, in its middle.
  std::string fit_words(TextStyle, std::string_view, float width) const;

  virtual void push_clip(const Rect&) = 0;
  virtual void pop_clip() = 0;
  /// Groups all drawing until end_group() under a title, which SVG files give to screen readers and show on hover.
  virtual void begin_group([[maybe_unused]] std::string_view title) {}
  virtual void end_group() {}

 protected:
  enum class Corners { All, Lower };
  enum class Edges { Snapped, Exact };  // moved to whole device pixels, or not

 private:
  virtual void box(const Rect&, Colour, float radius, Corners, Edges) = 0;
  size_t longest_prefix(TextStyle, std::string_view, float width) const;  // bytes
};

/// Scales to device pixels and snaps text to whole pixels. With `records` it notes every text with its rectangle and
/// clip, so that a test can require that no two texts overlap and none is cut off.
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

// A picture as an SVG document, with the same shapes and texts as on the screen. It needs neither a window nor a font:
// texts are measured by the advances of Inter and JetBrains Mono.

/// Escapes text for the content or an attribute of an element, and drops control characters.
std::string svg_escaped(std::string_view text);

/// Paints a picture from (0, 0) on and returns its size in logical px. Both themes must give the same shapes.
using Picture = std::function<Vec(Painter&, const Theme&)>;

/// One document for both themes: light, and dark where the viewer prefers it. Viewers show `title`
/// as the picture's name. Throws Error where the shapes of the themes differ.
std::string to_svg(std::string_view title, const Picture& picture);
/// One theme without a style sheet, so several documents may stand on one page.
std::string to_svg(std::string_view title, const Picture& picture, const Theme& theme);
/// For a paper, where the picture is so wide: letters as outlines, so that a reader needs no font. Throws Error where this
/// computer has no font whose outlines could be taken.
std::string to_paper_svg(std::string_view title, const Picture& picture, const Theme& theme,
                         float millimetres);
std::string to_pdf(std::string_view title, const Picture& picture, const Theme& theme, float millimetres);

}  // namespace normscope::ui
