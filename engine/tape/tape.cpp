#include "engine/tape/tape.h"

#include "engine/core/error.h"
#include "engine/tape/store.h"

namespace normscope {

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

void Tape::after_update(Node node) {
  check_inputs(node);
  node.layer = layer_;
  after_update_.push_back(std::move(node));
}

ValueId Tape::add_node(Node node, Shape out, std::vector<std::pair<std::string, Shape>> saved) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  if (find(node.name) != kNone)
    fail(to_string(node.op), "the name {} is taken: expected a new one", node.name);
  check_inputs(node);
  node.layer = layer_;
  node.out = add_value({node.name, out, DType::F32, Role::Activation, -1, index});
  for (auto& [suffix, shape] : saved)
    node.saved.push_back(add_value({node.name + "." + suffix, shape, DType::F32, Role::Saved, -1, index}));
  nodes_.push_back(std::move(node));
  return nodes_.back().out;
}

void Tape::check_inputs(const Node& node) const {
  const OpTraits& op = traits_of(node.op);
  if (node.in.size() != op.inputs)
    fail(op.name, "{} has {} inputs: expected {}, those that are left out as kNone", node.name,
         node.in.size(), op.inputs);
  for (size_t k = 0; k < node.in.size(); ++k) {
    const bool absent = node.in[k] == kNone && k >= op.inputs - op.optional;
    if (!absent && (node.in[k] < 0 || static_cast<size_t>(node.in[k]) >= values_.size()))
      fail(op.name, "input {} of {} is no value of this tape", k + 1, node.name);
  }
}

ValueId Tape::find(std::string_view name) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].name == name) return static_cast<ValueId>(i);
  return kNone;
}

}  // namespace normscope
