// These tests hold the transfer to other sizes (engine/model/model_config.h): its numbers, a model against the double
// reference with them, and what it is for: a step that moves the states of a wide or deep model as far as the base's.

#include "catch.hpp"
#include "engine/support/model_fixture.h"
#include "engine/support/store_values.h"

namespace normscope::test_transfer {
namespace {

using namespace normscope::test;

constexpr Transfer kAll[] = {Transfer::Mup, Transfer::DepthMup, Transfer::CompleteP};

TinyOptions options_of(Transfer transfer, int32_t width, int32_t layers, bool tied = true,
                       Placement placement = Placement::Pre) {
  static Transfer of;  // a plain function cannot carry it
  of = transfer;
  return {.placement = placement,
          .layers = layers,
          .width = width,
          .heads = width / 8,
          .feed_forward = 2 * width,
          .tied = tied,
          .change = [](ModelConfig& c) {
            c.transfer = of;
            c.base_width = 16;
            c.base_layers = 2;
          }};
}

double root_mean_square(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// How far a few steps of Adam take the logits of one batch: the root of the mean square of their change.
double moved(Transfer transfer, int32_t width, int32_t layers, bool tied) {
  double sum = 0;
  for (const uint64_t seed : {7u, 8u, 9u}) {
    TinyOptions o = options_of(transfer, width, layers, tied);
    o.batch = 8;
    o.seed = seed;
    Tiny tiny(o);
    tiny.fill(1);
    const std::vector<float> before = tiny.logits();
    for (uint32_t step = 2; step <= 5; ++step) tiny.step(step);
    tiny.fill(1);
    std::vector<float> change = tiny.logits();
    for (size_t i = 0; i < change.size(); ++i) change[i] -= before[i];
    sum += root_mean_square(change);
  }
  return sum / 3;
}

}  // namespace

TEST_CASE("transfer: the factors are those of the table", "[transfer]") {
  const Growth mup = growth_of(Transfer::Mup, 4, 9), deep = growth_of(Transfer::DepthMup, 4, 9),
               complete = growth_of(Transfer::CompleteP, 4, 9);
  CHECK(mup.branch == 1);
  CHECK(mup.rate == 1);
  CHECK(mup.matrix_rate() == 0.25);
  CHECK(mup.eps == 0.25);
  CHECK(deep.branch == Approx(1.0 / 3));
  CHECK(deep.rate == Approx(1.0 / 3));
  CHECK(deep.matrix_rate() == Approx(1.0 / 12));
  CHECK(deep.eps == Approx(1.0 / 12));
  CHECK(complete.branch == Approx(1.0 / 9));
  CHECK(complete.rate == 1);
  CHECK(complete.matrix_rate() == 0.25);
  CHECK(complete.eps == Approx(1.0 / 36));
  const Growth none = growth_of(Transfer::None, 4, 9);
  CHECK(none.width == 1);
  CHECK(none.branch == 1);
  CHECK(none.eps == 1);
}

TEST_CASE("transfer: a model of the base's size keeps every bit of training", "[transfer]") {
  for (const Placement placement : test::known({"pre", "post", "hyper"})) {
    Tiny plain(options_of(Transfer::None, 16, 2, true, placement));
    plain.steps(1, 4);
    for (const Transfer transfer : kAll) {
      Tiny same(options_of(transfer, 16, 2, true, placement));
      same.steps(1, 4);
      CHECK(same.state() == plain.state());
    }
  }
}

TEST_CASE("transfer: every parameter has the steps of its role", "[transfer]") {
  for (const bool tied : {true, false}) {
    const Tiny tiny(options_of(Transfer::CompleteP, 64, 6, tied));
    const float eps = 1.0f / 12;
    for (const ParameterInfo& p : tiny.store->parameters()) {
      INFO(p.name);
      const bool matrix = p.hidden, table = p.name == "emb.tokens";
      CHECK(p.steps.rate == (matrix ? 0.25f : table ? 0.5f : 1.0f));
      CHECK(p.steps.decay == (matrix ? 4.0f : 1.0f));
      CHECK(p.steps.eps == Approx(table ? 2 * eps : eps));
    }
  }
}

TEST_CASE("transfer: a larger model equals the double reference with its factors", "[transfer][slow]") {
  using Rule = std::pair<Transfer, double>;  // and the branch's factor of three times the layers
  for (const auto& [transfer, factor] :
       {Rule{Transfer::CompleteP, 1.0 / 3}, {Transfer::DepthMup, std::sqrt(1.0 / 3)}, {Transfer::Mup, 1.0}})
    for (const bool tied : {true, false})
      for (const Placement placement : {Placement::Pre, Placement::Post, Placement::Sandwich}) {
        INFO("branch times " << factor << ", " << to_string(placement) << (tied ? " tied" : ""));
        TinyOptions o = options_of(transfer, 32, 6, tied, placement);
        o.optimizer = Optimizer::None;  // the reference reads the weights that the loss was computed with
        Tiny tiny(o);
        tiny.fill(1);
        tiny.program->replay(tiny.inputs(1));
        reference::DecoderSpec spec = reference::spec_of(tiny_config(o), o.batch, o.sequence);
        const auto loss_with = [&](double branch, double read_out) {
          spec.branch_factor = branch;
          spec.read_out = read_out;
          const auto tokens = tiny.program->tokens("tokens"), targets = tiny.program->tokens("targets");
          return reference::Decoder(spec, parameters_of(*tiny.store))
              .run({tokens.begin(), tokens.end()}, {targets.begin(), targets.end()}, {})
              .loss;
        };
        // Twice as wide and three times as deep. A tied table is stored 1 / sqrt(2) as large as its reads want it.
        const double read_out = tied ? std::sqrt(0.5) : 0.5, loss = loss_with(factor, read_out);
        CHECK(std::abs(tiny.program->loss() - loss) <= 1e-6 * loss);
        for (const double other : {1.0 / 3, std::sqrt(1.0 / 3), 1.0})
          if (other != factor) CHECK(std::abs(loss_with(other, read_out) - loss) > 1e-4 * loss);
        CHECK(std::abs(loss_with(factor, 1) - loss) > 1e-4 * loss);
      }
}

TEST_CASE("transfer: steps move a wide model's logits as far as the base's, which without it they do not",
          "[transfer][slow]") {
  // Sixteen times as wide: measured 0.52 and 0.48 times as far, without the transfer 6.6 and 7.2 times.
  for (const bool tied : {true, false}) {
    INFO((tied ? "tied" : "untied"));
    const double base = moved(Transfer::Mup, 16, 2, tied);
    const double with = moved(Transfer::Mup, 256, 2, tied) / base,
                 without = moved(Transfer::None, 256, 2, tied) / base;
    INFO("with " << with << ", without " << without);
    CHECK(with < 3);
    CHECK(with > 1.0 / 3);
    CHECK(without > 3 * with);
  }
}

}  // namespace normscope::test_transfer
