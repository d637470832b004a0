// See network.h.
#include "train/network.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"

namespace normscope {
namespace {

constexpr Store::Block kBlocks[] = {Store::Block::Value, Store::Block::M, Store::Block::V};

void copy_parameter(const Store& from, int32_t source, Store& to, int32_t target, bool moments) {
  for (Store::Block block : kBlocks)
    if (block == Store::Block::Value || moments) to.write(target, from.read(source, block), block);
}

bool same_shape(const Store& from, int32_t source, const Store& to, int32_t target) {
  return from.parameters()[static_cast<size_t>(source)].shape == to.parameters()[static_cast<size_t>(target)].shape;
}

// "L03.attn" of "L03.attn.trunk.gain"; empty for any other name.
std::string_view sublayer_of(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : std::string_view{};
}

// Gains or biases ("gain", "bias") of norms that changed their slot.
void carry_moved(const Store& from, Store& to, const std::string& part, bool moments) {
  constexpr std::string_view kSlots[] = {"before", "after", "trunk"};
  const auto name = [&](std::string_view sublayer, std::string_view slot) {
    return fmt::format("{}.{}.{}", sublayer, slot, part);
  };
  std::vector<std::string> done;
  for (const ParameterInfo& info : to.parameters()) {
    std::string sublayer;
    for (std::string_view slot : kSlots)
      if (const auto prefix = sublayer_of(info.name, fmt::format(".{}.{}", slot, part)); !prefix.empty()) sublayer = prefix;
    if (sublayer.empty() || std::find(done.begin(), done.end(), sublayer) != done.end()) continue;
    done.push_back(sublayer);
    std::vector<int32_t> vanished, fresh;
    for (std::string_view slot : kSlots) {
      const int32_t before = from.find(name(sublayer, slot)), now = to.find(name(sublayer, slot));
      if (before >= 0 && now < 0) vanished.push_back(before);
      if (before < 0 && now >= 0) fresh.push_back(now);
    }
    for (size_t i = 0; i < std::min(vanished.size(), fresh.size()); ++i)
      if (same_shape(from, vanished[i], to, fresh[i])) copy_parameter(from, vanished[i], to, fresh[i], moments);
  }
}

bool has_learned_skip(const StackWiring& stack) {
  const auto learned = [](const Wiring& w) { return w.skip.kind == Scale::Kind::LearnedVector; };
  return std::any_of(stack.layers.begin(), stack.layers.end(),
                     [&](const LayerWiring& l) { return learned(l.attention) || learned(l.feed_forward); });
}

void profile(Network& network, const RunSpec& spec, const Task& task, int32_t step) {
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  Batch batch(B, T);
  task.batch(spec.seed, static_cast<uint64_t>(step), Split::Train, B, T, batch.tokens, batch.targets);
  profile_admin(network.store, spec.model, batch.tokens, B, T);
}

std::string without(std::string_view name, std::string_view ending, std::string_view instead) {
  return std::string(name.substr(0, name.size() - ending.size())) + std::string(instead);
}

// "L03.attn.out.mean_square" measures the sub-layer's output, "L03.attn.sum.mean_square" its residual sum.
std::string probed_tensor(std::string_view name) {
  if (name.ends_with(".out.mean_square")) return without(name, ".out.mean_square", " output");
  if (name.ends_with(".sum.mean_square")) return without(name, ".sum.mean_square", " residual sum");
  return std::string(name);
}

}  // namespace

void carry_over(const Store& from, Store& to, bool moments) {
  for (size_t i = 0; i < to.parameters().size(); ++i) {
    const int32_t target = static_cast<int32_t>(i), source = from.find(to.parameters()[i].name);
    if (source >= 0 && same_shape(from, source, to, target)) copy_parameter(from, source, to, target, moments);
  }
  carry_moved(from, to, "gain", moments);
  carry_moved(from, to, "bias", moments);
}

std::vector<FiniteCheck> finite_checks(const ProgramData& program) {
  std::vector<FiniteCheck> checks;
  std::vector<int32_t> parameters;  // places in parameter_order, in the order in which their gradients are written
  const auto note_parameter = [&](ValueId id) {
    if (id == kNone || program.values[static_cast<size_t>(id)].role != Role::Parameter) return;
    const int32_t parameter = program.values[static_cast<size_t>(id)].parameter;
    const auto place = std::find(program.parameter_order.begin(), program.parameter_order.end(), parameter);
    if (place == program.parameter_order.end()) return;
    const int32_t index = static_cast<int32_t>(place - program.parameter_order.begin());
    if (std::find(parameters.begin(), parameters.end(), index) == parameters.end()) parameters.push_back(index);
  };
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op == OpKind::Probe)
      checks.push_back({instruction.stat, instruction.layer, probed_tensor(instruction.name)});
    if (instruction.op == OpKind::SoftmaxXent && instruction.phase == Phase::Forward)
      checks.push_back({program.loss_stat, 0, "loss"});
    if (instruction.phase == Phase::Backward)
      for (ValueId id : instruction.in) note_parameter(id);
  }
  struct Kind {
    int32_t first;
    const char* ending;
    const char* what;
  };
  for (const Kind& kind : {Kind{program.grad_norm_stat, ".grad_norm", " gradient"},
                           Kind{program.update_norm_stat, ".update_norm", " update"},
                           Kind{program.weight_norm_stat, ".weight_norm", ""}})
    for (int32_t index : parameters) {
      const StatInfo& info = program.stats[static_cast<size_t>(kind.first + index)];
      checks.push_back({kind.first + index, info.layer, without(info.name, kind.ending, kind.what)});
    }
  return checks;
}

std::unique_ptr<Network> build_network(const RunSpec& spec, const Task& task, Backend& backend, int32_t step,
                                       const Store* older, const RunSpec* older_spec) {
  auto network = std::make_unique<Network>(backend);
  Tape tape(network->store);
  network->values = record_transformer(
      tape, spec.model, {.batch = spec.train.batch, .sequence = spec.model.sequence, .training = true, .probes = true});
  network->store.materialize(spec.seed);
  bool new_wiring = true;
  if (older) {
    carry_over(*older, network->store, older_spec->train.optimizer == spec.train.optimizer);
    new_wiring = !(older_spec->model.stack() == spec.model.stack());
  }
  if (new_wiring && has_learned_skip(spec.model.stack())) profile(*network, spec, task, step);
  network->program.emplace(
      seal(tape, {.loss = network->values.loss, .backward = true, .optimizer = spec.train.optimizer, .clip = true}));
  network->checks = finite_checks(network->program->data());
  return network;
}

}  // namespace normscope
