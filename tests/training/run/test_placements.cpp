// Every placement in every architecture is recognised, differentiated, measured, trained, resumed, documented. What
// each promises at its start is in test_placement_starts.cpp.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/placement_start.h"
#include "folder.h"
#include "test_paths.h"
#include "training/measure/step_metrics.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("placement: each is recognised, as text and as a stack, in every architecture", "[placements]") {
  for (const StackContext& context : {StackContext{true, 6, 0}, {false, 5, 0}, {true, 4, 6}, {false, 6, 4}})
    for (const Placement p : kPresets)
      for (const NormKind norm : {NormKind::LayerNorm, NormKind::Rms, NormKind::DetachVariance}) {
        INFO(to_string(p) << " " << context.layers);
        const StackWiring stack = preset_stack(p, norm, context);
        CHECK(placement_of(stack, context) == p);
        for (const LayerWiring& layer : stack.layers)
          for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
            CHECK(wiring_from(to_string(*w)) == *w);
      }
  StackWiring mixed = preset_stack(Placement::Sandwich, NormKind::LayerNorm, {true, 6, 0});
  mixed.layers[3].attention.after = NormKind::Rms;
  CHECK(placement_of(mixed, {true, 6, 0}) == Placement::Custom);
  for (const char* text :
       {"enter=ln before=rms pre-scale=0.5", "q=ln k=rms v=simple head-scale", "output=ln shifts",
        "trunk=ln skip=admin:1", "trunk=ln skip=admin-paper:1", "trunk=ln bottom"})
    CHECK(to_string(wiring_from(text)) == text);
  for (const char* text : {"head-scale=1", "shift", "q", "pre-scale=x", "branch=admin:1", "bottom=ln"})
    CHECK_THROWS_AS(wiring_from(text), Error);
  ModelConfig wrong = config_of(Placement::Post);
  wrong.decoder.layers[0].feed_forward.inner.query = NormKind::LayerNorm;
  CHECK_THROWS_AS(validate(wrong), Error);
}

TEST_CASE("placement: gradients are the loss's slope in every architecture", "[placements]") {
  for (const Architecture architecture : {Architecture::Encoder, Architecture::EncoderDecoder})
    for (const Placement p : kPresets) {
      INFO(to_string(p) << (architecture == Architecture::Encoder ? ", encoder" : ", encoder-decoder"));
      ModelConfig config = config_of(p, architecture);
      config.activation = Activation::Gelu;
      config.layers = 2;
      set_placement(config, p);
      Start model(config);
      // Along the gradient the slope is its length.
      double square = 0;
      std::vector<std::vector<float>> at, along;
      for (const ParameterInfo& info : model.store.parameters()) {
        at.push_back(model.weight(info.name));
        along.push_back(info.trainable ? model.program->read(info.name, true)
                                       : std::vector<float>(at.back().size(), 0.0f));
        for (float g : along.back()) square += static_cast<double>(g) * static_cast<double>(g);
      }
      const double length = std::sqrt(square), h = 4e-3 / std::max(length, 1.0);
      REQUIRE(length > 0.01);
      const auto loss_at = [&](double distance) {
        for (size_t i = 0; i < at.size(); ++i) {
          std::vector<float> moved = at[i];
          for (size_t k = 0; k < moved.size(); ++k)
            moved[k] += static_cast<float>(distance * static_cast<double>(along[i][k]) / length);
          model.store.write(static_cast<int32_t>(i), moved);
        }
        model.program->replay({});
        return model.program->loss();
      };
      CHECK((loss_at(h) - loss_at(-h)) / (2 * h) == Approx(length).epsilon(5e-3));
    }
}

TEST_CASE("placement: the components of the state add up to it in every architecture", "[placements]") {
  for (const Architecture architecture : {Architecture::Encoder, Architecture::EncoderDecoder})
    for (const Placement p : kPresets)
      for (const NormKind norm : {NormKind::LayerNorm, NormKind::AdaNorm, NormKind::DyT, NormKind::Derf}) {
        INFO(to_string(p) << " " << short_name(norm));
        ModelConfig config = config_of(p, architecture);
        config.norm = norm;
        set_placement(config, p);
        const Start model(config);
        LiveMeasurements live(*model.program, model.values, config);
        std::vector<double> numbers(live.layout().size());
        live.measure(numbers);
        CHECK(live.residual() <= 1e-5);
        for (double v : numbers) CHECK(std::isfinite(v));
      }
}

TEST_CASE("placement: the manual names every placement, initialisation and preset", "[placements]") {
  const std::string manual = read_all(NORMSCOPE_SOURCE_DIR "/docs/configuration.md");
  const auto has_row = [&](std::string_view name) {
    return manual.find(fmt::format("| `{}` |", name)) != std::string::npos;
  };
  for (const Placement p : kPresets) CHECK(has_row(to_string(p)));
  for (const std::string_view rule : kInitRules) CHECK(has_row(rule));
  for (const std::string& preset : preset_names()) CHECK(test::contains(manual, "`" + preset + "`"));
}

TEST_CASE("placement: runs of each train, resume and repeat to the bit", "[placements]") {
  const std::string file = "test_placements.safetensors";
  for (const std::string& name : preset_names()) {
    INFO(name);
    RunSpec spec = small_spec(name);
    RunSpec again;
    for (const auto& [key, value] : field_values(spec)) set_field(again, key, value);
    CHECK(again == spec);
    auto straight = make_run(spec);
    steps(*straight, 3);
    straight->save(file);
    auto resumed = Run::load(file, small_task(spec.data), shared_backend());
    auto fresh = make_run(spec);
    steps(*fresh, 6);
    steps(*straight, 3);
    steps(*resumed, 3);
    CHECK(first_difference(straight->store(), fresh->store()) == "");
    CHECK(first_difference(straight->store(), resumed->store()) == "");
    CHECK(std::isfinite(straight->mean_loss(1)));
    CHECK_FALSE(straight->non_finite());
  }
  std::remove(file.c_str());
}

TEST_CASE("placement: an encoder-decoder with tables of its own for each stack", "[placements]") {
  ModelConfig config = config_of(Placement::Pre, Architecture::EncoderDecoder);
  config.shared_embedding = false;
  const Start apart(config);
  CHECK(apart.store.find("emb.tokens") < 0);
  CHECK(apart.store.find("enc.emb.positions") >= 0);
  CHECK_FALSE(all_zero(apart.program->read("enc.emb.tokens", true)));
  CHECK(output_table(config) == "dec.emb.tokens");
  RunSpec spec = small_spec("pre");
  set_field(spec, "model.architecture", "encoder-decoder");
  set_field(spec, "data.name", "translation");
  set_field(spec, "model.shared_embedding", "false");
  auto run = make_run(spec);
  steps(*run, 2);
  CHECK(std::isfinite(run->mean_loss(1)));
}

}  // namespace normscope::test
