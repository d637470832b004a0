// The software rasteriser is exact where it must be exact, and the same every time.
#include <imgui.h>

#include <algorithm>

#include "app/headless/raster.h"
#include "app/headless/software_screen.h"
#include "app/headless/ui_driver.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/well_formed.h"
#include "app/ui/paint.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "folder.h"

using namespace normscope;

namespace {

constexpr uint32_t white = 0xFFFFFFFF, red = 0xFF0000FF, half_red = 0x800000FF;

// What `draw` puts on a white ground of 64 x 64.
headless::Image drawn(const std::function<void(ImDrawList&)>& draw) {
  headless::Frame frame({64, 64});
  frame.step([] {});  // the font atlas comes with the first frame
  ImDrawData* data = frame.step([&] { draw(*ImGui::GetBackgroundDrawList()); });
  return headless::rasterise(*data, white);
}

int count(const headless::Image& image, uint32_t colour) {
  return int(std::ranges::count(image.pixels, colour));
}

// Begins each triangle at another corner, so that no two of them are taken for a rectangle.
void turn_triangles(ImDrawData& data) {
  for (ImDrawList* list : data.CmdLists)
    for (int i = 0; i + 3 <= list->IdxBuffer.Size; i += 3) {
      ImDrawIdx* t = list->IdxBuffer.Data + i;
      std::rotate(t, t + 1, t + 3);
    }
}

struct Deviation {
  int pixels = 0;  // that differ at all
  int most = 0;    // in one channel
};

Deviation difference(const headless::Image& a, const headless::Image& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  Deviation d;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    d.pixels += a.pixels[i] != b.pixels[i];
    for (int shift = 0; shift < 24; shift += 8)
      d.most =
          std::max(d.most, std::abs(int(a.pixels[i] >> shift & 0xFF) - int(b.pixels[i] >> shift & 0xFF)));
  }
  return d;
}

// What `draw` puts on white by the ways for rectangles and glyphs, and by that for any triangle.
std::pair<headless::Image, headless::Image> both_ways(const std::function<void(ImDrawList&)>& draw) {
  headless::Frame frame({256, 128});
  frame.step([] {});
  ImDrawData* data = nullptr;
  for (int i = 0; i < 2; ++i) data = frame.step([&] { draw(*ImGui::GetBackgroundDrawList()); });
  headless::Image fast = headless::rasterise(*data, white);
  turn_triangles(*data);
  return {std::move(fast), headless::rasterise(*data, white)};
}

TEST_CASE("a hatch covers its share of a rectangle, nothing beside it, and goes on in the next one") {
  const auto hatched = [](const std::vector<ui::Rect>& rects) {
    return drawn([&](ImDrawList& list) {
      const ui::Fonts fonts{};
      ui::ScreenPainter painter(fonts, &list, 1, 0, nullptr);
      for (const ui::Rect& rect : rects) painter.hatch(rect, {255, 0, 0, 255}, 3.65f, 7.3f);
    });
  };
  const headless::Image whole = hatched({{8, 8, 48, 32}});
  CHECK(count(whole, red) > 48 * 32 * 2 / 5);
  CHECK(count(whole, red) < 48 * 32 * 3 / 5);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      if (x < 8 || x >= 56 || y < 8 || y >= 40) CHECK(whole.at(x, y) == white);
  const headless::Image parts = hatched({{8, 8, 21, 32}, {29, 8, 27, 13}, {29, 21, 27, 19}});
  CHECK(difference(whole, parts).pixels < 8);
}

TEST_CASE("a filled rectangle covers exactly its pixels") {
  headless::Image image = drawn([](ImDrawList& d) { d.AddRectFilled({8, 16}, {24, 20}, red); });
  CHECK(image.width == 64);
  CHECK(count(image, red) == 16 * 4);
  CHECK(count(image, white) == 64 * 64 - 64);
  CHECK(image.at(8, 16) == red);
  CHECK(image.at(23, 19) == red);
  CHECK(image.at(24, 19) == white);
  CHECK(image.at(8, 20) == white);
}

TEST_CASE("opacity blends once") {
  headless::Image image = drawn([](ImDrawList& d) { d.AddRectFilled({0, 0}, {4, 4}, half_red); });
  CHECK(image.at(1, 1) == 0xFF7F7FFF);
}

TEST_CASE("two triangles that share an edge cover every pixel once") {
  // No anti-aliasing: only the edge rule decides who owns the pixels on the diagonal.
  headless::Image image = drawn([](ImDrawList& d) {
    d.Flags = 0;
    const ImVec2 a(3.3f, 2.2f), b(60.7f, 5.1f), c(55.2f, 61.4f), e(4.6f, 50.9f);
    d.AddTriangleFilled(a, b, c, half_red);
    d.AddTriangleFilled(a, c, e, half_red);
  });
  int once = count(image, 0xFF7F7FFF);
  CHECK(once + count(image, white) == 64 * 64);  // a pixel drawn twice would have a third colour
  // Shoelace area of the quadrilateral, within the length of its outline.
  double area = 0.5 * std::fabs((3.3 * 5.1 - 60.7 * 2.2) + (60.7 * 61.4 - 55.2 * 5.1) +
                                (55.2 * 50.9 - 4.6 * 61.4) + (4.6 * 2.2 - 3.3 * 50.9));
  CHECK(std::fabs(once - area) < 120);
}

TEST_CASE("either orientation of a triangle is drawn") {
  for (bool flip : {false, true}) {
    headless::Image image = drawn([flip](ImDrawList& d) {
      d.Flags = 0;
      ImVec2 a(0, 0), b(32, 0), c(0, 32);
      if (flip) std::swap(b, c);
      d.AddTriangleFilled(a, b, c, red);
    });
    CHECK(count(image, red) == Approx(512).margin(20));
  }
}

TEST_CASE("nothing is drawn outside the clip rectangle") {
  headless::Image image = drawn([](ImDrawList& d) {
    d.PushClipRect({10, 10}, {20, 20});
    d.AddCircleFilled({15, 15}, 30, red);
    d.AddRectFilled({0, 12}, {64, 14}, red);
    d.PopClipRect();
  });
  CHECK(count(image, red) == 100);
  CHECK(image.at(9, 12) == white);
}

TEST_CASE("anti-aliased lines shade between ground and colour") {
  headless::Image image = drawn([](ImDrawList& d) { d.AddLine({5, 5}, {58, 40}, red, 2.2f); });
  int full = count(image, red), untouched = count(image, white);
  CHECK(full > 30);
  CHECK(64 * 64 - full - untouched > 60);
}

TEST_CASE("glyphs come out alike by their own way and as any triangles") {
  // At whole and at broken places, small and large, opaque and not.
  for (ImVec2 at : {ImVec2(10, 12), ImVec2(10.25f, 12), ImVec2(10.5f, 12.5f), ImVec2(10.37f, 12.81f)})
    for (float size : {11.f, 16.f, 23.5f, 29.f})
      for (uint32_t colour : {0xFF000000u, half_red}) {
        const auto [fast, general] = both_ways([&](ImDrawList& d) {
          d.AddText(nullptr, size, at, colour, "Norms on the stream, 16 000 times");
          d.AddText(nullptr, size, {at.x, at.y + 40}, colour, "gjpqy WMX .,;:|/");
        });
        INFO(at.x << " " << at.y << ", " << size << " px");
        CHECK(256 * 128 - count(fast, white) > 500);
        const Deviation d = difference(fast, general);
        CAPTURE(d.pixels, d.most);
        // At a broken size texels lie anywhere between pixels, and two ways to interpolate round apart.
        CHECK(d.most <= (size == std::floor(size) ? 0 : 1));
      }
}

TEST_CASE("thick lines and boxes come out alike by their own way and as any triangles") {
  const auto [fast, general] = both_ways([](ImDrawList& d) {
    for (int width = 1; width <= 6; ++width) {
      const float at = 12.f * float(width);
      d.AddLine({8, at}, {120, at}, red, float(width));                     // along a row
      d.AddLine({130 + at, 8}, {130 + at, 100}, half_red, float(width));    // along a column
      d.AddLine({8, at + 4}, {110, at + 17.3f}, 0xFF203040, float(width));  // aslant
    }
    d.AddRect({150.5f, 60.5f}, {240.5f, 120.5f}, red, 0, 2.f);
    d.AddRectFilled({10, 90}, {100, 120}, half_red);
  });
  CHECK(256 * 128 - count(fast, white) > 3000);
  const Deviation d = difference(fast, general);
  CAPTURE(d.pixels, d.most);
  CHECK(d.most == 0);
}

TEST_CASE("a framebuffer of twice the size has twice the pixels each way") {
  headless::Frame frame({64, 48});
  frame.step([] {});
  ImDrawData* data = frame.step([&] {
    ImDrawList& d = *ImGui::GetBackgroundDrawList();
    d.AddRectFilled({8, 16}, {24, 20}, red);
    d.PushClipRect({30, 30}, {40, 36});
    d.AddRectFilled({0, 0}, {64, 48}, half_red);
    d.PopClipRect();
  });
  const headless::Image single = headless::rasterise(*data, white);
  data->FramebufferScale = {2, 2};
  const headless::Image doubled = headless::rasterise(*data, white);
  CHECK(doubled.width == 128);
  CHECK(doubled.height == 96);
  CHECK(count(single, red) == 16 * 4);
  for (int y = 0; y < doubled.height; ++y)
    for (int x = 0; x < doubled.width; ++x)
      if (doubled.at(x, y) != single.at(x / 2, y / 2)) FAIL("pixel " << x << ", " << y);
}

TEST_CASE("the same frame gives the same pixels") {
  auto shot = [] {
    fixture::LabDriver lab(fixture::lab_view());
    return headless::rasterise(*lab.loop.draw_data(), lab.ui.theme().bg.packed());
  };
  CHECK(shot() == shot());
}

TEST_CASE("only the tiles that changed are drawn, and give the picture that the whole would") {
  fixture::LabDriver lab(fixture::lab_view());
  const uint32_t background = lab.ui.theme().bg.packed();
  headless::Damage damage;
  headless::Image kept = headless::rasterise(*lab.loop.draw_data(), ~background);
  size_t all = 0, drawn = 0;
  const auto compare = [&] {
    const headless::Tiles& changed = damage.of(*lab.loop.draw_data(), background);
    all += changed.chosen.size();
    drawn += size_t(std::ranges::count(changed.chosen, 1));
    headless::rasterise(*lab.loop.draw_data(), background, changed, kept);
    if (kept != headless::rasterise(*lab.loop.draw_data(), background)) FAIL("after " << all << " tiles");
  };
  compare();
  CHECK(drawn == all);  // nothing before it
  const size_t first = drawn;
  for (int x = 40; x < 1600; x += 90) {
    lab.driver.move_to({float(x), float(60 + x * 7 % 900)});  // over widgets, plots and their cursors
    compare();
  }
  INFO(drawn << " of " << all << " tiles");
  CHECK(drawn > first);  // what lights up under the mouse
  CHECK(drawn < all / 2);
}

TEST_CASE("a tile is drawn again after every change that could change its pixels") {
  constexpr ImU32 shade = 0xFF336699;
  headless::Frame frame({200, 40});
  headless::Damage damage;
  frame.step([] {});
  const auto changed = [&](const std::function<void(ImDrawList&)>& draw, uint32_t background = white) {
    return damage.of(*frame.step([&] { draw(*ImGui::GetBackgroundDrawList()); }), background).chosen;
  };
  using TileMask = std::vector<uint8_t>;  // four columns of 64 px, three rows of 16 px
  const auto square = [&](ImDrawList& d) { d.AddRectFilled({70, 20}, {80, 28}, shade); };
  changed(square);
  CHECK(changed(square) == TileMask(12, 0));
  CHECK(changed([&](ImDrawList& d) {
          d.AddRectFilled({70, 20}, {80, 28}, shade + 1);
        }) == TileMask{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  changed(square);
  CHECK(changed([&](ImDrawList& d) {  // the clip rectangle alone
          d.PushClipRect({72, 0}, {200, 40});
          square(d);
          d.PopClipRect();
        }) == TileMask{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  const auto two = [&](ImDrawList& d, bool swapped) {  // their order alone
    for (int i = 0; i < 2; ++i) d.AddRectFilled({10, 4}, {20, 12}, (i == 0) != swapped ? red : half_red);
  };
  changed([&](ImDrawList& d) { two(d, false); });
  CHECK(changed([&](ImDrawList& d) { two(d, true); }) == TileMask{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  changed(square);
  CHECK(changed([](ImDrawList&) {}) == TileMask{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(changed([](ImDrawList&) {}, red) == TileMask(12, 1));
  frame.resize({200, 41});
  CHECK(changed([](ImDrawList&) {}, red) == TileMask(12, 1));
}

TEST_CASE("png files are written whole or not at all") {
  headless::Image image{2, 1, {red, white}};
  std::vector<uint8_t> bytes = headless::encode_png(image);
  REQUIRE(bytes.size() > 40);
  CHECK(std::string(bytes.begin() + 1, bytes.begin() + 4) == "PNG");
  const test::Folder folder;
  headless::write_png(folder.file("a.png"), image);
  CHECK(std::filesystem::file_size(folder.file("a.png")) == bytes.size());
  CHECK(folder.files() == 1);
  CHECK_THROWS_AS(headless::write_png("/no/such/folder/a.png", image), Error);
}

TEST_CASE("a line that turns back ends at its corner, not in a long point beyond it") {
  // Where the sides of a spike would meet is 15 pixels above a value that is 20 below the upper edge.
  const std::vector<ui::Vec> spike{{20, 50}, {22, 20}, {24, 50}}, bend{{10, 50}, {30, 20}, {50, 50}};
  for (const std::vector<ui::Vec>& line : {spike, bend}) {
    headless::Frame frame({64, 64});
    const ui::Fonts fonts = ui::load_fonts();
    frame.step([] {});
    const ImDrawData* data = frame.step([&] {
      ui::ScreenPainter painter(fonts, ImGui::GetBackgroundDrawList(), 1, 0, nullptr);
      painter.polyline(line, ui::theme(false).ink, 2, false);
    });
    float top = 64;
    for (const ImDrawList* list : data->CmdLists)
      for (const ImDrawVert& v : list->VtxBuffer) top = std::min(top, v.pos.y);
    CHECK(top < 20);
    CHECK(top > 20 - 4);
  }
}

// A picture as an SVG document has the same shapes and texts as on the screen, in one theme or in both.

using namespace normscope::ui;
using test::times_in;

constexpr TextStyle kBody{Face::Sans, type::body};

/// Paints something of everything that a picture can hold.
Vec paint_all(Painter& p, const Theme& t) {
  p.begin_group("a < b");
  p.fill({10, 10, 80, 40}, t.accent, 4);
  p.fill_bottom({10, 60, 80, 40}, t.sunk, 4);
  p.accent_box(t, {100, 10, 40, 20}, 4);  // its outline is there in the light theme alone
  p.outline({10, 10, 80, 40}, t.ink.alpha(0.5f), 2);
  p.dashed_outline({10, 110, 80, 40}, t.strong, 1, {3, 3}, 3);
  p.dashed_line({0, 5}, {200, 5}, t.ink, 1, {2, 2});
  p.hatch({100, 110, 40, 20}, t.error, 1.7f, 7);
  p.hatch({140, 110, 40, 20}, t.error, 1.7f, 7);
  p.end_group();
  p.push_clip({0, 0, 100, 100});
  const Vec line[] = {{0, 0}, {50, 80}, {100, 20}};
  p.dashed(line, t.runs[1].line, 2, t.runs[1].dash, 1.5f);
  p.pop_clip();
  for (const Marker marker : {Marker::Square, Marker::Triangle, Marker::Circle, Marker::Diamond})
    p.marker({150, 50}, marker, 4, t.runs[2].line, t.panel);
  p.arc({150, 90}, 8, 0, 3, t.ink, 2);
  p.text({10, 170}, kBody, t.ink, "norm of W_Q & more", Align::Left);
  p.text_in({10, 180, 180, 16}, kBody, t.ink, "a line in its box", Align::Right);
  return {200, 200};
}

}  // namespace

TEST_CASE("svg: light and dark are one drawing whose pairs of colours are classes") {
  const std::string both = to_svg("all & more", paint_all);
  CHECK(test::well_formed(both));
  CHECK(times_in(both, "<title>all &amp; more</title>") == 1);
  CHECK(times_in(both, "<g><title>a &lt; b</title>") == 1);
  CHECK(times_in(both, "@media (prefers-color-scheme:dark)") == 1);
  for (const bool dark : {false, true}) CHECK(times_in(both, to_hex(theme(dark).runs[1].line)) == 1);
  CHECK(times_in(both, " style=") == 0);
  CHECK(times_in(both, "<pattern ") == 1);
  CHECK(times_in(both, "stroke-dashoffset=\"1.5\"") == 1);
  CHECK(times_in(both, "W<tspan dy=\"2.64\" font-size=\"8.88\">Q</tspan><tspan dy=\"-2.64\"") == 1);

  const std::string light = to_svg("all", paint_all, theme(false));
  CHECK(test::well_formed(light));
  CHECK(times_in(light, "class=") == 0);
  CHECK(times_in(light, "<style") == 0);
  CHECK(times_in(light, to_hex(theme(true).runs[1].line)) == 0);
  CHECK_THROWS_AS(to_svg("odd",
                         [](Painter& p, const Theme& t) {
                           if (t.dark) p.fill({0, 0, 1, 1}, t.ink);
                           return Vec{1, 1};
                         }),
                  Error);
}

TEST_CASE("svg: a text is measured without a font nearly as with it") {
  headless::Frame frame({200, 200});
  Ui ui(load_fonts());
  if (!ui.fonts().notice.empty()) return;  // other faces
  frame.step([&] {
    ui.begin_frame({});
    for (const Face face : {Face::Sans, Face::Bold, Face::Mono})
      for (const char* text :
           {"Half of the seeds learn in 24 of 42 cells.", "nats per letter, mean of all 20 steps", "W_Q",
            "L03.attn output at step 23"}) {
        float width = 0;
        to_svg("", [&](Painter& p, const Theme&) {
          width = p.text_width({face, 12}, text);
          return Vec{1, 1};
        });
        CHECK(width == Approx(ui.paint().text_width({face, 12}, text)).epsilon(0.05));
      }
    ui.end_frame();
  });
}

TEST_CASE("svg: file and screen have the same words") {
  headless::Frame frame({200, 200});
  Ui ui(load_fonts());
  FrameOptions options;
  options.record_text = true;
  frame.step([&] {
    ui.begin_frame(options);
    paint_all(ui.paint(), ui.theme());
    ui.end_frame();
  });
  const std::string svg = to_svg("", paint_all, theme(false));
  CHECK(ui.texts().size() == times_in(svg, "<text "));
  for (const TextRecord& text : ui.texts())
    if (text.text.find('_') == text.text.npos) CHECK(times_in(svg, ">" + text.text + "</text>") == 1);
}
