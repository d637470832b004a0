#include "engine/tape/tape.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "engine/core/error.h"
#include "engine/tape/call.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// 1, 2, ...: no two tapes of a process have the same number.
uint32_t next_number() {
  static std::atomic<uint32_t> last{0};
  return ++last;
}

}  // namespace

Tape::Tape(Store& store)
    : store_(store.share()),
      number_(next_number()),
      declared_before_(store.parameters().size()),
      exceptions_(std::uncaught_exceptions()),
      prefix_(std::make_shared<std::string>()) {}

Tape::~Tape() {
  if (store_ && std::uncaught_exceptions() > exceptions_) store_->take_back(declared_before_, number_);
}

TakesBack::TakesBack(Tape& tape)
    : tape_(tape),
      values_(tape.values_.size()),
      declared_(tape.store().parameters().size()),
      exceptions_(std::uncaught_exceptions()) {}

TakesBack::~TakesBack() {
  if (std::uncaught_exceptions() == exceptions_) return;
  tape_.values_.resize(values_);
  tape_.store().take_back(declared_, tape_.number_);
}

Store& Tape::store() const {
  if (!store_) fail("tape", "it was moved away: expected the Tape that has its nodes");
  return *store_;
}

ValueId Tape::add_value(ValueInfo info) {
  values_.push_back(std::move(info));
  return {static_cast<int32_t>(values_.size()) - 1, number_};
}

Scope::Scope(std::shared_ptr<std::string> prefix, std::string inner)
    : prefix_(std::move(prefix)), outer_(std::exchange(*prefix_, std::move(inner))) {}

Scope Tape::scope(std::string_view name) {
  store();
  const std::string full = named(name);
  if (full.empty() || full.back() == '.') fail("tape", "a scope '{}': expected a name such as L01", name);
  return {prefix_, full + "."};
}

std::string Tape::named(std::string_view name) const {
  if (name.starts_with('/')) return std::string(name.substr(1));
  return (prefix_ ? *prefix_ : "").append(name);
}

int32_t Tape::declare(std::string_view name, Shape shape, Init init, bool trainable) {
  return store().declare(named(name), shape, init, trainable, layer_);
}

ValueId Tape::input(std::string name, Shape shape, DType dtype, InputOptions options) {
  name = named(name);
  if (find(name) != kNone)
    fail("tape", "input '{}' is recorded twice: expected one input of that name", name);
  if (store().find(name) >= 0)
    fail("tape", "input '{}' has the name of a parameter: expected names of their own", name);
  require_shape("tape", "input '" + name + "'", shape);
  if (options.gradient && dtype != DType::F32)
    fail("tape", "input '{}' {} holds integers and cannot have a gradient: expected reals", name,
         to_string(shape));
  return add_value({std::move(name), shape, dtype, Role::Input, -1, -1, options.gradient});
}

ValueId Tape::parameter(const std::string& local) {
  const std::string name = named(local);
  if (const ValueId known = find(name); known != kNone) {
    if (value(known).role != Role::Parameter)
      fail("tape", "parameter '{}' has the name of another value {}: expected names of their own", name,
           to_string(shape(known)));
    return known;
  }
  const int32_t index = store().find(name);
  if (index < 0)
    fail("tape", "parameter '{}' is not declared: expected Store::declare before recording", name);
  store_->name_for(index, number_);
  return add_value({name, store_->at(index).shape, DType::F32, Role::Parameter, index, -1});
}

void Tape::probe(ProbeRequest request) {
  request.name = named(request.name);
  const std::string where = "probe " + request.name;
  value(request.value, where);
  if (std::ranges::find(probes_, request.name, &ProbeRequest::name) != probes_.end())
    fail(where, "there is a probe of that name: expected names of their own");
  if (request.lengths != kNone) {
    const ValueInfo &of = value(request.value), &lengths = value(request.lengths, where, "lengths");
    if (lengths.dtype != DType::I32 || of.shape.rank < 2 || lengths.shape.size() != of.shape[0])
      fail(where, "lengths '{}' {} of '{}' {}: expected integers (B) of a value (B,T,..)", lengths.name,
           to_string(lengths.shape), of.name, to_string(of.shape));
  }
  probes_.push_back(std::move(request));
}

void Tape::after_update(Node node) {
  node.name = named(node.name);
  if (is_own(node.op))
    fail(to_string(node.op), "{} after the update: expected it on the way to the loss", node.name);
  check_inputs(node);
  node.layer = layer_;
  after_update_.push_back(std::move(node));
}

Node Tape::node(OpKind op, const std::string& name, std::vector<ValueId> in, Attributes attributes) const {
  Node node{.op = op, .name = named(name), .in = std::move(in), .attributes = attributes};
  check_inputs(node);
  node.name = name;  // add_node puts it into the scope
  return node;
}

ValueId Tape::add_node(Node node, Shape out, std::vector<std::pair<std::string, Shape>> saved) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  node.name = named(node.name);
  if (find(node.name) != kNone)
    fail(to_string(node.op), "the name {} is taken: expected a new one", node.name);
  for (const auto& [suffix, shape] : saved)
    if (find(node.name + "." + suffix) != kNone)
      fail(to_string(node.op), "the name {}.{} is taken: expected a new one", node.name, suffix);
  check_inputs(node);
  require_shape(to_string(node.op), "the result of " + node.name, out);
  check_parts(node, out);
  if (saved.size() > kMaxSaved)
    fail(to_string(node.op), "{} saves {} tensors: expected at most {}", node.name, saved.size(), kMaxSaved);
  for (auto& [suffix, shape] : saved) require_shape(to_string(node.op), node.name + "." + suffix, shape);
  node.layer = layer_;
  node.out = add_value({node.name, out, DType::F32, Role::Activation, -1, index});
  for (auto& [suffix, shape] : saved)
    node.saved.push_back(add_value({node.name + "." + suffix, shape, DType::F32, Role::Saved, -1, index}));
  nodes_.push_back(std::move(node));
  return nodes_.back().out;
}

void Tape::refuse(ValueId v, std::string_view where, std::string_view what) const {
  if (v == kNone) fail(where, "{} is kNone: expected a value of this tape", what);
  if (v.tape != 0 && v.tape != number_)
    fail(where, "{} is value {} of another tape: expected a value of this one", what, v.index);
  fail(where, "{} is value {}: expected one of the {} of this tape", what, v.index, values_.size());
}

void Tape::check_parts(const Node& node, const Shape& out) const {
  const OpTraits& op = traits_of(node.op);
  const bool rows = op.parts == Parts::Rows;
  for (size_t k = 0; k < node.in.size() && op.parts != Parts::Whole; ++k) {
    if (node.in[k] == kNone || (op.integers >> k & 1) != 0) continue;
    const ValueInfo& input = value(node.in[k]);
    if (rows ? input.shape.rows() != out.rows() : input.shape.size() != out.size())
      fail(std::string(op.name) + " " + node.name,
           "input {}, '{}' {}, has other {} than the result {}: expected as many, or a whole_op", k + 1,
           input.name, to_string(input.shape), rows ? "rows" : "numbers", to_string(out));
  }
}

void Tape::check_inputs(const Node& node) const {
  if (is_own(node.op) && !find_own_op(node.op))
    fail("tape", "{} is of an op that nobody added: expected add_op before it is recorded", node.name);
  const OpTraits& op = traits_of(node.op);
  if (node.in.size() != op.inputs)
    fail(op.name, "{} has {} inputs: expected {}, those that are left out as kNone", node.name,
         node.in.size(), op.inputs);
  if (const OpKind of = node.attributes.op(); of != kNoOp && of != node.op)
    fail(op.name, "{} has the constants of the op {}: expected its own", node.name, to_string(of));
  const std::string where = std::string(op.name) + " " + node.name;
  for (size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k] == kNone && k >= op.inputs - op.optional) continue;
    const ValueInfo& input = value(node.in[k], where, "input " + std::to_string(k + 1));
    const bool integers = (op.integers >> k & 1) != 0;
    if ((input.dtype == DType::I32) != integers)
      fail(where, "input {}, '{}' {}, holds {}: expected {}", k + 1, input.name, to_string(input.shape),
           integers ? "reals" : "integers", integers ? "integers" : "reals");
  }
}

ValueId Tape::find(std::string_view name) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].name == name) return {static_cast<int32_t>(i), number_};
  return kNone;
}

}  // namespace normscope
