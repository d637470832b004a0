#include "training/run/network.h"

#include <algorithm>
#include <string_view>

#include "engine/core/error.h"
#include "engine/tape/seal.h"
#include "training/io/safetensors.h"
#include "training/run/evaluate.h"
#include "training/run/model_formats.h"
#include "training/run/run_record.h"

namespace normscope {
namespace {

void copy_parameter(const Store& from, int32_t source, Store& to, int32_t target, bool moments) {
  for (Store::Block block : kTrainedBlocks)
    if (block == Store::Block::Value || moments) to.write(target, from.read(source, block), block);
}

bool same_shape(const Store& from, int32_t source, const Store& to, int32_t target) {
  return from.parameters()[static_cast<size_t>(source)].shape ==
         to.parameters()[static_cast<size_t>(target)].shape;
}

// "L03.attn" for "L03.attn.stream.gain"; empty for any other name.
std::string_view sublayer_of(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : std::string_view{};
}

// Copies one part ("gain", "bias", "alpha") of norms that changed their slot.
void carry_moved(const Store& from, Store& to, const std::string& part, bool moments) {
  constexpr std::string_view kSlots[] = {"before", "after", "stream"};
  const auto name = [&](std::string_view sublayer, std::string_view slot) {
    return fmt::format("{}.{}.{}", sublayer, slot, part);
  };
  std::vector<std::string> done;
  for (const ParameterInfo& info : to.parameters()) {
    std::string sublayer;
    for (std::string_view slot : kSlots)
      if (const auto prefix = sublayer_of(info.name, fmt::format(".{}.{}", slot, part)); !prefix.empty())
        sublayer = prefix;
    if (sublayer.empty() || std::ranges::find(done, sublayer) != done.end()) continue;
    done.push_back(sublayer);
    std::vector<int32_t> vanished, fresh;
    for (std::string_view slot : kSlots) {
      const int32_t before = from.find(name(sublayer, slot)), now = to.find(name(sublayer, slot));
      if (before >= 0 && now < 0) vanished.push_back(before);
      if (before < 0 && now >= 0) fresh.push_back(now);
    }
    for (size_t i = 0; i < std::min(vanished.size(), fresh.size()); ++i)
      if (same_shape(from, vanished[i], to, fresh[i]))
        copy_parameter(from, vanished[i], to, fresh[i], moments);
  }
}

bool has_learned_skip(const Network& network, const ModelConfig& model) {
  return std::ranges::any_of(network.values.sublayers, [&](const SublayerValues& s) {
    return wiring_of(model, s).skip.profile != Scale::Profile::None;
  });
}

void profile(Network& network, const RunSpec& spec, const Task& task, int32_t step) {
  const Batch batch =
      task.draw(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch, spec.model.sequence);
  profile_admin(network.store, spec.model, record_options(shape_of(batch), false),
                {batch.tokens, batch.source, batch.key_lengths, batch.target_lengths, batch.types});
}

std::string without(std::string_view name, std::string_view ending, std::string_view instead) {
  return std::string(name.substr(0, name.size() - ending.size())) + std::string(instead);
}

// The tensor of a probe, in words: "L03.attn.out.mean_square" is "L03.attn output", "L03.attn.sum.mean_square" the sum.
std::string probed_tensor(std::string_view name) {
  if (name.ends_with(".out.mean_square")) return without(name, ".out.mean_square", " output");
  if (name.ends_with(".sum.mean_square")) return without(name, ".sum.mean_square", " residual sum");
  if (name.ends_with(".gradient_square")) return without(name, ".gradient_square", " gradient");
  return std::string(name);
}

// Divides vectors that a model holds at length one by their lengths, as another model's weights may have any.
void keep_unit(Store& store) {
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& info = store.parameters()[i];
    if (info.init.unit == Init::Unit::None) continue;
    std::vector<float> values = store.read(static_cast<int32_t>(i));
    divide_by_lengths(values, info.shape, info.init.unit);
    store.write(static_cast<int32_t>(i), values);
  }
}

}  // namespace

void transfer_weights(const Store& from, Store& to, bool moments) {
  for (size_t i = 0; i < to.parameters().size(); ++i) {
    const int32_t target = static_cast<int32_t>(i), source = from.find(to.parameters()[i].name);
    if (source >= 0 && same_shape(from, source, to, target))
      copy_parameter(from, source, to, target, moments);
  }
  for (const char* part : {"gain", "bias", "alpha"}) carry_moved(from, to, part, moments);
  keep_unit(to);
}

RecordOptions step_options(const RunSpec& spec, const BatchShape& shape) {
  RecordOptions options = record_options(shape, true, spec.model.memory);
  options.added = spec.train.added;
  return options;
}

Program training_program(Store& store, const RunSpec& spec, const BatchShape& shape, ModelValues* values) {
  Tape tape(store);
  const ModelValues recorded = record_model(tape, spec.model, step_options(spec, shape));
  if (!store.materialized()) store.materialize(spec.seed);
  if (values) *values = recorded;
  return seal(tape, {.loss = recorded.loss,
                     .backward = true,
                     .update = update_op(spec.train.optimizer),
                     .clip = true,
                     .reuse_bytes = spec.train.reuse_gradients,
                     .keep_probabilities = false});
}

Program& Network::program_for(const BatchShape& wanted, const RunSpec& spec) {
  if (wanted == shape) return *program;
  auto found = others.find(wanted);
  if (found == others.end()) found = others.emplace(wanted, training_program(store, spec, wanted)).first;
  return found->second;
}

int32_t load_weights(const std::string& path, Store& store) {
  if (const ModelFormat* format = format_of_weights(path)) return format->fill(path, store);
  const SafetensorsFile file = SafetensorsFile::load(path);
  int32_t fitted = 0;
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& info = store.parameters()[i];
    if (!file.contains(info.name)) continue;
    const TensorShape shape(info.shape.dim, info.shape.dim + info.shape.rank);
    if (file.shape(info.name) != shape) {
      // Another set of classes or another length is a new task; anything else is another model.
      if (info.name.starts_with("class.") || info.name.ends_with("emb.positions") || info.name == "distances")
        continue;
      fail("train.init_from", "{} has {} in another shape: expected a model of the same sizes", path,
           info.name);
    }
    store.write(static_cast<int32_t>(i), file.floats(info.name));
    ++fitted;
  }
  if (fitted == 0)
    fail("train.init_from", "{} has no weight that fits this model: expected a run of a like model", path);
  keep_unit(store);
  return fitted;
}

std::vector<FiniteCheck> finite_checks(const ProgramData& program) {
  std::vector<FiniteCheck> checks;
  std::vector<int32_t> parameters;  // places in parameter_order, in the order of writing their gradients
  const auto note_parameter = [&](ValueId id) {
    if (id == kNone || program.values[static_cast<size_t>(id)].role != Role::Parameter) return;
    const int32_t parameter = program.values[static_cast<size_t>(id)].parameter;
    const auto place = std::ranges::find(program.parameter_order, parameter);
    if (place == program.parameter_order.end()) return;
    const int32_t index = static_cast<int32_t>(place - program.parameter_order.begin());
    if (std::ranges::find(parameters, index) == parameters.end()) parameters.push_back(index);
  };
  for (const Instruction& instruction : program.instructions) {
    if (instruction.stat == program.loss_stat)
      checks.push_back({program.loss_stat, 0, "loss"});
    else if (instruction.op == OpKind::Probe)
      checks.push_back({instruction.stat, instruction.layer, probed_tensor(instruction.name)});
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
  network->shape =
      task.shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch, spec.model.sequence);
  network->program.emplace(training_program(network->store, spec, network->shape, &network->values));
  if (!network->values.sublayers.empty())
    network->measured.emplace(network->store, spec.model, measured_row(task, spec.model.sequence));
  network->updates.emplace(network->program->data());
  bool new_wiring = true;
  if (older) {
    transfer_weights(*older, network->store,
                     shares_moments(older_spec->train.optimizer, spec.train.optimizer));
    new_wiring = !same_wiring(older_spec->model, spec.model);
  }
  if (new_wiring && has_learned_skip(*network, spec.model)) profile(*network, spec, task, step);
  network->checks = finite_checks(network->program->data());
  return network;
}

}  // namespace normscope
