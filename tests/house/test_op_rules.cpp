// These tests cover the formulas by which ops describe themselves (engine/ops/rules.h): no op without one, nothing that
// cannot be drawn, and the page that is printed from them.
#include "app/support/program.h"
#include "app/tex/tex.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/kernel.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"
#include "test_paths.h"

using namespace normscope;
using namespace normscope::test;

namespace {

Node node_of(OpKind op, Attributes attributes = {}) {
  Node node;
  node.op = op;
  node.name = "n";
  node.attributes = attributes;
  return node;
}

}  // namespace

TEST_CASE("op rules: every op has a rule, and a local rule exactly where it has a backward kernel") {
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i) {
    const auto op = static_cast<OpKind>(i);
    INFO(to_string(op));
    const bool has_rule = std::ranges::any_of(op_rules(), [&](const OpRule& rule) { return rule.op == op; });
    CHECK(has_rule);
  }
  for (const OpRule& rule : op_rules()) {
    INFO(rule.title);
    CHECK(*rule.formula != '\0');
    CHECK(*rule.shapes != '\0');
    CHECK((*rule.rule != '\0') == (cpu::kernels_of(rule.op).backward != nullptr));
    for (size_t k = traits_of(rule.op).inputs; k < rule.reads.size(); ++k) CHECK(rule.reads[k] == 0);
  }
}

TEST_CASE("op rules: every kind of norm and either way of a weight has its own row") {
  std::set<std::string> titles;
  for (const NormKind kind : kNormKinds) {
    if (kind == NormKind::None) continue;
    const OpRule& rule = rule_of(node_of(OpKind::LayerNorm, NormSpec{.kind = kind}));
    CHECK(std::string(rule.variant) == to_string(kind));
    CHECK(titles.insert(rule.title).second);
    // What has a gain names it.
    CHECK(has_gain(kind) == (std::string(rule.formula).find("\\gamma") != std::string::npos));
    CHECK(has_bias(kind) == (std::string(rule.formula).find("\\beta") != std::string::npos));
  }
  CHECK(std::string(rule_of(node_of(OpKind::Linear)).variant).empty());
  CHECK(std::string(rule_of(node_of(OpKind::Linear, LinearSpec{.transposed = true})).variant) ==
        "transposed");
  CHECK_THROWS_AS(rule_of(node_of(OpKind::LayerNorm)), Error);  // of kind none
}

TEST_CASE("op rules: attention says how its scores are scaled and capped") {
  const auto variant = [](const AttentionSpec& spec) {
    return std::string(rule_of(node_of(OpKind::Attention, spec)).variant);
  };
  CHECK(variant({}).empty());
  CHECK(variant({.causal = true, .window = 3}).empty());
  CHECK(variant({.scale = 0.5f}) == "scaled");
  CHECK(variant({.cap = 50}) == "capped");
  CHECK(variant({.cap = 50, .scale = 0.5f}) == "capped");
}

TEST_CASE("op rules: every formula can be drawn") {
  for (const OpRule& rule : op_rules()) {
    INFO(rule.title);
    CHECK_NOTHROW(tex::parse(rule.formula));
    CHECK_NOTHROW(tex::parse(rule.rule));
  }
}

TEST_CASE("op rules: docs/ops.md is the page of them all") {
  const std::string page = rules_page(),
                    printed = read_all(std::string(NORMSCOPE_SOURCE_DIR) + "/docs/ops.md");
  if (NORMSCOPE_EVERY_ADDON) CHECK(printed == page);
  for (size_t begin = 0, end; begin < page.size(); begin = end) {  // section by section
    end = std::min(page.find("\n## ", begin + 1), page.size());
    CHECK(contains(printed, page.substr(begin, end - begin)));
  }
  for (const OpRule& rule : op_rules()) CHECK(contains(page, rule.formula));
}
