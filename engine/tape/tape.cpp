#include "engine/tape/tape.h"

#include <fmt/format.h>

#include "engine/core/error.h"
#include "engine/tape/store.h"

namespace normscope {

const char* to_string(OpKind op) {
  static constexpr const char* names[] = {
#define OP(Kind, name, inputs) #name,
#include "engine/ops/ops.def"
#undef OP
  };
  return op < OpKind::Count ? names[static_cast<size_t>(op)] : "?";
}

const char* to_string(NormKind kind) {
  switch (kind) {
    case NormKind::None:
      return "none";
    case NormKind::LayerNorm:
      return "layer norm";
    case NormKind::Simple:
      return "layer norm, simple";
    case NormKind::Rms:
      return "RMS norm";
    case NormKind::Detach:
      return "detach norm";
    case NormKind::DetachMean:
      return "layer norm, mean detached";
    case NormKind::DetachVariance:
      return "layer norm, variance detached";
    case NormKind::AdaNorm:
      return "AdaNorm";
    case NormKind::DyT:
      return "DyT";
  }
  return "?";
}

ValueId Tape::add_value(ValueInfo info) {
  values_.push_back(std::move(info));
  return static_cast<ValueId>(values_.size()) - 1;
}

ValueId Tape::input(std::string name, Shape shape, DType dtype) {
  if (find(name) != kNone)
    fail("tape", "input '{}' is recorded twice: expected one input of that name", name);
  return add_value({std::move(name), shape, dtype, Role::Input, -1, -1});
}

ValueId Tape::parameter(const std::string& name) {
  if (const ValueId known = find(name); known != kNone) return known;
  const int32_t index = store_->find(name);
  if (index < 0)
    fail("tape", "parameter '{}' is not declared: expected Store::declare before recording", name);
  return add_value(
      {name, store_->parameters()[static_cast<size_t>(index)].shape, DType::F32, Role::Parameter, index, -1});
}

ValueId Tape::add_node(Node node, Shape out, std::vector<std::pair<std::string, Shape>> saved) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  if (find(node.name) != kNone)
    fail(to_string(node.op), "the name {} is taken: expected a new one", node.name);
  node.layer = layer_;
  node.out = add_value({node.name, out, DType::F32, Role::Activation, -1, index});
  for (auto& [suffix, shape] : saved)
    node.saved.push_back(add_value({node.name + "." + suffix, shape, DType::F32, Role::Saved, -1, index}));
  nodes_.push_back(std::move(node));
  return nodes_.back().out;
}

ValueId Tape::find(std::string_view name) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].name == name) return static_cast<ValueId>(i);
  return kNone;
}

std::string to_string(const Tape& tape) {
  std::string text;
  for (size_t i = 0; i < tape.nodes().size(); ++i) {
    const Node& node = tape.nodes()[i];
    text += fmt::format("{:3} {:24} {:12} {:16} <-", i, node.name, to_string(node.op),
                        to_string(tape.shape(node.out)));
    for (ValueId v : node.in)
      if (v != kNone) text += " " + tape.value(v).name;
    text += "\n";
  }
  return text;
}

}  // namespace normscope
