// These tests draw every widget and plot at several sizes, scales and themes: nothing blank, nothing overlapping,
// nothing cut, every control with a help text. With NORMSCOPE_GALLERY=DIR the pictures are written there, to be looked
// at.
#include "app/headless/raster.h"
#include "app/support/gallery.h"
#include "catch.hpp"

using namespace normscope;

namespace {

std::string overlaps(const std::vector<ui::TextRecord>& texts) {
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t k = i + 1; k < texts.size(); ++k)
      if (texts[i].layer == texts[k].layer && texts[i].rect.inset(0.5f).overlaps(texts[k].rect.inset(0.5f)))
        return "'" + texts[i].text + "' and '" + texts[k].text + "'";
  return {};
}

std::string cut_text(const std::vector<ui::TextRecord>& texts) {
  for (const ui::TextRecord& t : texts)
    if (!t.clip.contains(t.rect.inset(0.6f))) return "'" + t.text + "'";
  return {};
}

}  // namespace

TEST_CASE("the gallery is drawn without blank, overlapping or cut texts") {
  struct Case {
    const char* name;
    ui::Vec size;
    bool dark;
    float scale;
  };
  const Case cases[] = {{"light", {1600, 1000}, false, 1},
                        {"dark", {1600, 1000}, true, 1},
                        {"light-150", {2400, 1500}, false, 1.5f},
                        {"dark-200", {3200, 2000}, true, 2},
                        {"light-small", {1440, 900}, false, 1}};
  for (const Case& c : cases) {
    INFO(c.name);
    gallery::Stage stage(c.size, c.dark, c.scale);
    CHECK(stage.ui.scale() == Approx(c.scale));
    headless::Image image = headless::rasterise(*stage.frame.draw_data(), stage.ui.theme().bg.packed());
    std::set<uint32_t> colours(image.pixels.begin(), image.pixels.end());
    CHECK(colours.size() > 100);
    for (const ui::RunLook& run : {stage.ui.theme().runs[0], stage.ui.theme().runs[1]})
      CHECK(colours.count(run.line.packed()));
    CHECK(overlaps(stage.ui.texts()) == "");
    CHECK(cut_text(stage.ui.texts()) == "");
    CHECK(stage.ui.texts().size() > 80);
    if (const char* folder = std::getenv("NORMSCOPE_GALLERY"))
      headless::write_png(std::string(folder) + "/gallery-" + c.name + ".png", image);
  }
}

TEST_CASE("every control has a name of its own and a help text") {
  gallery::Stage stage;
  CHECK(stage.ui.registry().duplicates().empty());
  CHECK(stage.ui.registry().all().size() > 40);
  for (const ui::Control& c : stage.ui.registry().all()) {
    INFO(c.name);
    CHECK(!c.help.empty());
    CHECK(!c.rect.empty());
  }
}
