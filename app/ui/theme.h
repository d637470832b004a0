// The style guide as one table: colours by role for both themes, run colours, depth ramp, heat map, type scale,
// spacing, radii, line widths. Every widget, plot and exporter reads its numbers here. A test computes contrasts, and
// distances for colour-blind readers, from the table. No graphics header is needed here.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "app/ui/geometry.h"

namespace normscope::ui {

struct Colour {
  uint8_t r = 0, g = 0, b = 0, a = 255;

  /// The colour with its opacity multiplied by k in 0..1.
  constexpr Colour alpha(float k) const { return {r, g, b, static_cast<uint8_t>(a * k + 0.5f)}; }
  /// Returns 0xAABBGGRR, the packing of the draw list and of Image.
  constexpr uint32_t packed() const {
    return uint32_t(r) | uint32_t(g) << 8 | uint32_t(b) << 16 | uint32_t(a) << 24;
  }
  friend constexpr bool operator==(Colour, Colour) = default;
};

constexpr Colour rgb(uint32_t hex) {
  return {static_cast<uint8_t>(hex >> 16), static_cast<uint8_t>(hex >> 8), static_cast<uint8_t>(hex), 255};
}
/// Interpolates from a at t = 0 to b at t = 1, directly in sRGB, as the style guide does for its ramps.
Colour mix(Colour a, Colour b, float t);
std::string to_hex(Colour);  // "#0072b2", without the opacity

enum class Marker : uint8_t { None, Square, Triangle, Circle, Diamond };

struct Dash {
  float on = 0, off = 0;  // logical px; on = 0 means solid
  bool solid() const { return on <= 0; }
};

struct RunLook {
  char letter;
  Colour tile, tile_letter, line, text;
  Marker marker;
  Dash dash;
};

/// The number of run letters, each with its own colour: A to D for a session's runs, E to H for runs opened from files.
inline constexpr int max_runs = 8;

struct Theme {
  bool dark;
  Colour bg, panel, raised, sunk, field, trough;
  Colour border, strong, grid, axis;  // between areas; none has to be seen for a control to be found
  Colour control;                     // edges, rings and thumbs of controls, and the diagram's empty slots
  Colour ink, ink2, ink3, wire;
  Colour accent, accent_soft;
  Colour on_accent;       // text and icons on yellow
  Colour accent_outline;  // 1.2 px outline of every yellow shape (transparent in the dark theme)
  Colour inverse, on_inverse, error;
  Colour cursor;  // the step cursor of the plots
  std::array<RunLook, max_runs> runs;
  std::array<Colour, 6> depth;
  std::array<Colour, 11> heat;
  Colour signed_low, signed_high;  // the ends of signed data; 0 has the panel's colour
  float band_alpha;                // measured bands; theory bands use theory_alpha
  float halo_gain, shadow_gain;    // factors on the alpha of halo and shadow
};

const Theme& theme(bool dark);
/// The light theme without colours, for a paper that is printed: runs differ by dash, marker and grey. Signed data, of
/// which grey could show only the size, keep their two colours.
const Theme& grey_theme();

/// The colour of `layer` in 0..layers-1, interpolated along the six colours of the ramp.
Colour depth_colour(const Theme&, int layer, int layers);
/// Clamps `share` to 0..1 and interpolates between the eleven stops.
Colour heat_colour(const Theme&, float share);
/// Maps a value in -1..1 to signed_low .. panel .. signed_high.
Colour signed_colour(const Theme&, float value);

/// Relative luminance and contrast ratio (1..21) of opaque colours, as the WCAG defines them.
double luminance(Colour);
double contrast(Colour a, Colour b);
/// Returns black or white, whichever is easier to read on `fill`: text on a cell of data.
Colour ink_on(Colour fill);

inline constexpr float theory_alpha = 0.12f;

// The type scale, in px of the em.
namespace type {
inline constexpr float tick = 11, body = 12, title = 13, run_name = 15, prose = 16, figure = 17, counter = 20,
                       run_loss = 22, lesson = 28;
inline constexpr float prose_line = 28;
inline constexpr float sizes[] = {tick, body, title, run_name, prose, figure, counter, run_loss, lesson};
}  // namespace type

namespace space {
inline constexpr float base = 4, margin = 12, gap = 8, pad = 14, title_row = 36, sentence_row = 20;
inline constexpr float field_h = 24, field_pitch = 28, button_h = 28, lesson_button_h = 38, hit_min = 24;
}  // namespace space

namespace radius {
inline constexpr float panel = 8, button = 7, field = 5, token = 5, tile = 4;
}

namespace line {
inline constexpr float border = 1, run = 2.2f, depth = 1.7f, reference = 1.2f, cursor = 1, stream = 8,
                       branch = 2.4f, box = 1.2f, outline = 1.2f, selected = 2, reference_on = 2,
                       reference_off = 3;
}

/// The requested scale, lowered so far that the smallest supported size of 1024 x 600 logical px fits the window, but
/// never below `least`.
float effective_scale(float asked, float least, float width_px, float height_px);
/// The logical size of the whole drawing at that scale: the window's size; if `least` > 0, at least 1024 x 600, and a
/// smaller window shows a part.
Vec whole_size(float scale, float least, float width_px, float height_px);

/// ImGuiStyle from the theme's numbers, rebuilt at each scale (ScaleAllSizes would cut 1 px borders to nothing
/// below 100 %). Called by Ui when theme or scale change.
void apply_style(const Theme&, float scale);

}  // namespace normscope::ui
