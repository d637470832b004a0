// These tests cover the colours: contrast of every text and mark, and distances under simulated colour blindness.
#include <algorithm>

#include "app/ui/geometry.h"
#include "app/ui/theme.h"
#include "catch.hpp"

using namespace normscope::ui;

namespace {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<Vec3, 3>;

// Full-strength dichromacy after Machado, Oliveira and Fernandes (2009), on linear light.
const std::map<std::string, Mat3> simulations{
    {"protan",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deutan",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritan",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
    {"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};

Vec3 times(const Mat3& m, const Vec3& v) {
  Vec3 out{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) out[i] += m[i][k] * v[k];
  return out;
}

Vec3 linear(Colour c) {
  auto one = [](uint8_t v) {
    double s = v / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return {one(c.r), one(c.g), one(c.b)};
}

Vec3 lab(Vec3 rgb) {
  for (double& v : rgb) v = std::clamp(v, 0.0, 1.0);
  const Mat3 to_xyz{{{0.4124564, 0.3575761, 0.1804375},
                     {0.2126729, 0.7151522, 0.0721750},
                     {0.0193339, 0.1191920, 0.9503041}}};
  Vec3 xyz = times(to_xyz, rgb);
  auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(Colour a, Colour b, const std::string& sight) {
  Vec3 p = lab(times(simulations.at(sight), linear(a))), q = lab(times(simulations.at(sight), linear(b)));
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double nearest(Colour a, std::initializer_list<Colour> others, const std::string& sight = "normal") {
  double best = 1e9;
  for (Colour o : others) best = std::min(best, distance(a, o, sight));
  return best;
}

}  // namespace

TEST_CASE("texts reach a contrast of 4.5 and marks of 3.0 in both themes") {
  for (bool dark : {false, true}) {
    const Theme& t = theme(dark);
    INFO((dark ? "dark" : "light"));
    for (Colour text : {t.ink, t.ink2, t.ink3, t.error})
      for (Colour ground : {t.panel, t.bg, t.raised, t.sunk, t.field}) CHECK(contrast(text, ground) >= 4.5);
    CHECK(contrast(t.on_inverse, t.inverse) >= 4.5);
    CHECK(contrast(t.on_accent, t.accent) >= 4.5);
    CHECK(contrast(t.ink, t.accent_soft) >= 4.5);
    for (Colour mark : {t.control, t.wire, t.cursor}) CHECK(contrast(mark, t.panel) >= 3.0);
    for (Colour ground : {t.panel, t.bg, t.raised, t.sunk, t.field, t.accent_soft})
      CHECK(contrast(t.control, ground) >= 3.0);
    for (const RunLook& run : t.runs) {
      INFO(run.letter);
      CHECK(contrast(run.line, t.panel) >= 3.0);
      CHECK(contrast(run.text, t.panel) >= 4.5);
      CHECK(contrast(run.tile_letter, run.tile) >= 4.5);
    }
    for (Colour layer : t.depth) CHECK(contrast(layer, t.panel) >= 3.0);
  }
}

TEST_CASE("the stated contrasts are those of the table") {
  const Theme &l = theme(false), &d = theme(true);
  auto is = [](double value, double stated) { return std::fabs(value - stated) < 0.06; };
  CHECK(is(contrast(l.ink, l.panel), 17.2));
  CHECK(is(contrast(l.ink2, l.panel), 7.8));
  CHECK(is(contrast(l.ink3, l.panel), 5.6));
  CHECK(is(contrast(d.ink, d.panel), 14.7));
  CHECK(is(contrast(d.ink2, d.panel), 8.3));
  CHECK(is(contrast(d.ink3, d.panel), 5.4));
  const double lines[2][4] = {{5.2, 3.9, 3.4, 3.1}, {6.3, 6.5, 7.2, 7.3}};
  const double texts[2][4] = {{6.5, 5.2, 4.9, 5.7}, {7.7, 7.6, 9.3, 8.8}};
  for (int run = 0; run < 4; ++run) {
    CHECK(is(contrast(l.runs[run].line, l.panel), lines[0][run]));
    CHECK(is(contrast(d.runs[run].line, d.panel), lines[1][run]));
    CHECK(is(contrast(l.runs[run].text, l.panel), texts[0][run]));
    CHECK(is(contrast(d.runs[run].text, d.panel), texts[1][run]));
  }
  CHECK(is(contrast(l.accent, rgb(0xFFFFFF)), 1.4));
  CHECK(is(contrast(l.ink, l.accent), 12.1));
}

TEST_CASE("run colours stay apart under colour blindness, and shapes help where they come close") {
  // Computed minima: A-C tritan 12.0, C-D deutan 16.3, A-D protan 19.7 (all dark); every other pair is further apart.
  for (bool dark : {false, true}) {
    const Theme& t = theme(dark);
    for (auto& [sight, matrix] : simulations)
      for (int a = 0; a < 4; ++a) {
        for (int b = a + 1; b < 4; ++b) {
          double d = distance(t.runs[a].line, t.runs[b].line, sight);
          INFO(sight << ' ' << t.runs[a].letter << t.runs[b].letter << (dark ? " dark " : " light ") << d);
          CHECK(d >= 11.5);
          bool near_pair = (a == 0 && b == 2) || (a == 2 && b == 3) || (a == 0 && b == 3);
          if (!near_pair) CHECK(d >= 24);
          // Never by colour alone: marker, or dash, or both tell the pair apart.
          CHECK(t.runs[a].marker != t.runs[b].marker);
        }
        CHECK(distance(t.runs[a].line, t.accent, sight) >= 19.5);
      }
  }
}

TEST_CASE("all eight run colours stay apart, and no two runs have both marker and dash in common") {
  // Computed minimum of a pair with one of E to H: 24.3 (light), 23.7 (dark), over all four kinds of sight.
  for (bool dark : {false, true}) {
    const Theme& t = theme(dark);
    for (int b = 4; b < max_runs; ++b) {
      for (int a = 0; a < b; ++a) {
        for (auto& [sight, matrix] : simulations) {
          const double d = distance(t.runs[a].line, t.runs[b].line, sight);
          INFO(sight << ' ' << t.runs[a].letter << t.runs[b].letter << (dark ? " dark " : " light ") << d);
          CHECK(d >= 23);
        }
        const bool same_dash =
            t.runs[a].dash.on == t.runs[b].dash.on && t.runs[a].dash.off == t.runs[b].dash.off;
        CHECK((t.runs[a].marker != t.runs[b].marker || !same_dash));
      }
      for (auto& [sight, matrix] : simulations) CHECK(distance(t.runs[b].line, t.accent, sight) >= 15);
    }
  }
}

TEST_CASE(
    "tiles, lines and texts of any two of the eight runs are at least 12 apart in every kind of sight") {
  for (bool dark : {false, true}) {
    const Theme& t = theme(dark);
    for (int a = 0; a < max_runs; ++a)
      for (int b = a + 1; b < max_runs; ++b)
        for (auto& [sight, matrix] : simulations) {
          INFO(sight << ' ' << t.runs[a].letter << t.runs[b].letter << (dark ? " dark" : " light"));
          CHECK(distance(t.runs[a].tile, t.runs[b].tile, sight) >= 12);
          CHECK(distance(t.runs[a].line, t.runs[b].line, sight) >= 12);
          CHECK(distance(t.runs[a].text, t.runs[b].text, sight) >= 12);
        }
  }
}

TEST_CASE("the depth ramp keeps away from run colours and from the accent") {
  for (bool dark : {false, true}) {
    const Theme& t = theme(dark);
    for (Colour layer : t.depth) {
      CHECK(nearest(layer, {t.runs[0].line, t.runs[1].line, t.runs[2].line, t.runs[3].line}) >=
            (dark ? 39 : 24.5));
      CHECK(distance(layer, t.accent, "normal") >= (dark ? 29.5 : 80));
    }
  }
}

TEST_CASE("ramps interpolate and end where they should") {
  const Theme& t = theme(false);
  CHECK(depth_colour(t, 0, 6) == t.depth.front());
  CHECK(depth_colour(t, 5, 6) == t.depth.back());
  CHECK(depth_colour(t, 2, 6) == t.depth[2]);
  CHECK(depth_colour(t, 0, 1) == t.depth.front());
  CHECK(depth_colour(t, 11, 12) == t.depth.back());
  CHECK(heat_colour(t, 0) == t.heat.front());
  CHECK(heat_colour(t, 1) == t.heat.back());
  CHECK(heat_colour(t, 7) == t.heat.back());
  CHECK(heat_colour(t, 0.5f) == t.heat[5]);
  CHECK(signed_colour(t, 0) == t.panel);
  // A share grows darker all the way (light theme) and brighter all the way (dark theme).
  for (int i = 1; i <= 100; ++i) {
    CHECK(luminance(heat_colour(t, float(i) / 100)) <= luminance(heat_colour(t, float(i - 1) / 100)) + 1e-3);
    CHECK(luminance(heat_colour(theme(true), float(i) / 100)) >=
          luminance(heat_colour(theme(true), float(i - 1) / 100)) - 1e-3);
  }
  CHECK(to_hex(rgb(0x0072B2)) == "#0072b2");
}

TEST_CASE("a screen of 1600 x 1000 has the full layout behind its bars") {
  CHECK(layout_for({1600, 1000}) == Size::Full);
  CHECK(layout_for({1598, 975}) == Size::Full);
  CHECK(layout_for({1600, 936}) == Size::Full);
  CHECK(layout_for({1440, 900}) == Size::Medium);
}

TEST_CASE("the effective scale never leaves fewer than 1024 x 600 logical pixels") {
  CHECK(effective_scale(1, 0, 1600, 1000) == 1.f);
  CHECK(effective_scale(1.5f, 0, 1600, 1000) == 1.5f);
  CHECK(effective_scale(2.5f, 0, 1600, 1000) == Approx(1600 / 1024.f));
  CHECK(effective_scale(1, 0, 1024, 600) == 1.f);
  CHECK(effective_scale(1, 0, 512, 600) == 0.5f);
  CHECK(effective_scale(0.75f, 0, 1024, 600) == 0.75f);
  CHECK(whole_size(0.5f, 0, 512, 600).x == 1024);
  CHECK(whole_size(0.5f, 0, 512, 600).y == 1200);
}

TEST_CASE("a scale that was asked for is kept, and all that is drawn still has 1024 x 600 logical pixels") {
  CHECK(effective_scale(1.5f, 1.5f, 1280, 720) == 1.5f);
  CHECK(effective_scale(1.5f * 1.25f, 1.5f, 1280, 720) ==
        1.5f);  // a presentation's larger letters are not asked for
  const Vec whole = whole_size(1.5f, 1.5f, 1280, 720);
  CHECK(whole.x == 1024);
  CHECK(whole.y == 600);
  CHECK(whole_size(1.5f, 1.5f, 1800, 720).x == 1200);
}
