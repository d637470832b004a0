// Every term of the glossary has two plain sentences and a source, and is shown where a title means it.
#include <imgui.h>

#include "app/panels/panels.h"
#include "app/settings/settings.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/program.h"
#include "app/ui/ui.h"
#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/view/shortcuts.h"
#include "training/files/command_text.h"

using namespace normscope;
using fixture::LabDriver;

TEST_CASE("a term has two sentences, a source and one id") {
  std::set<std::string_view> ids;
  for (const view::Term& term : view::glossary()) {
    INFO(term.id);
    CHECK(ids.insert(term.id).second);
    CHECK_FALSE(term.source.empty());
    int ends = 0;
    for (size_t i = 0; i < term.text.size(); ++i)
      if (term.text[i] == '.' && (i + 1 == term.text.size() || term.text[i + 1] == ' ')) ++ends;
    CHECK(ends == 2);
  }
  CHECK(ids.size() >= 20);
}

TEST_CASE("a source is a source: which ones were read against their terms is said in the documentation") {
  for (const char* id : {"admin", "deepnorm"})
    CHECK(view::source_text(*view::find_term(id)) == view::find_term(id)->source);
  for (const view::Term& term : view::glossary())
    CHECK_FALSE(test::contains(view::source_text(term), "not checked"));
  const std::string docs = test::read_all(NORMSCOPE_SOURCE_DIR "/docs/theory.md");
  const size_t at = docs.find("## Sources of the glossary");
  REQUIRE(at != std::string::npos);
  for (const char* read :
       {"Xiong et al. 2020", "Liu et al. 2020", "Xu et al. 2019", "Su 2022", "not checked"})
    CHECK(docs.find(read, at) != std::string::npos);
  for (const char* id : {"gradient", "norm", "stream", "step"})
    CHECK(view::source_text(*view::find_term(id)).ends_with("; see lesson 0"));
  CHECK(
      view::source_text(*view::find_term("gradient"), words::language("de")).ends_with("; siehe Lektion 0"));
  // What the sources say otherwise, or what this program does otherwise.
  for (const auto& [id, words] : {std::pair{"rezero", "one for each sub-layer"},
                                  {"qk-norm", "learned gains can still make attention sharp"},
                                  {"hybridnorm-star", "takes the place of the one on the stream"},
                                  {"activation", "tanh form"},
                                  {"init", "leaves the embedding at unit variance, unlike BERT"},
                                  {"pre-ln", "lower layers have somewhat larger ones"}}) {
    INFO(id);
    CHECK(test::contains(view::find_term(id)->text, words));
  }
}

TEST_CASE("a definition under the mouse has its source in smaller print below, without brackets") {
  LabDriver lab(fixture::lab_view());
  lab.driver.move_to("term/nats");
  lab.driver.frames(40);
  bool large = false, small = false;
  for (const ui::TextRecord& t : lab.ui.texts()) {
    if (t.layer != 3) continue;
    large |= t.px == ui::type::body && t.text.starts_with("The unit of the loss");
    small |= t.px == ui::type::tick && t.text.starts_with("Shannon 1948");
    CHECK_FALSE(test::contains(t.text, "not checked"));
    CHECK(t.text.find('(') == std::string::npos);
  }
  CHECK(large);
  CHECK(small);
}

namespace {

/// What stands under the mouse once it rests at a point.
std::string told(LabDriver& lab, ui::Vec at) {
  ImGui::GetStyle().HoverDelayNormal = 0.01f;
  lab.driver.move_to(at);
  lab.driver.frames(3);
  std::string text;
  for (const ui::TextRecord& t : lab.ui.texts())
    if (t.layer == 3) text += (text.empty() ? "" : " ") + t.text;
  return text;
}

}  // namespace

TEST_CASE("no control of the Lab leaves the mouse without an answer") {
  LabDriver lab(fixture::lab_view());
  lab.driver.frames(3);
  std::vector<ui::Control> controls(lab.ui.registry().all().begin(), lab.ui.registry().all().end());
  size_t asked = 0;
  for (const ui::Control& c : controls) {
    if (!c.interactive || c.rect.empty()) continue;
    ++asked;
    INFO(c.name);
    CHECK_FALSE(told(lab, c.rect.centre()).empty());
  }
  CHECK(asked > 60);
}

TEST_CASE("the line of letter frequencies has the name that the plots give it") {
  CHECK(view::find_term("unigram")->title == frequencies_of("letter"));
  CHECK(view::find_term("unigram")->words == "unigram entropy");
}

TEST_CASE("every setting, placement, kind of norm and metric has an entry") {
  const auto known = [](const std::string& place) {
    INFO(place);
    CHECK(view::term_at(place));
  };
  for (const Field& field : spec_fields())
    if (settings::listed(field)) known("settings/" + std::string(field.key));
  known("settings/train.warmup/B");  // one run's value of it
  known("settings/model.placement");
  for (Placement placement : kPresets) {
    known(std::string("diagram/preset/") + row_of(placement).short_label);
    known(std::string("diagram/preset-more/") + row_of(placement).short_label);
  }
  for (NormKind kind : kNormKinds)
    known(std::string("diagram/kind/") + (kind == NormKind::None ? "off" : short_name(kind)));
  for (const panels::Metric metric : panels::metrics()) CHECK(view::find_term(panels::info(metric).term));
  for (const panels::Panel& panel : panels::panels())
    if (!panel.metric) CHECK(view::find_term(panel.term));
  for (const char* place : {"diagram/layer2/attn/stream", "diagram/enc/layer1/cross/before", "diagram/final",
                            "diagram/embedding", "diagram/layer2/ffn/skip-scale", "diagram/layers3-6"})
    known(place);
  CHECK_FALSE(view::term_at("app/theme"));
}

// The one table of shortcuts lists what works, and the sheet shows all of it.

TEST_CASE("every chord of the table can be parsed and stands once") {
  std::set<std::string> seen;
  for (const view::Shortcut& s : view::shortcuts())
    for (const std::string_view chord : {s.chord, s.second}) {
      if (chord.empty()) continue;
      INFO(chord);
      CHECK_NOTHROW(ui::parse_chord(chord));
      CHECK(seen.insert(std::string(chord)).second);
    }
  CHECK(seen.size() > 15);
}

TEST_CASE("Ctrl+Shift+C copies the command that makes these runs") {
  LabDriver lab(fixture::lab_view());
  lab.driver.key("Ctrl+Shift+C");
  CHECK(lab.state.shell.clipboard.starts_with(program_word()));
}

TEST_CASE("the sheet lists every key of the table") {
  LabDriver lab(fixture::lab_view());
  lab.key("?");
  CHECK(lab.ui.popup_open("app/help"));
  for (const view::Shortcut& s : view::shortcuts())
    if (!view::keys_text(s).empty())
      CHECK(lab.driver.value("sheet/" + std::string(s.title)) == view::keys_text(s));
}

TEST_CASE("a chord whose modifier is let go first, in the frame of its key, is still the chord") {
  LabDriver lab(fixture::lab_view());
  ImGuiIO& io = ImGui::GetIO();
  const auto ctrl = [&](bool down) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
  };
  for (const bool one_frame : {false, true, false}) {
    ctrl(true);
    if (!one_frame) lab.driver.frames(1);
    io.AddKeyEvent(ImGuiKey_K, true);
    ctrl(false);
    io.AddKeyEvent(ImGuiKey_K, false);
    lab.driver.frames(1);
    CHECK(lab.ui.popup_open("app/palette"));
    lab.driver.frames(3);
    CHECK_FALSE(io.KeyCtrl);
    CHECK_FALSE(ImGui::IsKeyDown(ImGuiKey_K));
    lab.key("Escape");
    CHECK_FALSE(lab.ui.popup_open("app/palette"));
  }
}
