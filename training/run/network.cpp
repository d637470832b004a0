#include "training/run/network.h"

#include <algorithm>
#include <numbers>
#include <string_view>

#include "engine/core/error.h"
#include "engine/io/weights.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"
#include "training/run/checkpoint.h"
#include "training/run/evaluate.h"
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
  const std::vector<ValueId> heard = heard_values(tape);
  return seal(tape, {.loss = recorded.loss,
                     .backward = true,
                     .update = update_op(spec.train.optimizer),
                     .clip = true,
                     .reuse_bytes = spec.train.reuse_gradients,
                     .kept_gradients = heard,
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
  const LoadReport report = load(store, path, {.optimizer = false, .partial = true});
  // Another set of classes or another length is a new task; anything else is another model.
  for (const std::string& name : report.other_shape)
    if (!name.starts_with("class.") && !name.ends_with("emb.positions") && name != "distances")
      fail("train.init_from", "{} has {} in another shape: expected a model of the same sizes", path, name);
  const size_t fitted = store.parameters().size() - report.missing.size() - report.other_shape.size();
  if (fitted == 0)
    fail("train.init_from", "{} has no weight that fits this model: expected a run of a like model", path);
  keep_unit(store);
  return static_cast<int32_t>(fitted);
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
  network->tokens.emplace(network->program->data());
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

namespace {

const Shape& shape_in(const Program& program, ValueId value) {
  return program.data().values[static_cast<size_t>(value)].shape;
}

/// Replaces the old positions by the last `memory` positions of old (memory) ∘ next (segment).
void shift_row(std::span<float> old, std::span<const float> next) {
  const size_t taken = std::min(old.size(), next.size());
  std::copy(old.begin() + static_cast<std::ptrdiff_t>(taken), old.end(), old.begin());
  std::copy(next.end() - static_cast<std::ptrdiff_t>(taken), next.end(),
            old.end() - static_cast<std::ptrdiff_t>(taken));
}

/// Copies the weights by name; the table of distances has the length that this model's memory needs.
Store with_memory(const Store& weights, const ModelConfig& model, const BatchShape& shape, uint64_t seed) {
  Store store(weights.backend());
  Tape tape(store);
  record_transformer(tape, model, record_options(shape, false, model.memory));
  store.materialize(seed);
  transfer_weights(weights, store, false);
  return store;
}

/// How many lengths and states a specification's memory has in a run of `batch` rows.
std::pair<size_t, size_t> memory_size(const ModelConfig& model, int32_t batch) {
  if (model.memory == 0) return {};
  const auto rows = static_cast<size_t>(batch);
  return {rows, rows * static_cast<size_t>(model.memory) * static_cast<size_t>(model.d_model) *
                    static_cast<size_t>(model.layers)};
}

}  // namespace

void SegmentMemory::fill(Program& program, std::span<const LayerMemory> layers, bool goes_on) {
  if (layers.empty()) return;
  const std::span<int32_t> lengths = program.tokens("memory_lengths");
  size_t states = 0;
  for (const LayerMemory& layer : layers)
    states += static_cast<size_t>(shape_in(program, layer.input).size());
  // States that do not count are zero, so that a memory that was never filled has a single value.
  if (!goes_on || state_.lengths.size() != lengths.size() || state_.states.size() != states) {
    state_.lengths.assign(lengths.size(), 0);
    state_.states.assign(states, 0.0f);
  }
  std::ranges::copy(state_.lengths, lengths.begin());
  auto from = state_.states.begin();
  for (const LayerMemory& layer : layers) {
    const std::span<float> to = program.floats(layer.name);
    std::copy_n(from, to.size(), to.begin());
    from += static_cast<std::ptrdiff_t>(to.size());
  }
}

void SegmentMemory::take(const Program& program, std::span<const LayerMemory> layers) {
  if (layers.empty()) return;
  auto at = state_.states.begin();
  for (const LayerMemory& layer : layers) {
    const Shape &memory = shape_in(program, layer.input), &segment = shape_in(program, layer.states);
    segment_.resize(static_cast<size_t>(segment.size()));
    program.read_part(layer.states, segment_);
    const size_t each = static_cast<size_t>(memory[1] * memory[2]),
                 next = static_cast<size_t>(segment[1] * segment[2]);
    for (size_t row = 0; row < static_cast<size_t>(memory[0]); ++row) {
      shift_row({at, each}, std::span(segment_).subspan(row * next, next));
      at += static_cast<std::ptrdiff_t>(each);
    }
  }
  const Shape &memory = shape_in(program, layers[0].input), &segment = shape_in(program, layers[0].states);
  for (int32_t& length : state_.lengths)
    length = static_cast<int32_t>(std::min<int64_t>(memory[1], length + segment[1]));
}

void add_memory(SafetensorsWriter& file, const MemoryState& state) {
  if (state.lengths.empty()) return;
  file.add("memory/lengths", {static_cast<int64_t>(state.lengths.size())}, std::span(state.lengths));
  file.add("memory/states", {static_cast<int64_t>(state.states.size())}, std::span(state.states));
}

MemoryState memory_from(const SafetensorsFile& file) {
  if (!file.contains("memory/lengths")) return {};
  return {file.int32s("memory/lengths"), file.floats("memory/states")};
}

void require_memory_of(const std::string& where, const MemoryState& state, const ModelConfig& model,
                       int32_t batch) {
  if (state.lengths.empty() && state.states.empty()) return;
  const auto [lengths, states] = memory_size(model, batch);
  if (state.lengths.size() != lengths || state.states.size() != states)
    fail(where, "memory has {} lengths and {} states: expected {} and {}, or none", state.lengths.size(),
         state.states.size(), lengths, states);
  for (const int32_t length : state.lengths)
    if (length < 0 || length > model.memory)
      fail(where, "memory has a row of {} positions: expected 0 to {}", length, model.memory);
}

double TextLoss::bits() const { return loss / std::numbers::ln2; }

TextLoss text_loss(const Store& weights, const RunSpec& spec, const Task& task, int32_t memory,
                   int32_t most_batches, const std::function<bool(int32_t)>& go_on) {
  ModelConfig model = spec.model;
  model.memory = memory;
  validate(model);
  const int32_t T = model.sequence, most_rows = task.consecutive_rows(Split::Validation, T);
  if (most_rows < 1)
    fail("evaluate", "the validation data does not go on in segments of {}: expected consecutive text", T);
  const int32_t B = std::min(spec.train.batch, most_rows);
  if (memory > 0 && !task.goes_on(2, Split::Validation, B, T))
    fail(
        "evaluate",
        "the validation text has one segment of {} for each of {} rows: expected a longer text, or --memory 0",
        T, B);
  const BatchShape shape = task.shape(spec.seed, 1, Split::Validation, B, T);
  Store store = with_memory(weights, model, shape, spec.seed);
  std::vector<LayerMemory> layers;
  Program program = evaluation_program(store, model, shape, {}, &layers);
  SegmentMemory remembered;
  TextLoss result;
  double sum = 0;
  for (int32_t i = 1; i <= most_batches; ++i) {
    const auto step = static_cast<uint64_t>(i);
    const bool goes_on = task.goes_on(step, Split::Validation, B, T);
    if ((i > 1 && !goes_on) || (go_on && !go_on(i - 1))) break;
    const BatchView to = inputs_of(program, shape);
    task.fill(spec.seed, step, Split::Validation, B, T, to);
    remembered.fill(program, layers, goes_on);
    program.replay({});
    remembered.take(program, layers);
    const int64_t targets = std::ranges::count_if(to.targets, [](int32_t t) { return t >= 0; });
    sum += program.loss() * static_cast<double>(targets);
    result.targets += targets;
    result.batches = i;
  }
  if (result.targets > 0) result.loss = sum / static_cast<double>(result.targets);
  return result;
}

}  // namespace normscope
