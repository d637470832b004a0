// The software rasteriser: exact where it must be exact, the same every time.
#include <imgui.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "app/raster/raster.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "gallery.h"

using namespace normscope;

namespace {

constexpr uint32_t white = 0xFFFFFFFF, red = 0xFF0000FF, half_red = 0x800000FF;

// What `draw` puts on a white ground of 64 x 64.
raster::Image drawn(const std::function<void(ImDrawList&)>& draw) {
  ui::Frame frame({64, 64});
  frame.step([] {});  // the font atlas comes with the first frame
  ImDrawData* data = frame.step([&] { draw(*ImGui::GetBackgroundDrawList()); });
  return raster::rasterise(*data, white);
}

int count(const raster::Image& image, uint32_t colour) {
  return int(std::count(image.pixels.begin(), image.pixels.end(), colour));
}

}  // namespace

TEST_CASE("a filled rectangle covers exactly its pixels") {
  raster::Image image = drawn([](ImDrawList& d) { d.AddRectFilled({8, 16}, {24, 20}, red); });
  CHECK(image.width == 64);
  CHECK(count(image, red) == 16 * 4);
  CHECK(count(image, white) == 64 * 64 - 64);
  CHECK(image.at(8, 16) == red);
  CHECK(image.at(23, 19) == red);
  CHECK(image.at(24, 19) == white);
  CHECK(image.at(8, 20) == white);
}

TEST_CASE("opacity blends once") {
  raster::Image image = drawn([](ImDrawList& d) { d.AddRectFilled({0, 0}, {4, 4}, half_red); });
  CHECK(image.at(1, 1) == 0xFF7F7FFF);
}

TEST_CASE("two triangles that share an edge cover every pixel once") {
  // No anti-aliasing: only the edge rule decides who owns the pixels on the diagonal.
  raster::Image image = drawn([](ImDrawList& d) {
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
    raster::Image image = drawn([flip](ImDrawList& d) {
      d.Flags = 0;
      ImVec2 a(0, 0), b(32, 0), c(0, 32);
      if (flip) std::swap(b, c);
      d.AddTriangleFilled(a, b, c, red);
    });
    CHECK(count(image, red) == Approx(512).margin(20));
  }
}

TEST_CASE("nothing is drawn outside the clip rectangle") {
  raster::Image image = drawn([](ImDrawList& d) {
    d.PushClipRect({10, 10}, {20, 20});
    d.AddCircleFilled({15, 15}, 30, red);
    d.AddRectFilled({0, 12}, {64, 14}, red);
    d.PopClipRect();
  });
  CHECK(count(image, red) == 100);
  CHECK(image.at(9, 12) == white);
}

TEST_CASE("anti-aliased lines shade between ground and colour") {
  raster::Image image = drawn([](ImDrawList& d) { d.AddLine({5, 5}, {58, 40}, red, 2.2f); });
  int full = count(image, red), untouched = count(image, white);
  CHECK(full > 30);
  CHECK(64 * 64 - full - untouched > 60);
}

TEST_CASE("the same frame gives the same pixels") {
  auto shot = [] {
    gallery::Stage stage;
    return raster::rasterise(*stage.frame.draw_data(), stage.ui.theme().bg.packed());
  };
  CHECK(shot() == shot());
}

TEST_CASE("a picture of 1600 x 1000 takes a few frames' time") {
  gallery::Stage stage;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) raster::rasterise(*stage.frame.draw_data(), white);
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / 5;
  std::printf("rasterise 1600 x 1000: %.1f ms, %d vertices\n", ms, stage.frame.draw_data()->TotalVtxCount);
  CHECK(ms < 1000);  // 40 ms on an idle core; a loaded machine and a sanitizer get room
}

TEST_CASE("png files are written whole or not at all") {
  raster::Image image{2, 1, {red, white}};
  std::vector<uint8_t> bytes = raster::encode_png(image);
  REQUIRE(bytes.size() > 40);
  CHECK(std::string(bytes.begin() + 1, bytes.begin() + 4) == "PNG");
  auto path = std::filesystem::temp_directory_path() / "normscope-test-raster.png";
  raster::write_png(path.string(), image);
  CHECK(std::filesystem::file_size(path) == bytes.size());
  CHECK(!std::filesystem::exists(path.string() + ".part"));
  std::filesystem::remove(path);
  CHECK_THROWS_AS(raster::write_png("/no/such/folder/a.png", image), Error);
}
