// These tests hold deep delta learning to what its paper says of it: what one sub-layer does to the stream along its
// direction and at right angles to it. Its formula, whole models and gradients: test_model_reference.cpp.
#include <algorithm>

#include "engine/model/residual.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "engine/support/placement_start.h"

namespace normscope::test_delta {
namespace {

using namespace normscope::test;

double dot(const float* a, const float* b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Sets the numbers that beta and v are computed from to those of no input: beta = 2 sigma(b), v = 4 sigma(c).
void ask_for(Start& start, float b, float c) {
  for (const SublayerValues& s : start.values.sublayers)
    for (const auto& [what, bias] : {std::pair{".beta", b}, {".value", c}}) {
      change(start.store, s.name + what + ".w", [](auto& w) { std::ranges::fill(w, 0.0f); });
      change(start.store, s.name + what + ".b", [&](auto& w) { w[0] = bias; });
    }
  start.program->replay({});
}

/// Calls `check` with the input, the output and the direction of every token in every sub-layer.
template <typename Check>
void each_token(Start& start, const Check& check) {
  const auto D = static_cast<size_t>(start.config.d_model);
  for (const SublayerValues& s : start.values.sublayers) {
    INFO(s.name);
    const std::vector<float> x = start.read(s.input), y = start.read(s.output),
                             k = start.read(start.tape.find(s.name + ".direction"));
    for (size_t row = 0; row < x.size(); row += D) check(&x[row], &y[row], &k[row], D);
  }
}

std::string refusal_of(const char* wiring) {
  ModelConfig c = config_of(Placement::Pre);
  for (LayerWiring& layer : c.decoder.layers)
    layer.attention = layer.cross = layer.feed_forward = wiring_from(wiring);
  return error_of([&] { validate(c); }, "");
}

}  // namespace

TEST_CASE("delta: with beta 1 the stream's number along the direction becomes v, and nothing else changes") {
  Start start(config_of(Placement::DeepDelta));
  ask_for(start, 0.0f, 0.0f);  // beta 1, v 2
  each_token(start, [](const float* x, const float* y, const float* k, size_t D) {
    CHECK(dot(k, k, D) == Approx(1).epsilon(1e-5));
    CHECK(dot(k, y, D) == Approx(2).epsilon(1e-5));
    const double along = dot(k, x, D);
    for (size_t i = 0; i < D; ++i)
      CHECK(static_cast<double>(y[i]) ==
            Approx(static_cast<double>(x[i]) + (2 - along) * static_cast<double>(k[i])).margin(1e-5));
  });
}

TEST_CASE("delta: with beta 2 and v 0 the stream is reflected, so that every state keeps its length") {
  Start start(config_of(Placement::DeepDelta));
  ask_for(start, 40.0f, -40.0f);
  each_token(start, [](const float* x, const float* y, const float* k, size_t D) {
    CHECK(dot(y, y, D) == Approx(dot(x, x, D)).epsilon(1e-5));
    CHECK(dot(k, y, D) == Approx(-dot(k, x, D)).margin(1e-4));
    CHECK(std::abs(dot(k, x, D)) > 1e-4);
  });
}

TEST_CASE("delta: with beta 0 the stream stays, and the factor of W_2 has no effect") {
  Start start(config_of(Placement::DeepDelta));
  ask_for(start, -40.0f, 0.0f);
  each_token(start, [](const float* x, const float* y, const float*, size_t D) {
    for (size_t i = 0; i < D; ++i) CHECK(y[i] == Approx(x[i]).margin(1e-6));
  });
  ask_for(start, 0.0f, 0.0f);
  const double loss = start.program->loss();
  change(start.store, "L01.ffn.w2", [](auto& w) {
    for (float& v : w) v *= 8;
  });
  start.program->replay({});
  CHECK(start.program->loss() == Approx(loss).epsilon(1e-5));
}

TEST_CASE("delta: a branch of zeros has no direction, and the stream and its gradient stay finite") {
  Start start(config_of(Placement::DeepDelta));
  change(start.store, "L01.ffn.w2", [](auto& w) { std::ranges::fill(w, 0.0f); });
  start.program->replay({});
  CHECK(std::isfinite(start.program->loss()));
  for (const float g : start.program->read("L01.ffn.w2", true)) CHECK(std::isfinite(g));
}

TEST_CASE("delta: the word, as text and back, beside others, and where it means nothing") {
  for (const char* text : {"before=ln delta", "before=ln gated-norms delta prores"})
    CHECK(to_string(wiring_from(text)) == text);
  CHECK(refusal_of("before=ln after=ln delta").empty());
  CHECK(contains(refusal_of("stream=ln delta"), "'stream=ln delta' in the decoder has no norm"));
  ModelConfig several = config_of(Placement::HyperConnections);
  several.decoder.layers[0].attention = wiring_from("before=ln delta");
  CHECK(contains(error_of([&] { validate(several); }), "has several streams"));
}

}  // namespace normscope::test_delta
