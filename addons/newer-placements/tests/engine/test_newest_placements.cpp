// These tests hold the placements of 2026: the kernel that lets ProRes's branches in, when it does so, what a word asks
// for. Their formulas, and that no other placement has the same: test_model_reference.cpp.
#include "addons/newer-placements/engine/config.h"
#include "addons/newer-placements/engine/ops.h"
#include "engine/model/residual.h"
#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"
#include "engine/support/placement_start.h"

namespace normscope::test_newest {
namespace {

using namespace normscope::test;

std::string refusal_of(const char* wiring) {
  ModelConfig c = config_of(Placement::Pre);
  for (LayerWiring& layer : c.decoder.layers)
    layer.attention = layer.cross = layer.feed_forward = wiring_from(wiring);
  return error_of([&] { validate(c); }, "");
}

float factor_of(const Tiny& tiny, const char* layer) {
  return tiny.store->read(tiny.store->find(std::string(layer) + ".prores"))[0];
}

}  // namespace

TEST_CASE("ramp: the kernel sets every number to the share of the steps that are done, to 1 at last") {
  CHECK(contains(error_of([] {
                   Tiny tiny;
                   Tape tape(*tiny.store);
                   ramp(tape, "none", tape.parameter("emb.tokens"), {0});
                 }),
                 "one or more"));
  for (const int64_t n : {1, 3, 64})
    for (const auto& [step, expected] : {std::pair{1u, 0.125f}, {5u, 0.625f}, {8u, 1.0f}, {90u, 1.0f}})
      on_each_instruction_set([&] {
        GuardedMemory memory(size_t{1} << 12);
        Call call{};
        call.attributes = RampSpec{8};
        call.in[0] = {memory.copy(std::vector<float>(static_cast<size_t>(n), -3.0f)), Shape{n}};
        StepInputs inputs;
        inputs.step = step;
        CHECK(run_stages(kernels_of(OpKind::Ramp).forward(call), call, inputs, orders().front()));
        CHECK(memory.intact());
        for (int64_t i = 0; i < n; ++i) CHECK(call.in[0].p[i] == expected);
      });
}

TEST_CASE("prores: a branch of layer l comes in over T l steps, and the stream is the embedding before") {
  Start start(config_of(Placement::ProRes));
  const std::vector<float> embedding = start.read(start.values.embedding);
  CHECK(same_bits(start.read(start.values.sublayers.back().output), embedding));

  Tiny tiny({.placement = Placement::ProRes, .layers = 2, .change = [](ModelConfig& c) {
               c.of<ProResConfig>().steps = 3;
             }});
  for (uint32_t step = 1; step <= 8; ++step) {
    tiny.step(step);
    INFO(step);
    CHECK(factor_of(tiny, "L01") == std::min(1.0f, static_cast<float>(step) / 3.0f));
    CHECK(factor_of(tiny, "L02") == std::min(1.0f, static_cast<float>(step) / 6.0f));
  }
}

TEST_CASE("the words of the newest placements, as text and back, and where they mean nothing") {
  for (const char* text : {"before=ln prores", "before=ln gated-heads", "before=ln gated-norms",
                           "before=ln gated-heads gated-norms prores"})
    CHECK(to_string(wiring_from(text)) == text);
  CHECK(refusal_of("before=ln gated-norms prores").empty());
  CHECK(contains(refusal_of("before=ln gated-heads"), "has no heads"));
  CHECK(contains(refusal_of("stream=ln gated-norms"), "no norm to gate"));
}

TEST_CASE("span: both sums begin with the layer's input") {
  Start start(config_of(Placement::SpanNorm));
  for (const SublayerValues& s : start.values.sublayers) {
    INFO(s.name);
    const std::vector<float> branch = start.read(s.branch), sum = start.read(s.sum);
    const ValueId from = s.name.ends_with(".ffn") ? (&s - 1)->input : s.input;
    const std::vector<float> input = start.read(from);
    double worst = 0;
    for (size_t i = 0; i < sum.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(sum[i] - input[i] - branch[i])));
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("gated attention: a gate that is asked for nothing is half open") {
  Start start(config_of(Placement::GatedAttention));
  const auto outputs = [&](float gate) {
    for (int layer = 1; layer <= start.config.layers; ++layer) {
      const int32_t at = start.store.find("L0" + std::to_string(layer) + ".attn.wgate");
      start.store.write(at, std::vector<float>(start.store.read(at).size(), gate));
    }
    start.program->replay({});
    return std::pair{start.read(start.tape.find("L01.attn.heads")),
                     start.read(start.tape.find("L01.attn.gated"))};
  };
  const auto [heads, half] = outputs(0.0f);
  for (size_t i = 0; i < heads.size(); ++i) CHECK(half[i] == 0.5f * heads[i]);
}

}  // namespace normscope::test_newest
