// These tests hold live measurements of an encoder-decoder (residual dependency of each stack, cross-attention a branch
// of its own) against the definition in double precision on the same tensors; and what they cost.
#include <fmt/format.h>

#include <cmath>

#include "catch.hpp"
#include "engine/model/transformer.h"
#include "engine/support/helpers.h"
#include "training/measure/live_numbers.h"
#include "training/measure/step_metrics.h"

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr size_t kTarget = 11, kSource = 9, kWidth = 24;

ModelConfig both_stacks(Placement encoder, Placement decoder) {
  ModelConfig config;
  config.architecture = Architecture::EncoderDecoder;
  config.layers = 3;
  config.encoder_layers = 2;
  config.d_model = kWidth;
  config.heads = 3;
  config.feed_forward = 40;
  config.sequence = kTarget;
  config.vocabulary = 17;
  config.decoder = preset_stack(decoder, config.norm, context_of(config, true));
  config.encoder = preset_stack(encoder, config.norm, context_of(config, false));
  return config;
}

struct Translation : DisturbedModel {
  explicit Translation(const ModelConfig& c)
      : DisturbedModel(c,
                       {.batch = 3, .sequence = kTarget, .source_sequence = static_cast<int32_t>(kSource)}) {
    int32_t k = 0;
    for (const char* input : {"tokens", "targets", "source"})
      for (int32_t& token : program->tokens(input)) token = ++k * 7 % 17;
    program->replay({.seed = 1, .lr = 0.0f});
  }
};

/// One norm step of A.5 with the statistics of `sum`: c <- gain (c - mean c) / sigma.
void carry(std::vector<double>& c, const std::vector<double>& sum, const std::vector<double>& gain) {
  for (size_t row = 0; row < c.size(); row += kWidth) {
    double mean = 0, square = 0, centre = 0;
    for (size_t k = 0; k < kWidth; ++k) {
      mean += sum[row + k] / kWidth;
      centre += c[row + k] / kWidth;
    }
    for (size_t k = 0; k < kWidth; ++k) square += std::pow(sum[row + k] - mean, 2) / kWidth;
    for (size_t k = 0; k < kWidth; ++k)
      c[row + k] = gain[k] * (c[row + k] - centre) / std::sqrt(square + 1e-5);
  }
}

}  // namespace

TEST_CASE("residual dependency of both stacks equals its definition, cross-attention a branch of its own",
          "[measure]") {
  for (auto [encoder, decoder] : {std::pair{Placement::Post, Placement::Post},
                                  {Placement::Pre, Placement::Pre},
                                  {Placement::Post, Placement::Pre},
                                  {Placement::Admin, Placement::DeepNorm},
                                  {Placement::Sandwich, Placement::ReZero}}) {
    INFO(to_string(encoder) << " encoder, " << to_string(decoder) << " decoder");
    const Translation f(both_stacks(encoder, decoder));
    LiveMeasurements live(*f.program, f.model, f.config);
    std::vector<double> numbers(live.layout().size());
    live.measure(numbers);
    CHECK(live.residual() <= 1e-5);
    std::vector<std::vector<double>> components;
    std::string stack;
    int index = 0, rows = 0;
    for (const SublayerValues& s : f.model.sublayers) {
      const std::string prefix = s.name.substr(0, s.name.find('L'));
      const size_t n = (prefix == "enc." ? kSource : kTarget) * kWidth;
      if (prefix != stack) {
        stack = prefix;
        components = {f.first(s.input, n)};
        index = 0;
      }
      ++index;
      ++rows;
      const Scale& scale = wiring_of(f.config, s).skip;
      const std::vector<double> skip =
          f.parameter(s.name + ".skip", kWidth,
                      scale.kind == Scale::Kind::Constant ? static_cast<double>(scale.value) : 1.0);
      const std::vector<double> branch = f.parameter(s.name + ".branch", kWidth, 1.0);
      for (std::vector<double>& c : components)
        for (size_t i = 0; i < n; ++i) c[i] *= skip[i % kWidth];
      components.push_back(f.first(s.branch, n));
      for (size_t i = 0; i < n; ++i) components.back()[i] *= branch[i % kWidth];
      if (s.output != s.sum)
        for (std::vector<double>& c : components)
          carry(c, f.first(s.sum, n), f.parameter(s.name + ".trunk.gain", kWidth, 1.0));
      const double whole = variance(f.first(s.output, n));
      for (size_t j = 0; j < components.size(); ++j) {
        const double expected = variance(components[j]) / whole;
        CHECK(std::abs(number(live, numbers, fmt::format("{}beta2.{}.{}", prefix, index, j)) - expected) <=
              1e-5 * (1 + expected));
      }
    }
    CHECK(rows == 2 * 2 + 3 * 3);
    CHECK(index == 9);  // the decoder's triangle has its own rows, from one
    CHECK(number(live, numbers, "dec.L02.cross.attention_entropy") > 0.1);
  }
}
