#include "addons/tape-screen/training/listing.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "engine/tape/store.h"
#include "training/io/text.h"

namespace normscope {
namespace {

constexpr const char* kRoles[] = {"input", "parameter", "activation", "saved"};

bool has(const std::vector<bool>& flags, ValueId v) {
  return !flags.empty() && flags[static_cast<size_t>(v)];
}

const ValueInfo& info(const ProgramData& program, ValueId v) {
  return program.values[static_cast<size_t>(v)];
}

Place place_of(const ProgramData& program, ValueId v) {
  const size_t offset = program.plan.value_offset[static_cast<size_t>(v)];
  if (offset == kNoOffset) return {};
  const Role role = info(program, v).role;
  const char* block = role == Role::Parameter ? "store" : role == Role::Input ? "batch" : "activations";
  return {block, offset, has(program.plan.value_reused, v)};
}

Place gradient_of(const ProgramData& program, ValueId v) {
  const size_t offset = program.plan.gradient_offset[static_cast<size_t>(v)];
  if (offset == kNoOffset) return {};
  return {"gradients", offset, has(program.plan.gradient_reused, v)};
}

std::vector<std::string> names(const ProgramData& program, const std::vector<ValueId>& values) {
  std::vector<std::string> all;
  for (ValueId v : values) all.push_back(v == kNone ? "-" : info(program, v).name);
  return all;
}

// Lists the operands in the order in which bind() (call.cpp) gives them to the kernel.
ListedInstruction listed(const ProgramData& program, const Instruction& i) {
  ListedInstruction out{to_string(i.phase), to_string(i.op), i.name, i.layer, i.node, {}, 0, {}};
  const auto value = [&](const char* use, ValueId v) {
    if (v != kNone) out.operands.push_back({use, info(program, v).name, place_of(program, v), {}});
  };
  const auto gradient = [&](const char* use, ValueId v, const char* write) {
    if (v != kNone) out.operands.push_back({use, info(program, v).name, gradient_of(program, v), write});
  };
  if (i.phase == Phase::Backward && i.out != kNone) gradient("d_out", i.out, "");
  for (size_t k = 0; k < i.in.size(); ++k)
    if (i.of_gradient && k == 0)
      gradient("d_in", i.in[k], "");
    else
      value("in", i.in[k]);
  value("out", i.out);
  for (ValueId v : i.saved) value("saved", v);
  for (size_t k = 0; k < i.write.size(); ++k)
    if (i.write[k] != Write::Skip) gradient("d_in", i.in[k], i.write[k] == Write::Add ? "add" : "assign");
  if (i.phase == Phase::Update) out.parameters = program.parameter_order.size();
  if (i.stat >= 0) out.stat = program.stats[static_cast<size_t>(i.stat)].name;
  return out;
}

// Writes "in x activations+0, w store+64  out y activations+128": a use precedes the first operand of its kind.
std::string text_of(const ListedInstruction& i) {
  std::string text, use;
  for (const ListedOperand& operand : i.operands) {
    text += operand.use == use ? ", " : fmt::format("  {} ", operand.use);
    use = operand.use;
    text += fmt::format("{} {}{}{}", operand.value, to_string(operand.place),
                        operand.write.empty() ? "" : " ", operand.write);
  }
  if (i.phase == "update") text += fmt::format("  on {} parameters", i.parameters);
  if (!i.stat.empty()) text += "  stat " + i.stat;
  return text;
}

using Key = std::tuple<Phase, OpKind, std::string>;
Key key_of(const Instruction& i) { return {i.phase, i.op, i.name}; }

/// A program, with an index of its instructions by phase, op and name.
struct NodeIndex {
  explicit NodeIndex(const ProgramData& data) : program(data) {
    for (size_t i = 0; i < data.instructions.size(); ++i)
      at.emplace(key_of(data.instructions[i]), static_cast<int32_t>(i));
  }
  int32_t find(const Instruction& i) const {
    const auto found = at.find(key_of(i));
    return found == at.end() ? -1 : found->second;
  }
  std::string name(ValueId v) const {
    return v == kNone ? "nothing" : program.values[static_cast<size_t>(v)].name;
  }
  Shape shape(ValueId v) const { return v == kNone ? Shape{} : program.values[static_cast<size_t>(v)].shape; }

  const ProgramData& program;
  std::map<Key, int32_t> at;
};

const char* word_of(Write write) {
  return write == Write::Skip ? "leaves out" : write == Write::Add ? "adds to" : "assigns";
}

/// How two instructions of one name differ; empty: they do not.
std::string difference(const NodeIndex& a, const Instruction& x, const NodeIndex& b, const Instruction& y) {
  std::vector<std::string> words;
  for (size_t k = 0; k < std::max(x.in.size(), y.in.size()); ++k) {
    const ValueId before = k < x.in.size() ? x.in[k] : kNone, after = k < y.in.size() ? y.in[k] : kNone;
    if (a.name(before) != b.name(after))
      words.push_back(fmt::format("reads {} for {}", b.name(after), a.name(before)));
    else if (!(a.shape(before) == b.shape(after)))
      words.push_back(fmt::format("reads {} {}, before {}", b.name(after), to_string(b.shape(after)),
                                  to_string(a.shape(before))));
  }
  if (!(a.shape(x.out) == b.shape(y.out)))
    words.push_back(
        fmt::format("yields {}, before {}", to_string(b.shape(y.out)), to_string(a.shape(x.out))));
  for (size_t k = 0; k < std::min(x.write.size(), y.write.size()); ++k)
    if (x.write[k] != y.write[k])
      words.push_back(fmt::format("{} the gradient of {}", word_of(y.write[k]), b.name(y.in[k])));
  if (!(x.attributes == y.attributes)) words.push_back("has other constants");
  return fmt::format("{}", fmt::join(words, "; "));
}

InstructionChange change_to(ChangeKind kind, const Instruction& i, int32_t before, int32_t after,
                            std::string words) {
  return {kind, i.phase, i.op, i.name, i.layer, before, after, std::move(words)};
}

}  // namespace

std::string to_string(const Place& place) {
  if (place.block.empty()) return "nowhere";
  return fmt::format("{}+{}{}", place.block, place.offset, place.reused ? "~" : "");
}

Listing list(const ProgramData& program) {
  Listing all;
  for (const ParameterInfo& p : program.store->parameters()) {
    all.parameters.push_back({p.name, p.shape, p.layer, p.trainable, {"store", p.offset, false}});
    all.numbers += static_cast<size_t>(p.shape.size());
  }
  for (size_t v = 0; v < program.values.size(); ++v) {
    const ValueInfo& value = program.values[v];
    const auto id = static_cast<ValueId>(v);
    all.values.push_back({value.name, kRoles[static_cast<size_t>(value.role)],
                          value.dtype == DType::F32 ? "f32" : "i32", value.shape, place_of(program, id),
                          gradient_of(program, id)});
  }
  for (const Node& node : program.nodes)
    all.nodes.push_back({to_string(node.op), node.name, node.layer, names(program, node.in),
                         names(program, node.saved), info(program, node.out).shape});
  for (const Instruction& i : program.instructions) {
    all.instructions.push_back(listed(program, i));
    ++(i.phase == Phase::Forward ? all.forward : i.phase == Phase::Backward ? all.backward : all.update);
  }
  for (const StatInfo& stat : program.stats) all.stats.push_back(stat.name);
  all.batch = program.plan.inputs;
  all.store = program.store->size();
  all.activations = program.plan.activations;
  all.gradients = program.plan.gradients;
  all.workspace = program.plan.workspace;
  return all;
}

std::string to_string(const Listing& all) {
  std::string text = "parameters\n";
  for (const ListedParameter& p : all.parameters)
    text += fmt::format("  {:30} {:16} {}{}\n", p.name, to_string(p.shape), to_string(p.place),
                        p.trainable ? "" : "  frozen");
  text += "\nvalues\n";
  for (const ListedValue& v : all.values)
    text += fmt::format("  {:30} {:16} {} {:10} {}{}\n", v.name, to_string(v.shape), v.type, v.role,
                        to_string(v.place),
                        v.gradient.block.empty() ? "" : ", gradient " + to_string(v.gradient));
  text += "\ntape\n";
  for (size_t n = 0; n < all.nodes.size(); ++n) {
    const ListedNode& node = all.nodes[n];
    text += fmt::format("  {:4} {:12} {:30} {:16} <- {}{}{}\n", n, node.op, node.name, to_string(node.shape),
                        fmt::join(node.inputs, ", "), node.saved.empty() ? "" : "  saves ",
                        fmt::join(node.saved, ", "));
  }
  text += "\nprogram\n";
  for (size_t n = 0; n < all.instructions.size(); ++n) {
    const ListedInstruction& i = all.instructions[n];
    text += fmt::format("  {:4} {:8} {:12} {:30}{}\n", n, i.phase, i.op, i.name, text_of(i));
  }
  text += "\nstats\n";
  for (size_t n = 0; n < all.stats.size(); ++n) text += fmt::format("  {:4} {}\n", n, all.stats[n]);
  return text + fmt::format(
                    "\ntotals\n"
                    "  {} parameters of {} numbers, {} values, {} nodes\n"
                    "  {} instructions: {} forward, {} backward, {} update; {} stats\n"
                    "  floats: batch {}, store {}, activations {}, gradients {}, workspace {}\n",
                    all.parameters.size(), all.numbers, all.values.size(), all.nodes.size(),
                    all.instructions.size(), all.forward, all.backward, all.update, all.stats.size(),
                    all.batch, all.store, all.activations, all.gradients, all.workspace);
}

const char* to_string(ChangeKind kind) {
  constexpr const char* kNames[] = {"came", "went", "rewired"};
  return kNames[static_cast<int>(kind)];
}

ProgramChange change_of(const ProgramData& before, const ProgramData& after) {
  const NodeIndex a(before), b(after);
  ProgramChange result;
  // The instructions that went, by the later program's instruction that they followed.
  std::multimap<int32_t, InstructionChange> behind;
  int32_t last = -1;
  for (size_t i = 0; i < before.instructions.size(); ++i) {
    const Instruction& it = before.instructions[i];
    const int32_t there = b.find(it);
    if (there >= 0) {
      last = there;
      continue;
    }
    behind.emplace(last, change_to(ChangeKind::Went, it, static_cast<int32_t>(i), -1, {}));
    ++result.went;
  }
  const auto add_gone = [&](int32_t place) {
    const auto [first, end] = behind.equal_range(place);
    for (auto it = first; it != end; ++it) result.all.push_back(it->second);
  };
  add_gone(-1);
  for (size_t i = 0; i < after.instructions.size(); ++i) {
    const Instruction& it = after.instructions[i];
    const auto index = static_cast<int32_t>(i);
    const int32_t there = a.find(it);
    const std::string words =
        there < 0 ? "" : difference(a, before.instructions[static_cast<size_t>(there)], b, it);
    if (there < 0) {
      result.all.push_back(change_to(ChangeKind::Came, it, -1, index, {}));
      ++result.came;
    } else if (!words.empty()) {
      result.all.push_back(change_to(ChangeKind::Rewired, it, there, index, words));
      ++result.rewired;
    } else {
      ++result.same;
    }
    add_gone(index);
  }
  return result;
}

std::string to_string(const ProgramChange& change) {
  std::vector<std::vector<std::string>> rows;
  for (const InstructionChange& c : change.all)
    rows.push_back({to_string(c.kind), to_string(c.phase), to_string(c.op), c.name, c.words});
  return text_table(rows, "lllll") + fmt::format("{} came, {} went, {} rewired, {} the same\n", change.came,
                                                 change.went, change.rewired, change.same);
}

}  // namespace normscope
