// The gradient of one element by differences.
#include <algorithm>

#include "addons/tape-screen/training/numeric_check.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("numeric check: every op's gradient is what differences say, central and refined") {
  for (const TinyOptions& options :
       {TinyOptions{.layers = 1},
        TinyOptions{.placement = Placement::Pre, .layers = 1, .activation = Activation::Gelu},
        TinyOptions{.layers = 1, .dropout = 0.2f}, TinyOptions{.layers = 1, .classes = 3}}) {
    StepPlayback p(options, 3);
    const std::vector<NumericCheck> checks = check_every_op(p.player);
    std::set<OpKind> ops;
    for (const Node& node : p.player.data().nodes) ops.insert(node.op);
    CHECK(checks.size() == ops.size());
    for (const NumericCheck& c : checks) {
      INFO(to_string(c.op) << " " << c.node << " of " << c.input << "[" << c.element << "]");
      CHECK(c.analytic != 0);
      REQUIRE(c.best_central());
      REQUIRE(c.best_refined());
      CHECK(c.best_central()->error < 1e-3);
      CHECK(c.best_refined()->error < 1e-3);
    }
    CHECK(p.player.position() == 0);  // where it stood
    CHECK(contains(to_string(checks), "L01.attn.heads"));
  }
}

TEST_CASE("numeric check: kinds of norm that hold something constant have no differences") {
  for (const NormKind kind : kNormKinds) {
    if (kind == NormKind::None) continue;
    INFO(to_string(kind));
    StepPlayback p({.placement = Placement::Post, .norm = kind, .layers = 1});
    const NumericCheck c = check_element(p.player, "L01.attn.stream");
    CHECK(c.central.empty() == holds_constant(kind));
    CHECK(c.refined.empty() == holds_constant(kind));
    if (!c.central.empty()) CHECK(c.best_central()->error < 1e-3);
  }
}

TEST_CASE("numeric check: it is this instruction's part of the gradient, of the element that was named") {
  StepPlayback p({.layers = 1});
  const NumericCheck c = check_element(p.player, "L01.ffn.1/L01.ffn.w1[3,7]");
  CHECK(c.element == 3 * 40 + 7);
  CHECK(c.place == 1);
  CHECK(c.shape == Shape{24, 40});
  CHECK(check_element(p.player, "L01.ffn.1/L01.ffn.w1[127]").analytic == c.analytic);
  p.player.seek(p.player.size());
  const auto gradient = p.player.program().read("L01.ffn.w1", true);
  CHECK(c.analytic == Approx(static_cast<double>(gradient[127])).epsilon(1e-5));
  // Two instructions write the gradient of the state before a Post-LN sub-layer: their parts add up to it.
  const NumericCheck sum = check_element(p.player, "L01.ffn.sum/L01.attn.stream[0]"),
                     first = check_element(p.player, "L01.ffn.1/L01.attn.stream[0]");
  CHECK(sum.analytic + first.analytic ==
        Approx(static_cast<double>(p.player.program().read("L01.attn.stream", true)[0])).margin(1e-7));
  CHECK(p.player.position() == p.player.size());
}

TEST_CASE("numeric check: a token that is not in the table has no part in its gradient") {
  StepPlayback p({.layers = 1});
  for (int32_t& token : p.player.program().tokens("tokens").first(5)) token = -1;
  const NumericCheck c = check_element(p.player, "emb");
  CHECK(c.analytic != 0);
  REQUIRE(c.best_central());
  CHECK(c.best_central()->error < 1e-3);
}

TEST_CASE("numeric check: a gradient that is no number is not said to be without error") {
  const Tiny tiny({.layers = 1});
  change(*tiny.store, "L01.ffn.w2", [](auto& values) { values[5] = INFINITY; });
  StepPlayer player(
      tiny.store->clone(), [&](Tape& tape) { return tiny.record(tape).loss; }, {}, tiny.inputs(1));
  const NumericCheck c = check_element(player, "L01.ffn.1/L01.ffn.w1[0]");
  REQUIRE(std::isnan(c.analytic));
  REQUIRE_FALSE(c.central.empty());
  for (const std::vector<Difference>* list : {&c.central, &c.refined})
    for (const Difference& d : *list) CHECK(std::isnan(d.error));
}

TEST_CASE("numeric check: it stops between two differences, and the player stands where it stood") {
  StepPlayback p({.layers = 1});
  p.player.seek(3);
  const auto& nodes = p.player.data().nodes;
  const auto found = std::ranges::find(nodes, "L01.ffn.1", &Node::name);
  REQUIRE(found != nodes.end());
  int asked = 0;
  const NumericCheck c = check_element(p.player, static_cast<size_t>(found - nodes.begin()), -1, -1,
                                       [&] { return ++asked > 2; });
  CHECK(c.stopped);
  CHECK(c.central.size() == 2);
  CHECK(p.player.position() == 3);
}

TEST_CASE("numeric check: what cannot be checked is refused in one line") {
  StepPlayback p({.layers = 1});
  const auto refused = [&](const char* what) { return error_of([&] { check_element(p.player, what); }); };
  CHECK(contains(refused("L09.attn.q"), "no instruction of the tape"));
  CHECK(contains(refused("L01.ffn.1/L01.ffn.w2"), "does not read"));
  CHECK(contains(refused("L01.ffn.1[3"), "does not end with ]"));
  CHECK(contains(refused("L01.ffn.1[x]"), "is no element"));
  CHECK(contains(refused("L01.ffn.1[]"), "is no element"));
  CHECK(contains(refused("L01.ffn.1[99999999]"), "lies outside"));
  CHECK(contains(refused("L01.ffn.1[1,2]"), "lies outside"));
  CHECK(contains(refused("emb/tokens"), "hands no gradient"));
}

}  // namespace normscope::test
