// These tests cover layer-skip ablation: what is left out is really left out (against a model without that layer, built
// by hand), and no bit of the run moves. The Lab's command gives the same numbers.
#include "training/support/lab_runs.h"

namespace normscope::test {
namespace {

RunSpec three_layers(const std::string& preset, const std::string& architecture = "decoder") {
  RunSpec spec = with_fields(small_spec(preset), {{"model.architecture", architecture}});
  if (architecture == "encoder-decoder") set_field(spec, "data.name", "copy");
  set_field(spec, "model.layers", "3");
  return spec;
}

double loss_of(const Ablation& a, const std::string& name) {
  for (const auto* group : {&a.layers, &a.sublayers, &a.from_top})
    for (const Ablation::LeftOut& one : *group)
      if (one.name == name) return one.loss;
  return NAN;
}

/// The validation loss of a run with the first `layers` layers only, with weights of `from`.
double loss_of_first_layers(const Run& from, int32_t layers) {
  return from.fork(with_fields(from.spec(), {{"model.layers", std::to_string(layers)}}))->validation_loss();
}

}  // namespace

TEST_CASE("ablation: without its last layers a stack is the shorter model with the same weights") {
  for (const char* preset : {"pre", "post", "admin", "sandwich"}) {
    INFO(preset);
    const auto run = make_run(three_layers(preset), 25);
    const Ablation a = layer_ablation(*run);
    CHECK(a.step == 25);
    CHECK(a.whole == run->validation_loss());
    if (std::string(preset) != "admin") {  // a shorter Admin model profiles its skip scales anew
      CHECK(loss_of(a, "L03") == Approx(loss_of_first_layers(*run, 2)).epsilon(1e-9));
      CHECK(loss_of(a, "L02-L03") == Approx(loss_of_first_layers(*run, 1)).epsilon(1e-9));
    }
    REQUIRE(a.layers.size() == 3);
    REQUIRE(a.sublayers.size() == 6);
    REQUIRE(a.from_top.size() == 3);
    for (const auto* group : {&a.layers, &a.sublayers, &a.from_top})
      for (const Ablation::LeftOut& one : *group) {
        INFO(one.name);
        CHECK(std::isfinite(one.loss));
        CHECK(one.loss != a.whole);
      }
    CHECK(loss_without(*run, {"L02.attn", "L02.ffn"}) == loss_of(a, "L02"));
    CHECK(loss_without(*run, {}) == a.whole);
  }
}

TEST_CASE("ablation: a branch that adds nothing can go") {
  const auto run = make_run(three_layers("rezero"));  // every branch starts with factor 0
  const Ablation a = layer_ablation(*run);
  for (const Ablation::LeftOut& one : a.layers) CHECK(one.loss == a.whole);
}

TEST_CASE("ablation: encoder and encoder-decoder, and a name that is none") {
  const auto encoder = make_run(three_layers("post", "encoder"));
  CHECK(layer_ablation(*encoder).layers.size() == 3);
  const auto both = make_run(three_layers("pre", "encoder-decoder"), 10);
  const Ablation a = layer_ablation(*both, {"enc.L03", "dec.L02.cross"});
  CHECK(a.layers.size() == 6);
  CHECK(a.sublayers.size() == 15);
  CHECK(a.from_top.size() == 6);
  CHECK(a.chosen_loss == loss_without(*both, {"dec.L02.cross", "enc.L03"}));
  CHECK(std::isfinite(a.chosen_loss));
  CHECK(a.chosen_loss != a.whole);
  CHECK_THROWS_WITH(layer_ablation(*both, {"L01"}),
                    Catch::Contains("'L01' is no layer") && Catch::Contains("enc.L01 to dec.L03"));
}

TEST_CASE("ablation: no bit of the run changes") {
  const auto looked_at = make_run(three_layers("admin")), alone = make_run(three_layers("admin"));
  for (int i = 0; i < 4; ++i) {
    steps(*looked_at, 3);
    layer_ablation(*looked_at, {"L01"});
    steps(*alone, 3);
  }
  CHECK(first_difference(looked_at->store(), alone->store()) == "");
}

TEST_CASE("ablation: the Lab measures on its own thread and shows of which step") {
  Lab lab({.threads = 1, .sample_text = false, .live_text = false, .validation_every = 0});
  std::vector<RunSpec> specs = {three_layers("pre"), three_layers("post")};
  lab.post(session::ReplaceRuns{specs, {}, false});
  view_after(lab, session::PlayTo{12});
  view_after(lab, session::Ablate{1, {"L02", "L03.ffn"}});
  const auto view = lab.view();
  REQUIRE(view->runs.size() == 2);
  CHECK(view->runs[0].ablation == nullptr);
  REQUIRE(view->runs[1].ablation != nullptr);
  const Ablation& shown = *view->runs[1].ablation;
  const auto run = make_run(specs[1], 12);
  const Ablation alone = layer_ablation(*run, {"L02", "L03.ffn"});
  CHECK(shown.step == 12);
  CHECK(shown.whole == alone.whole);
  CHECK(shown.chosen == alone.chosen);
  CHECK(shown.chosen_loss == alone.chosen_loss);
  for (const Ablation::LeftOut& one : alone.sublayers) CHECK(loss_of(shown, one.name) == one.loss);

  lab.post(session::Ablate{0, {"L09"}});  // refused in one line
  lab.wait_idle();
  CHECK_THAT(lab.view()->message, Catch::Contains("'L09' is no layer"));
  CHECK(lab.view()->runs[0].ablation == nullptr);
}

}  // namespace normscope::test
