// These tests demand that every placement of the engine is reached in the Lab's diagram, with all its norms in sight,
// whether its layers are open or collapsed, and the scales of a sub-layer as they are now.
#include <imgui.h>

#include "app/support/both_view.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "engine/support/named_placements.h"

using namespace normscope;
using namespace session;
using fixture::LabDriver;

namespace {

// The fixed view with another wiring in run A.
std::shared_ptr<const LabView> view_with(const std::shared_ptr<const LabView>& from,
                                         const std::function<void(ModelConfig&)>& change) {
  auto view = std::make_shared<LabView>(*from);
  RunSpec spec = *view->runs[0].spec;
  change(spec.model);
  view->runs[0].spec = std::make_shared<const RunSpec>(spec);
  return view;
}

// Every vertex that is drawn of the layers of run A, from the final slot down to the embedding.
std::vector<float> layers_of(LabDriver& lab, const std::shared_ptr<const LabView>& view, int open) {
  lab.state.session.view = view;
  lab.state.screens.lab.diagram() = {};
  lab.state.screens.lab.diagram().open_layer = open;
  lab.driver.frames(2);
  ui::Rect area = lab.driver.control("diagram").rect.inset(-8, 0);
  // A deep stack of unlike layers scrolls: then the embedding is out of sight.
  if (const ui::Control* embedding = lab.ui.registry().find("diagram/embedding"))
    area.h = embedding->rect.y - area.y;
  area.take_top(lab.driver.control("diagram/final").rect.bottom() + 1 - area.y);
  std::vector<float> drawn;
  const ImDrawData& data = *lab.loop.draw_data();
  for (const ImDrawList* list : data.CmdLists)
    for (const ImDrawVert& v : list->VtxBuffer)
      if (area.contains(ui::Vec{v.pos.x, v.pos.y}))
        for (float number : {v.pos.x, v.pos.y, v.uv.x, v.uv.y, static_cast<float>(v.col & 0xFFFFFF)})
          drawn.push_back(number);
  return drawn;
}

}  // namespace

TEST_CASE("every norm of every placement is seen, in open layers and in collapsed ones") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}})
    for (Placement placement : kPresets) {
      LabDriver lab(fixture::lab_view(), size);
      const auto set = [&](ModelConfig& model) { set_placement(model, placement); };
      const auto whole = view_with(fixture::lab_view(), set);
      for (int open : {-1, 2}) {
        const std::vector<float> with = layers_of(lab, whole, open);
        for (size_t which = 0; which < norms_of(Wiring{}).size(); ++which) {
          bool any = false;
          const auto without = view_with(whole, [&](ModelConfig& model) {
            for (LayerWiring& layer : model.stack().layers)
              for (Wiring* wiring : {&layer.attention, &layer.feed_forward}) {
                WiredNorm& norm = *norms_of(*wiring)[which];
                any |= norm != NormKind::None;
                norm = NormKind::None;
              }
          });
          if (!any) continue;
          INFO(size.x << " " << to_string(placement) << ", norm " << which << ", open layer " << open);
          CHECK(layers_of(lab, without, open) != with);
        }
      }
    }
}

TEST_CASE("norms of the stack are seen: the last one, that of the embedding, that of a second stream") {
  LabDriver lab(fixture::lab_view());
  const auto words = [&](Placement placement) {
    lab.state.session.view =
        view_with(fixture::lab_view(), [&](ModelConfig& model) { set_placement(model, placement); });
    lab.driver.frames(2);
    std::string all;
    for (const ui::TextRecord& text : lab.ui.texts()) all += text.text + "\n";
    return all;
  };
  CHECK(test::contains(words(Placement::Peri), "norm on the embedding"));
  CHECK(lab.driver.value("diagram/embedding") == "ln");
  CHECK(lab.driver.value("diagram/final") == "ln");
  CHECK_FALSE(test::contains(words(Placement::Sandwich), "norm on the embedding"));
  CHECK(lab.driver.value("diagram/embedding") == "none");
  for (const Placement placement : test::known({"resi-dual"}))
    CHECK(test::contains(words(placement), "second stream"));
}

TEST_CASE("every placement is one or two clicks away, in every layout and of an encoder-decoder too") {
  for (const auto& view : {fixture::lab_view(), fixture::both_view()})
    for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}, ui::Vec{1024, 600}})
      for (Placement placement : kPresets) {
        if (placement == Placement::Post) continue;  // what it is
        LabDriver lab(view, size);
        const std::string label = row_of(placement).short_label;
        INFO(size.x << " " << label);
        if (!lab.ui.registry().find("diagram/preset/" + label)) {
          const bool beside = lab.ui.registry().find("diagram/preset-more");
          const std::string list = beside ? "diagram/preset-more" : "diagram/preset";
          lab.click(list);
          CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
          lab.driver.click(list + "/" + label);
        } else {
          lab.driver.click("diagram/preset/" + label);
        }
        lab.driver.frames(1);
        REQUIRE(lab.last<ForkRequest>());
        const ModelConfig& model = lab.last<ForkRequest>()->spec.model;
        CHECK(placement_of(model.stack(), context_of(model, true)) == placement);
      }
}

TEST_CASE("no text of any placement covers another or is cut, in both themes and three layouts") {
  for (const auto& from : {fixture::lab_view(), fixture::both_view()})
    for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}, ui::Vec{1024, 600}}) {
      LabDriver lab(from, size);
      for (Placement placement : kPresets)
        for (int open : {-1, 0, 1}) {
          lab.state.session.view =
              view_with(from, [&](ModelConfig& model) { set_placement(model, placement); });
          lab.state.look.dark = open == 0;
          lab.state.screens.lab.diagram() = {};
          lab.state.screens.lab.diagram().open_layer = lab.state.screens.lab.diagram().open_encoder = open;
          lab.driver.frames(2);
          INFO(size.x << " " << to_string(placement) << ", open layer " << open);
          CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
        }
    }
}

TEST_CASE("a wiring that is no preset says so, and whole") {
  const auto mixed = [](ModelConfig& model) {
    model.stack().layers[0].attention.stream = NormKind::None;
    model.stack().layers[0].attention.before = NormKind::LayerNorm;
  };
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LabDriver lab(view_with(fixture::lab_view(), mixed), size);
    const std::string name = size.x > 1500 ? "diagram/preset-more" : "diagram/preset";
    CHECK(lab.driver.value(name) == "custom");
    const ui::Rect place = lab.driver.control(name).rect;
    bool written = false;
    for (const ui::TextRecord& text : lab.ui.texts())
      written |= place.contains(text.rect) && text.text == "custom";
    CHECK(written);
  }
}

TEST_CASE("the factor of a branch's input is called 1/√l only in a layer l where it is that") {
  const auto texts = [](const std::function<void(ModelConfig&)>& change) {
    LabDriver lab(view_with(fixture::lab_view(), change));
    return lab.page();
  };
  const std::string scaled = texts([](ModelConfig& model) { set_placement(model, placement_from("lns")); });
  CHECK(test::contains(scaled, "×0.71 = 1/√l"));  // layer 2 is open
  const std::string constant = texts([](ModelConfig& model) {
    for (LayerWiring& layer : model.stack().layers) layer.attention.pre_scale = 0.5f;
  });
  CHECK(test::contains(constant, "×0.50"));
  CHECK_FALSE(test::contains(constant, "√l"));
}

TEST_CASE("ReZero's pills show what was learned, and say what it is") {
  fixture::LiveDriver lab([] {
    std::vector<RunSpec> runs = fixture::small_runs();
    for (RunSpec& run : runs) set_field(run, "model.placement", "rezero");
    return runs;
  }());
  const char* pill = "diagram/layer2/attn/branch-scale";
  CHECK(lab.driver.value(pill) == "α 0");
  lab.train(20);
  const float alpha = lab.run('A').branch_scales.at(2);
  CHECK(alpha != 0);
  CHECK(lab.driver.value(pill) == fmt::format("α {:.3f}", alpha));
  lab.driver.move_to(pill);
  lab.driver.frames(40);
  bool told = false;
  for (const ui::TextRecord& text : lab.ui.texts()) told |= text.text.find("learned") != std::string::npos;
  CHECK(told);

  // Scrubbed back, the pill shows the scale of then: of the weights that the step began with.
  const auto history = lab.run('A').history;
  const Series learned = history->series(history->find("L02.attn.branch.mean"));
  REQUIRE(learned.values.size() == 20);
  CHECK(learned.values[0] == 0);
  lab.state.screens.lab.transport().pinned_step = 7;
  lab.driver.frames(3);
  CHECK(learned.steps[6] == 7);
  CHECK(learned.values[6] != 0);
  CHECK(lab.driver.value(pill) == fmt::format("α {:.3f}", learned.values[6]));
  CHECK(test::contains(lab.driver.control(pill).help, "at step 7"));
  lab.state.screens.lab.transport().pinned_step.reset();
  lab.driver.frames(3);
  CHECK(lab.driver.value(pill) == fmt::format("α {:.3f}", alpha));
}
