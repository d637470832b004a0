#include "engine/tape/seal.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/core/error.h"
#include "engine/tape/store.h"

namespace normscope {
namespace passes {
namespace {

bool is_probe(const Instruction& i) { return traits_of(i.op).duty == Duty::Probe; }

/// Whether a gradient of the node's output can pass to its input k.
bool passes_to(const Node& node, size_t k) {
  return node.in[k] != kNone && (traits_of(node.op).constants >> k & 1) == 0;
}

Instruction instruction_of(const Tape& tape, int32_t index, Phase phase) {
  const Node& node = tape.nodes()[static_cast<size_t>(index)];
  Instruction i{node};
  i.phase = phase;
  i.node = index;
  return i;
}

}  // namespace

std::vector<bool> mark_gradients(const Tape& tape, ValueId loss) {
  const size_t n = tape.values().size();
  std::vector<bool> asked(n, false), reached(n, false), needed(n, false);
  for (size_t v = 0; v < n; ++v) {
    const ValueInfo& info = tape.values()[v];
    asked[v] = info.role == Role::Parameter
                   ? tape.store().parameters()[static_cast<size_t>(info.parameter)].trainable
                   : info.gradient;
  }
  for (const Node& node : tape.nodes())  // forward: does it depend on something whose gradient is asked for?
    for (size_t k = 0; k < node.in.size(); ++k)
      if (passes_to(node, k) && asked[static_cast<size_t>(node.in[k])])
        asked[static_cast<size_t>(node.out)] = true;
  if (loss == kNone) return needed;
  reached[static_cast<size_t>(loss)] = true;
  // backward: does the loss depend on it?
  for (auto node = tape.nodes().rbegin(); node != tape.nodes().rend(); ++node)
    if (reached[static_cast<size_t>(node->out)])
      for (size_t k = 0; k < node->in.size(); ++k)
        if (passes_to(*node, k)) reached[static_cast<size_t>(node->in[k])] = true;
  for (size_t v = 0; v < n; ++v) needed[v] = asked[v] && reached[v];
  return needed;
}

std::vector<Instruction> emit_forward(const Tape& tape) {
  std::vector<Instruction> out;
  for (size_t i = 0; i < tape.nodes().size(); ++i)
    out.push_back(instruction_of(tape, static_cast<int32_t>(i), Phase::Forward));
  return out;
}

std::vector<Instruction> emit_backward(const Tape& tape, const std::vector<bool>& needs_gradient,
                                       ValueId loss) {
  std::vector<Instruction> out;
  std::vector<bool> written(tape.values().size(), false);
  if (loss == kNone || !needs_gradient[static_cast<size_t>(loss)]) return out;
  written[static_cast<size_t>(loss)] = true;
  for (size_t n = tape.nodes().size(); n-- > 0;) {
    const Node& node = tape.nodes()[n];
    if (!written[static_cast<size_t>(node.out)]) continue;  // no gradient arrives here
    Instruction backward = instruction_of(tape, static_cast<int32_t>(n), Phase::Backward);
    bool any = false;
    for (size_t k = 0; k < node.in.size(); ++k) {
      const ValueId v = node.in[k];
      Write mode = Write::Skip;
      if (passes_to(node, k) && needs_gradient[static_cast<size_t>(v)]) {
        mode = written[static_cast<size_t>(v)] ? Write::Add : Write::Assign;
        written[static_cast<size_t>(v)] = true;
        any = true;
      }
      backward.write.push_back(mode);
    }
    if (any) out.push_back(std::move(backward));
  }
  return out;
}

std::vector<Instruction> update_instructions(const SealOptions& options, std::span<const Node> after) {
  std::vector<Instruction> out;
  const auto append = [&](OpKind op) {
    Instruction i;
    i.op = op;
    i.phase = Phase::Update;
    i.name = to_string(op);
    out.push_back(std::move(i));
  };
  append(op_for(Duty::GradientNorms));
  if (options.clip) append(op_for(Duty::Clip));
  if (options.update == kNoOp) return out;
  append(options.update);
  for (const Node& node : after) {
    out.push_back(Instruction{node});
    out.back().phase = Phase::Update;
  }
  return out;
}

std::vector<Instruction> place_probes(const Tape& tape, std::vector<Instruction> instructions, ValueId loss) {
  std::vector<ProbeRequest> requests = tape.probes();
  const int32_t writer = loss == kNone ? -1 : tape.value(loss).node;
  if (writer >= 0 && !traits_of(tape.nodes()[static_cast<size_t>(writer)].op).measures)
    requests.push_back({.name = "loss", .value = loss});
  // How many instructions complete a tensor: up to the last that writes it, none where it is given.
  std::map<ValueId, size_t> value_done, gradient_done;
  for (size_t v = 0; v < tape.values().size(); ++v)
    if (tape.values()[v].node < 0) value_done[static_cast<ValueId>(v)] = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& it = instructions[i];
    if (it.phase == Phase::Forward) {
      value_done[it.out] = i + 1;
      for (ValueId v : it.saved) value_done[v] = i + 1;
    } else if (it.phase == Phase::Backward) {
      for (size_t k = 0; k < it.in.size(); ++k)
        if (it.write[k] != Write::Skip) gradient_done[it.in[k]] = i + 1;
    }
  }
  std::multimap<size_t, Instruction> after;
  for (const ProbeRequest& request : requests) {
    const auto& done = request.of_gradient ? gradient_done : value_done;
    const auto it = done.find(request.value);
    if (it == done.end()) {
      if (request.of_gradient && gradient_done.empty()) continue;  // a program without backward
      fail("probe " + request.name, "{} is never written: expected a value of this tape that has a gradient",
           tape.value(request.value).name);
    }
    Instruction probe;
    probe.op = op_for(Duty::Probe);
    probe.phase = it->second == 0 ? Phase::Forward : instructions[it->second - 1].phase;
    probe.layer = request.layer;
    probe.name = request.name;
    probe.attributes = request.attributes;
    probe.in = {request.value};
    if (request.lengths != kNone) probe.in.push_back(request.lengths);
    probe.of_gradient = request.of_gradient;
    after.emplace(it->second, std::move(probe));
  }
  std::vector<Instruction> out;
  for (size_t i = 0; i <= instructions.size(); ++i) {
    if (i > 0) out.push_back(std::move(instructions[i - 1]));
    const auto [first, last] = after.equal_range(i);
    for (auto it = first; it != last; ++it) out.push_back(std::move(it->second));
  }
  return out;
}

void lay_out_stats(const Tape& tape, const std::vector<bool>& needs_gradient, ProgramData& program) {
  const auto add = [&](std::string name, int32_t layer) {
    program.stats.push_back({std::move(name), layer});
    return static_cast<int32_t>(program.stats.size()) - 1;
  };
  program.loss_stat = add("loss", 0);
  program.total_grad_norm_stat = add("total.grad_norm", 0);
  program.clip_stat = add("clip.factor", 0);
  for (const ValueInfo& value : tape.values())
    if (value.role == Role::Parameter && needs_gradient[static_cast<size_t>(&value - tape.values().data())])
      program.parameter_order.push_back(value.parameter);
  std::ranges::sort(program.parameter_order);
  const auto add_norms = [&](const char* suffix) {
    const int32_t first = static_cast<int32_t>(program.stats.size());
    for (int32_t p : program.parameter_order) {
      const ParameterInfo& info = program.store->parameters()[static_cast<size_t>(p)];
      add(info.name + suffix, info.layer);
    }
    return first;
  };
  program.grad_norm_stat = add_norms(".grad_norm");
  program.update_norm_stat = add_norms(".update_norm");
  program.weight_norm_stat = add_norms(".weight_norm");
  for (Instruction& i : program.instructions) {
    if (!traits_of(i.op).measures || (i.phase == Phase::Backward && !is_probe(i))) continue;
    const bool is_loss = program.loss == kNone || is_probe(i) ? i.name == "loss" : i.out == program.loss;
    i.stat = is_loss ? program.loss_stat : add(i.name, i.layer);
  }
}

MemoryPlan plan_memory(const Tape& tape, const std::vector<bool>& needs_gradient, bool keep_probabilities) {
  MemoryPlan plan;
  const size_t n = tape.values().size();
  plan.value_offset.assign(n, kNoOffset);
  plan.gradient_offset.assign(n, kNoOffset);
  for (size_t v = 0; v < n; ++v) {
    const ValueInfo& info = tape.values()[v];
    const size_t floats = info.shape.padded();
    if (!keep_probabilities && info.role == Role::Saved &&
        traits_of(tape.nodes()[static_cast<size_t>(info.node)].op).saves_for_inspection)
      continue;
    if (info.role == Role::Parameter) {
      plan.value_offset[v] = tape.store().parameters()[static_cast<size_t>(info.parameter)].offset;
    } else {
      size_t& block = info.role == Role::Input ? plan.inputs : plan.activations;
      plan.value_offset[v] = block;
      block += floats;
    }
    if (needs_gradient[v]) {
      plan.gradient_offset[v] = plan.gradients;
      plan.gradients += floats;
    }
  }
  return plan;
}

namespace {

/// From the instruction that first writes a value to the last that reads it, both ends included.
struct Lifetime {
  ValueId value = kNone;
  size_t first = ~size_t{0}, last = 0, floats = 0;
};

/// The lifetimes of all values or gradients that are written, in order of their first write.
std::vector<Lifetime> lifetimes(const Tape& tape, const std::vector<Instruction>& instructions,
                                bool of_gradients) {
  std::vector<Lifetime> of(tape.values().size());
  const auto use = [&](ValueId v, size_t instruction, bool writes) {
    if (v == kNone) return;
    Lifetime& l = of[static_cast<size_t>(v)];
    if (writes) l.first = std::min(l.first, instruction);
    l.last = instruction;
  };
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& it = instructions[i];
    if (is_probe(it)) {
      if (it.of_gradient == of_gradients) use(it.in[0], i, false);
    } else if (of_gradients && it.phase == Phase::Backward) {
      use(it.out, i, false);
      for (size_t k = 0; k < it.in.size(); ++k)
        if (it.write[k] != Write::Skip) use(it.in[k], i, true);
    } else if (!of_gradients && it.phase == Phase::Forward) {
      for (ValueId v : it.in) use(v, i, false);
      use(it.out, i, true);
      for (ValueId v : it.saved) use(v, i, true);
    }
  }
  for (size_t v = 0; v < of.size(); ++v) {
    of[v].value = static_cast<ValueId>(v);
    of[v].floats = tape.values()[v].shape.padded();
  }
  std::erase_if(of, [](const Lifetime& l) { return l.first > l.last; });
  std::ranges::stable_sort(of, {}, &Lifetime::first);
  return of;
}

/// Gives each value the lowest gap, from `base` on, between those alive at the same time. Returns the end of all.
size_t pack(const std::vector<Lifetime>& shared, size_t base, std::vector<size_t>& offsets) {
  const auto offset = [&](const Lifetime& l) -> size_t& { return offsets[static_cast<size_t>(l.value)]; };
  std::vector<Lifetime> alive;  // by offset
  size_t end = base;
  for (const Lifetime& l : shared) {
    std::erase_if(alive, [&](const Lifetime& other) { return other.last < l.first; });
    size_t at = base;
    auto place = alive.begin();
    for (; place != alive.end() && offset(*place) < at + l.floats; ++place)
      at = offset(*place) + place->floats;
    offset(l) = at;
    alive.insert(place, l);
    end = std::max(end, at + l.floats);
  }
  return end;
}

}  // namespace

void share_gradient_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan,
                           std::span<const ValueId> kept, bool keep_parameters) {
  std::vector<Lifetime> shared = lifetimes(tape, instructions, true);
  std::erase_if(shared, [&](const Lifetime& l) {
    const ValueInfo& value = tape.value(l.value);
    return (keep_parameters && value.role == Role::Parameter) || value.gradient ||
           std::ranges::find(kept, l.value) != kept.end();
  });
  plan.gradient_reused.assign(tape.values().size(), false);
  for (const Lifetime& l : shared) plan.gradient_reused[static_cast<size_t>(l.value)] = true;
  plan.gradients = 0;
  for (size_t v = 0; v < plan.gradient_offset.size(); ++v) {
    if (plan.gradient_offset[v] == kNoOffset || plan.gradient_reused[v]) continue;
    plan.gradient_offset[v] = plan.gradients;
    plan.gradients += tape.values()[v].shape.padded();
  }
  plan.gradients = pack(shared, plan.gradients, plan.gradient_offset);
}

void share_value_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan) {
  std::vector<Lifetime> shared = lifetimes(tape, instructions, false);
  std::erase_if(shared, [&](const Lifetime& l) {  // left out by the plan
    return plan.value_offset[static_cast<size_t>(l.value)] == kNoOffset;
  });
  plan.value_reused.assign(tape.values().size(), false);
  for (const Lifetime& l : shared)
    plan.value_reused[static_cast<size_t>(l.value)] = l.last + 1 < instructions.size();
  plan.activations = pack(shared, 0, plan.value_offset);
}

void check_sites(const Tape& tape) {
  std::map<uint32_t, std::string> sites;
  for (const Node& node : tape.nodes()) {
    if (node.site == 0) continue;
    const auto [it, fresh] = sites.emplace(node.site, node.name);
    if (!fresh) fail("seal", "dropout sites {} and {} hash alike: rename one", it->second, node.name);
  }
}

void check_supported(const std::vector<Instruction>& instructions, const Backend& backend) {
  std::set<std::string> missing;
  for (const Instruction& i : instructions)
    if (!backend.supports(i.op)) missing.insert(to_string(i.op));
  if (missing.empty()) return;
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  fail("seal", "the {} backend has no kernels for: {}", backend.name(), names);
}

}  // namespace passes

namespace {

void check_options(const Tape& tape, const SealOptions& options) {
  if (tape.nodes().empty()) fail("seal", "nothing is recorded: expected at least one op");
  if (options.update != kNoOp && traits_of(options.update).duty != Duty::Update)
    fail("seal", "{} does not update parameters: expected an op that does, or kNoOp",
         to_string(options.update));
  for (const ValueId v : options.kept_gradients) tape.value(v, "seal", "a kept gradient");
  if (options.loss == kNone) return;
  if (const ValueInfo& loss = tape.value(options.loss, "seal", "the loss"); loss.shape.size() != 1)
    fail("seal", "the loss {} has {} numbers: expected one", loss.name, loss.shape.size());
}

/// Whether a parameter has a gradient.
bool trains(const Tape& tape, const std::vector<bool>& needs_gradient) {
  for (size_t v = 0; v < needs_gradient.size(); ++v)
    if (needs_gradient[v] && tape.values()[v].role == Role::Parameter) return true;
  return false;
}

}  // namespace

Program seal(const Tape& tape, const SealOptions& options) {
  check_options(tape, options);
  const bool materialized = tape.store().materialized();
  if (!materialized && !tape.store().seed_at_seal())
    fail("seal", "the Store has no memory yet: expected Store::materialize() first");
  const bool backward = options.backward && options.loss != kNone;
  if (backward && options.update != kNoOp && materialized && !tape.store().has_moments())
    fail("seal", "the Store has values alone: expected Store::materialize() for a step that updates them");
  const std::vector<bool> needs_gradient = passes::mark_gradients(tape, backward ? options.loss : kNone);
  if (backward && options.update != kNoOp && !trains(tape, needs_gradient))
    fail("seal", "the loss {} depends on no trainable parameter: expected one, or update = kNoOp",
         tape.value(options.loss).name);
  passes::check_sites(tape);

  const bool keep_parameters = options.keep_parameter_gradients || options.update != kNoOp;
  ProgramData program;
  program.store = tape.store().share();
  program.tape = tape.number();
  program.updates = backward && options.update != kNoOp;
  program.clips = program.updates && options.clip;
  program.values = tape.values();
  program.nodes = tape.nodes();
  program.loss = options.loss;
  program.instructions = passes::emit_forward(tape);
  if (backward) {
    for (Instruction& i : passes::emit_backward(tape, needs_gradient, options.loss))
      program.instructions.push_back(std::move(i));
    if (keep_parameters)
      for (Instruction& i : passes::update_instructions(options, tape.after_update()))
        program.instructions.push_back(std::move(i));
  }
  program.instructions = passes::place_probes(tape, std::move(program.instructions), options.loss);
  passes::check_supported(program.instructions, tape.store().backend());
  passes::lay_out_stats(tape, needs_gradient, program);
  const bool read_again = backward && !tape.store().backend().recomputes_probabilities();
  const bool keeps = options.keep_probabilities || read_again;
  program.plan = passes::plan_memory(tape, needs_gradient, keeps);
  if (options.reuse_bytes && tape.store().backend().in_order()) {
    program.plan.shared = true;
    if (backward)
      passes::share_gradient_memory(tape, program.instructions, program.plan, options.kept_gradients,
                                    keep_parameters);
    else
      passes::share_value_memory(tape, program.instructions, program.plan);
  }
  if (!materialized) tape.store().materialize(*tape.store().seed_at_seal());  // after all checks
  return Program(std::move(program), tape.store().backend());
}

}  // namespace normscope
