#include "engine/ops/rules.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace normscope {
namespace {

/// The rule of every op of one's own: there are no words for it, and its backward may read all.
constexpr OpRule kOwnRule{
    .title = "Op of one's own", .reads = {0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f}, .saved = 0x3f};

}  // namespace

OpRules rules_of(OpKind op) {
  if (is_own(op)) return {.rules = std::span(&kOwnRule, 1)};
  switch (op) {
#define OP(Kind, name, ...) \
  case OpKind::Kind:        \
    return name##_rules();
#include "engine/ops/ops.def"
    default:
      break;
  }
  return {};
}

namespace {

std::vector<OpRule> collected() {
  std::vector<OpRule> all;
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i)
    for (OpRule rule : rules_of(static_cast<OpKind>(i)).rules) {
      rule.op = static_cast<OpKind>(i);
      all.push_back(rule);
    }
  return all;
}

std::string math(std::string_view formula) { return fmt::format("```math\n{}\n```\n", formula); }

}  // namespace

std::span<const OpRule> op_rules() {
  static const std::vector<OpRule> all = collected();
  return all;
}

const OpRule& rule_of(const Node& node) {
  if (is_own(node.op)) return kOwnRule;
  const auto variant_of = rules_of(node.op).variant;
  const std::string_view variant = variant_of ? variant_of(node.attributes) : "";
  for (const OpRule& rule : op_rules())
    if (rule.op == node.op && variant == rule.variant) return rule;
  fail("rules", "{} {} has no rule '{}': expected one in {}_rules()", to_string(node.op), node.name, variant,
       to_string(node.op));
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

double product_flop(const ProgramData& program, const Instruction& i, int64_t inner) {
  const Shape& out = program.values[static_cast<size_t>(i.out)].shape;
  const double product = 2 * static_cast<double>(out.size()) * static_cast<double>(inner);
  if (i.phase != Phase::Backward) return product;
  return product * ((i.write[0] != Write::Skip) + (i.write[1] != Write::Skip));
}

Message too_many_heads(std::span<const ValueInfo> values, const Node& node, int32_t heads) {
  const int64_t all = input_shape(values, node, 0)[0] * heads;
  if (all <= kMaxHeads) return "";
  return Message("{} has {} heads in the batch: expected at most {}", node.name, all, kMaxHeads);
}

std::string rules_page() {
  std::string text =
      "# Ops\n\n"
      "What the engine can record, with the local rule by which each op hands a gradient on.\n"
      "`normscope tape --rules` prints this page; each section stands beside its op, in a folder of "
      "[`engine/ops`](../engine/ops/ops.def).\n\n"
      "$`dx`$ is the gradient of the loss by $`x`$, sums over $`r`$ run over rows, `mean` and `var` over a row; "
      "shapes: B batch, T positions, D width, H heads, V vocabulary, R rows.\n";
  for (const OpRule& rule : op_rules()) {
    text += fmt::format("\n## {}\n\n`{}`. {}.\n\n{}", rule.title, to_string(rule.op), rule.shapes,
                        math(rule.formula));
    if (*rule.rule) text += "\nBackward:\n\n" + math(rule.rule);
    if (*rule.source) text += fmt::format("\nSource: {}.\n", rule.source);
  }
  return text;
}

}  // namespace normscope
