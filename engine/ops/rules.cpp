#include "engine/ops/rules.h"

#include <fmt/format.h>

#include <string_view>

#include "engine/core/error.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"

namespace normscope {
namespace {

constexpr OpRule kRules[] = {
#define RULE(Kind, variant, title, formula, shapes, rule, source, r0, r1, r2, r3, saved) \
  {OpKind::Kind, variant, title, formula, shapes, rule, source, {r0, r1, r2, r3}, saved},
#define RULE_OF_SIX(Kind, variant, title, formula, shapes, rule, source, r0, r1, r2, r3, r4, r5, saved) \
  {OpKind::Kind, variant, title, formula, shapes, rule, source, {r0, r1, r2, r3, r4, r5}, saved},
#include "engine/ops/rules.def"
#undef RULE_OF_SIX
#undef RULE
};

std::string_view variant_of(const Node& node) {
  if (node.op == OpKind::LayerNorm) return to_string(node.attributes.as<NormSpec>().kind);
  if (node.op == OpKind::Linear && node.attributes.as<LinearSpec>().transposed) return "transposed";
  return "";
}

std::string math(std::string_view formula) { return fmt::format("```math\n{}\n```\n", formula); }

}  // namespace

std::span<const OpRule> op_rules() { return kRules; }

const OpRule& rule_of(const Node& node) {
  const std::string_view variant = variant_of(node);
  for (const OpRule& rule : kRules)
    if (rule.op == node.op && variant == rule.variant) return rule;
  fail("rules", "{} {} has no row '{}': expected one in engine/ops/rules.def", to_string(node.op), node.name,
       variant);
}

BackwardReads backward_reads(const Instruction& instruction) {
  const OpRule& rule = rule_of(instruction);
  unsigned inputs = 0;
  BackwardReads reads;
  for (size_t k = 0; k < instruction.write.size(); ++k) {
    if (instruction.write[k] == Write::Skip) continue;
    inputs |= rule.reads[k];
    reads.saved = reads.saved || (rule.saved >> k & 1) != 0;
  }
  for (size_t k = 0; k < instruction.in.size(); ++k)
    reads.inputs[k] = instruction.in[k] != kNone && (inputs >> k & 1) != 0;
  return reads;
}

std::string rules_page() {
  std::string text =
      "# Ops\n\n"
      "What the engine can record, with the local rule by which each op hands a gradient on.\n"
      "`normscope tape --rules` prints this page; the table behind it is "
      "[`engine/ops/rules.def`](../engine/ops/rules.def).\n\n"
      "$`dx`$ is the gradient of the loss by $`x`$, sums over $`r`$ run over rows, `mean` and `var` over a row; "
      "shapes: B batch, T positions, D width, H heads, V vocabulary, R rows.\n";
  for (const OpRule& rule : kRules) {
    text += fmt::format("\n## {}\n\n`{}`. {}.\n\n{}", rule.title, to_string(rule.op), rule.shapes,
                        math(rule.formula));
    if (*rule.rule) text += "\nBackward:\n\n" + math(rule.rule);
    if (*rule.source) text += fmt::format("\nSource: {}.\n", rule.source);
  }
  return text;
}

}  // namespace normscope
