// The table of the style guide.
#include "app/ui/theme.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace normscope::ui {
namespace {

constexpr Colour white = rgb(0xFFFFFF), black = rgb(0x000000);

// Sizes in logical px. In a window below the least size everything is drawn smaller than requested, and a notice says
// so. A screen of 1600 x 1000 has the full layout even with a title bar and a task bar.
constexpr Vec least_window{1024, 600}, least_full{1560, 930}, least_medium{1400, 840};

constexpr Dash solid{}, dashed{7, 3.5f}, dotted{2, 3.5f};

constexpr Theme light_theme{
    .dark = false,
    .bg = rgb(0xF4F4F0),
    .panel = rgb(0xFFFFFF),
    .raised = rgb(0xFAFAF7),
    .sunk = rgb(0xF0F0EB),
    .field = rgb(0xF3F3EF),
    .trough = rgb(0xE3E2DB),
    .border = rgb(0xE2E1DA),
    .strong = rgb(0xC9C8C0),
    .grid = rgb(0xECEBE6),
    .axis = rgb(0xB9B8B0),
    .control = rgb(0x88898D),
    .ink = rgb(0x191B20),
    .ink2 = rgb(0x4E525B),
    .ink3 = rgb(0x646872),
    .wire = rgb(0x8C8E95),
    .accent = rgb(0xFFD43B),
    .accent_soft = rgb(0xFFF3C4),
    .on_accent = rgb(0x191B20),
    .accent_outline = rgb(0x191B20),
    .inverse = rgb(0x191B20),
    .on_inverse = rgb(0xFFFFFF),
    .error = rgb(0xB3261E),
    .cursor = rgb(0x191B20),
    .runs = {{{'A', rgb(0x0072B2), white, rgb(0x0072B2), rgb(0x00639B), Marker::Square, solid},
              {'B', rgb(0xD55E00), black, rgb(0xD55E00), rgb(0xB34E00), Marker::Triangle, dashed},
              {'C', rgb(0x009E73), black, rgb(0x009E73), rgb(0x0C805F), Marker::Circle, solid},
              {'D', rgb(0xCC79A7), black, rgb(0xCC79A7), rgb(0x9C4A78), Marker::Diamond, dotted},
              {'E', rgb(0x7836DE), white, rgb(0x7836DE), rgb(0x7836DE), Marker::Circle, dashed},
              {'F', rgb(0x4D5F7A), white, rgb(0x2A3C54), rgb(0x2A3C54), Marker::Square, dotted},
              {'G', rgb(0x7A4A1A), white, rgb(0x54300C), rgb(0x54300C), Marker::Diamond, solid},
              {'H', rgb(0xCE0A44), white, rgb(0xEA0C4E), rgb(0xCE0A44), Marker::Triangle, solid}}},
    .depth = {rgb(0x00224E), rgb(0x093471), rgb(0x36456D), rgb(0x50586D), rgb(0x676971), rgb(0x7D7C78)},
    .heat = {rgb(0xF4F1EA), rgb(0xFDAB78), rgb(0xF47362), rgb(0xDB4B68), rgb(0xB63779), rgb(0x902A7F),
             rgb(0x6C1D7F), rgb(0x4B1276), rgb(0x291153), rgb(0x19113C), rgb(0x14102C)},
    .signed_low = rgb(0x2166AC),
    .signed_high = rgb(0xB2182B),
    .band_alpha = 0.20f,
    .halo_gain = 1.0f,
    .shadow_gain = 1.0f,
};

constexpr Theme dark_theme{
    .dark = true,
    .bg = rgb(0x111215),
    .panel = rgb(0x1A1B1F),
    .raised = rgb(0x212328),
    .sunk = rgb(0x141518),
    .field = rgb(0x222429),
    .trough = rgb(0x34373E),
    .border = rgb(0x2C2E34),
    .strong = rgb(0x43464E),
    .grid = rgb(0x26282D),
    .axis = rgb(0x4A4D55),
    .control = rgb(0x7E8088),
    .ink = rgb(0xEDEDE9),
    .ink2 = rgb(0xB1B4BB),
    .ink3 = rgb(0x8D9099),
    .wire = rgb(0x6C7079),
    .accent = rgb(0xFFD43B),
    .accent_soft = rgb(0x3A3416),
    .on_accent = rgb(0x191B20),
    .accent_outline = {0x19, 0x1B, 0x20, 0},
    .inverse = rgb(0xEDEDE9),
    .on_inverse = rgb(0x191B20),
    .error = rgb(0xFF7A70),
    .cursor = rgb(0xFFD43B),
    .runs = {{{'A', rgb(0x0072B2), white, rgb(0x3DA5E0), rgb(0x5CB6EA), Marker::Square, solid},
              {'B', rgb(0xD55E00), black, rgb(0xF0813A), rgb(0xF5945A), Marker::Triangle, dashed},
              {'C', rgb(0x009E73), black, rgb(0x1DBE8F), rgb(0x48D5AA), Marker::Circle, solid},
              {'D', rgb(0xCC79A7), black, rgb(0xDB93BB), rgb(0xE3A9C9), Marker::Diamond, dotted},
              {'E', rgb(0x963CDE), white, rgb(0x963CDE), rgb(0xB878F0), Marker::Circle, dashed},
              {'F', rgb(0x5A7272), white, rgb(0x5A7272), rgb(0x8BA2A2), Marker::Square, dotted},
              {'G', rgb(0xD2DE8A), black, rgb(0xD2DE8A), rgb(0xDDE7A5), Marker::Diamond, solid},
              {'H', rgb(0xC8362C), white, rgb(0xC03C2A), rgb(0xE87768), Marker::Triangle, solid}}},
    .depth = {rgb(0x676971), rgb(0x797977), rgb(0x8D8978), rgb(0xA29974), rgb(0xB8AB6D), rgb(0xCFBD62)},
    .heat = {rgb(0x25232E), rgb(0x4F1378), rgb(0x802581), rgb(0xAC337B), rgb(0xD1456D), rgb(0xEB5D63),
             rgb(0xF88061), rgb(0xFDA171), rgb(0xFEC287), rgb(0xFDE0A3), rgb(0xFCFDBF)},
    .signed_low = rgb(0x6BAED6),
    .signed_high = rgb(0xF4877B),
    .band_alpha = 0.28f,
    .halo_gain = 0.7f,
    .shadow_gain = 2.2f,
};

// The colour at t in 0..1 along evenly spaced stops.
Colour along(std::span<const Colour> stops, double t) {
  double at = std::clamp(t, 0.0, 1.0) * double(stops.size() - 1);
  size_t i = std::min(size_t(at), stops.size() - 2);
  return mix(stops[i], stops[i + 1], float(at - double(i)));
}

ImVec4 vec(Colour c) { return ImGui::ColorConvertU32ToFloat4(c.packed()); }

}  // namespace

Size layout_for(Vec size) {
  if (size.x >= least_full.x && size.y >= least_full.y) return Size::Full;
  return size.x >= least_medium.x && size.y >= least_medium.y ? Size::Medium : Size::Compact;
}

Colour mix(Colour a, Colour b, float t) {
  auto channel = [t](uint8_t p, uint8_t q) { return uint8_t(std::lround(p + (q - p) * t)); };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

std::string to_hex(Colour c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return text;
}

const Theme& theme(bool dark) { return dark ? dark_theme : light_theme; }

const Theme& grey_theme() {
  static const Theme grey = [] {
    Theme t = light_theme;
    for (Colour* each :
         {&t.bg,     &t.panel,     &t.raised,         &t.sunk,    &t.field,      &t.trough, &t.border,
          &t.strong, &t.grid,      &t.axis,           &t.ink,     &t.ink2,       &t.ink3,   &t.control,
          &t.wire,   &t.on_accent, &t.accent_outline, &t.inverse, &t.on_inverse, &t.cursor})
      each->r = each->b = each->g;
    // Of the same dash the levels lie far apart; on white, 0x8A has a contrast of 3.5.
    constexpr std::array<uint8_t, max_runs> levels{0x00, 0x10, 0x8A, 0x10, 0x78, 0x78, 0x4A, 0x6A};
    for (size_t i = 0; i < levels.size(); ++i) {
      const Colour level{levels[i], levels[i], levels[i]};
      t.runs[i].line = t.runs[i].tile = level;
      t.runs[i].tile_letter = ink_on(level);
      t.runs[i].text = contrast(level, t.panel) >= 4.5 ? level : t.ink3;
    }
    const auto ramp = [](auto& stops, int from, int to) {
      const int last = static_cast<int>(stops.size()) - 1;
      for (int i = 0; i <= last; ++i) {
        const auto level = static_cast<uint8_t>(from + (to - from) * i / last);
        stops[static_cast<size_t>(i)] = {level, level, level};
      }
    };
    ramp(t.depth, 0x00, 0x8A);
    ramp(t.heat, 0xF4, 0x10);
    t.accent = rgb(0xC8C8C8);
    t.accent_soft = rgb(0xE8E8E8);
    t.error = t.ink;
    return t;
  }();
  return grey;
}

Colour depth_colour(const Theme& t, int layer, int layers) {
  return along(t.depth, layers > 1 ? double(layer) / (layers - 1) : 0.0);
}

Colour heat_colour(const Theme& t, float share) { return along(t.heat, share); }

Colour signed_colour(const Theme& t, float value) {
  float v = std::clamp(value, -1.f, 1.f);
  return mix(t.panel, v < 0 ? t.signed_low : t.signed_high, std::fabs(v));
}

double luminance(Colour c) {
  auto linear = [](uint8_t v) {
    double s = v / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double contrast(Colour a, Colour b) {
  double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

Colour ink_on(Colour fill) {
  constexpr Colour black{0, 0, 0}, white{255, 255, 255};
  return contrast(fill, black) >= contrast(fill, white) ? black : white;
}

float effective_scale(float asked, float least, float width_px, float height_px) {
  float fits = std::min(width_px / least_window.x, height_px / least_window.y);
  return std::max({0.1f, least, std::min(asked, fits)});
}

Vec whole_size(float scale, float least, float width_px, float height_px) {
  const Vec shown{width_px / scale, height_px / scale};
  if (least <= 0) return shown;
  return {std::max(shown.x, least_window.x), std::max(shown.y, least_window.y)};
}
void apply_style(const Theme& t, float scale) {
  ImGuiStyle s;
  s.FontSizeBase = type::body;
  s.FontScaleMain = scale;
  s.WindowRounding = 0;
  s.WindowBorderSize = 0;
  s.PopupRounding = radius::panel * scale;
  s.PopupBorderSize = std::max(1.f, std::round(scale));
  s.FrameRounding = radius::field * scale;
  s.HoverDelayNormal = 0.45f;
  // Curves stay within a quarter of a pixel of the true arc at any scale.
  s.CircleTessellationMaxError = 0.2f;
  ImVec4* c = s.Colors;
  c[ImGuiCol_Text] = vec(t.ink);
  c[ImGuiCol_WindowBg] = vec(t.bg);
  c[ImGuiCol_PopupBg] = vec(t.panel);
  c[ImGuiCol_Border] = vec(t.border);
  c[ImGuiCol_BorderShadow] = {};
  c[ImGuiCol_TextSelectedBg] = vec(t.accent.alpha(t.dark ? 0.35f : 0.6f));
  c[ImGuiCol_InputTextCursor] = c[ImGuiCol_NavCursor] = vec(t.ink);
  ImGui::GetStyle() = s;
}

}  // namespace normscope::ui
