// The program in one file takes the engine's steps: losses and the gradient of every layer, over twenty steps, under
// placements that fill its slots in every way. It is an implementation of its own, so each is a test of the other.
#include "training/spec/schedule.h"
#include "training/support/small_runs.h"

#define ONE_FILE_WITHOUT_MAIN
#pragma GCC push_options
#pragma GCC optimize("O3")
#include "engine/one_file.cpp"
#pragma GCC pop_options

using namespace normscope;
using namespace normscope::test;

namespace {

one_file::Slots slots_of(const Wiring& wiring) {
  return {wiring.before != NormKind::None, wiring.after != NormKind::None, wiring.stream != NormKind::None,
          wiring.skip.value};
}

one_file::Model twin_of(Run& run) {
  const ModelConfig& model = run.spec().model;
  one_file::Placement placement{
      {}, model.decoder.embedding != NormKind::None, model.decoder.final != NormKind::None};
  for (const LayerWiring& layer : model.decoder.layers)
    for (const Wiring* wiring : {&layer.attention, &layer.feed_forward})
      placement.sublayers.push_back(slots_of(*wiring));
  one_file::Model twin({model.layers, model.d_model, model.heads, model.feed_forward, model.sequence,
                        run.spec().train.batch, model.vocabulary},
                       placement);
  CHECK(twin.p.all.size() == run.store().parameters().size());
  for (one_file::Parameter& one : twin.p.all) {
    INFO(one.name);
    const int32_t index = run.store().find(one.name);
    REQUIRE(index >= 0);
    const std::vector<float> value = run.store().read(index, Store::Block::Value);
    REQUIRE(value.size() == one.value.size());
    one.value = value;
  }
  return twin;
}

void check_steps(const RunSpec& spec, double of_norms = 1e-5) {
  const auto run = make_run(spec);
  one_file::Model twin = twin_of(*run);
  for (int step = 1; step <= 20; ++step) {
    INFO("step " << step);
    run->step();
    const auto tokens = run->program().tokens("tokens"), targets = run->program().tokens("targets");
    CHECK(twin.loss({tokens.begin(), tokens.end()}, {targets.begin(), targets.end()}) ==
          Approx(run->last_loss()).epsilon(1e-5));
    for (int layer = 1; layer <= spec.model.layers; ++layer)
      CHECK(twin.gradient_size(layer) ==
            Approx(run->program().stat(fmt::format("L{:02}.ffn.w2.grad_norm", layer))).epsilon(of_norms));
    twin.update(step, static_cast<float>(learning_rate(spec.train.schedule, step)));
  }
}

}  // namespace

// The lesson's model has 1.6 million numbers in front of a ReLU. Where rounding puts one on the other side of the kink,
// the gradient below it changes by one in 256 for one of 1,024 letters: 1e-5 of a layer's norm. Adam makes a step of
// the whole rate of what rounding left of a small gradient, so the distance also grows with the rate: over twenty steps
// to 2e-5 of a norm at a rate of 1e-5, and to 5e-4 at 1e-4. Losses are means and stay together.
TEST_CASE("one file: twenty steps of the lesson's model are the engine's", "[slow]") {
  for (const char* preset : {"post", "pre"}) {
    RunSpec spec = with_fields(preset_run(preset), {{"train.lr", "1e-5"}});
    INFO(preset);
    check_steps(spec, 1e-4);
  }
}

TEST_CASE("one file: twenty steps of every placement of its slots are the engine's") {
  for (const char* preset : {"none", "sandwich", "deepnorm", "peri", "mix", "res-post", "keel"}) {
    INFO(preset);
    check_steps(small_spec(preset));
  }
}
