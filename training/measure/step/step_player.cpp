#include "training/measure/step/step_player.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/error.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"

namespace normscope {
namespace {

constexpr size_t kNever = std::numeric_limits<size_t>::max();

size_t at(ValueId v) { return static_cast<size_t>(v); }

bool is_real(const ProgramData& program, TensorId t) {
  return t.value != kNone && program.values[at(t.value)].dtype == DType::F32;
}

Program recorded(Store& store, const StepPlayer::Recorder& record, SealOptions options) {
  Tape tape(store);
  options.loss = record(tape);
  options.backward = true;
  options.reuse_bytes = false;
  options.keep_probabilities = true;
  return seal(tape, options);
}

}  // namespace

StepPlayer::StepPlayer(Store store, const Recorder& record, SealOptions options, const StepInputs& inputs)
    : before_(std::move(store)), store_(before_.clone()), inputs_(inputs) {
  program_.emplace(recorded(store_, record, options));
  executable_ = &program_->executable();
  const ProgramData& program = data();
  value_from_.assign(program.values.size(), kNever);
  gradient_from_.assign(program.values.size(), kNever);
  for (size_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].node < 0) value_from_[v] = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i)
    for (const TensorId t : writes(i)) {
      size_t& from = (t.gradient ? gradient_from_ : value_from_)[at(t.value)];
      from = std::min(from, i + 1);
    }
  // No instruction writes the loss's own gradient: it is one from the first that is executed.
  if (program.loss != kNone) gradient_from_[at(program.loss)] = 1;
}

void StepPlayer::restore_parameters() {
  for (size_t p = 0; p < store_.parameters().size(); ++p)
    for (const Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
      store_.write(static_cast<int32_t>(p), before_.read(static_cast<int32_t>(p), block), block);
  updated_ = false;
}

void StepPlayer::seek(size_t position) {
  if (position > size())
    fail("step player", "position {} of {} instructions: expected one up to {}", position, size(), size());
  if (position < position_) {
    if (updated_) restore_parameters();
    position_ = 0;
  }
  if (position == position_) return;
  for (size_t i = position_; i < position; ++i)
    updated_ = updated_ || data().instructions[i].phase == Phase::Update;
  executable_->run(position_, position, inputs_);
  before_.backend().wait();
  position_ = position;
}

std::vector<TensorId> StepPlayer::reads(size_t instruction) const {
  const Instruction& it = data().instructions[instruction];
  std::vector<TensorId> all;
  const auto add = [&](ValueId v, bool gradient) {
    if (v != kNone) all.push_back({v, gradient});
  };
  if (it.phase != Phase::Backward || it.op == OpKind::Probe) {
    for (size_t k = 0; k < it.in.size(); ++k) add(it.in[k], it.of_gradient && k == 0);
    return all;
  }
  const BackwardReads looked_at = backward_reads(it);
  for (size_t k = 0; k < it.in.size(); ++k)
    if (looked_at.inputs[k]) add(it.in[k], false);
  if (looked_at.saved)
    for (ValueId v : it.saved) add(v, false);
  add(it.out, true);
  return all;
}

std::vector<TensorId> StepPlayer::writes(size_t instruction) const {
  const Instruction& it = data().instructions[instruction];
  std::vector<TensorId> all;
  if (it.op == OpKind::Probe) return all;
  if (it.phase == Phase::Forward) {
    all.push_back({it.out, false});
    for (ValueId v : it.saved) all.push_back({v, false});
  } else if (it.phase == Phase::Backward) {
    for (size_t k = 0; k < it.in.size(); ++k)
      if (it.write[k] != Write::Skip) all.push_back({it.in[k], true});
  } else if (it.op != OpKind::GradNorm && it.op != OpKind::Clip) {
    for (size_t v = 0; v < data().values.size(); ++v)
      if (data().values[v].role == Role::Parameter && data().plan.gradient_offset[v] != kNoOffset)
        all.push_back({static_cast<ValueId>(v), false});
  }
  return all;
}

std::string StepPlayer::name(TensorId tensor) const {
  return (tensor.gradient ? "gradient of " : "") + data().values[at(tensor.value)].name;
}

Shape StepPlayer::shape(TensorId tensor) const { return data().values[at(tensor.value)].shape; }

bool StepPlayer::is_there(TensorId tensor) const {
  return position_ >= (tensor.gradient ? gradient_from_ : value_from_)[at(tensor.value)];
}

const float* StepPlayer::address(TensorId tensor) const {
  const float* p = tensor.gradient ? executable_->gradient(tensor.value) : executable_->value(tensor.value);
  if (p == nullptr) fail("step player", "{} has no memory: expected a tensor of the program", name(tensor));
  return p;
}

std::vector<float> StepPlayer::read(TensorId tensor) const {
  if (!is_real(data(), tensor))
    fail("step player", "{} holds integers: expected read_integers()", name(tensor));
  std::vector<float> values(static_cast<size_t>(shape(tensor).size()));
  const float* from = address(tensor);
  executable_->read(from, values);
  return values;
}

std::vector<int32_t> StepPlayer::read_integers(ValueId value) const {
  const ValueInfo& info = data().values[at(value)];
  if (info.dtype != DType::I32) fail("step player", "{} holds real numbers: expected read()", info.name);
  // Integers are inputs, which are in host memory.
  const auto* from =
      reinterpret_cast<const int32_t*>(executable_->input(data().plan.value_offset[at(value)]));
  return {from, from + info.shape.size()};
}

// Lists the tensors whose squares an instruction adds in single precision. A probe and the gradients' norms
// leave nothing else, and a square overflows long before its number does.
std::vector<TensorId> StepPlayer::squared(size_t instruction) const {
  const Instruction& it = data().instructions[instruction];
  std::vector<TensorId> all;
  if (it.op == OpKind::Probe && it.attributes.as<ProbeSpec>().kind != ProbeKind::Mean)
    all.push_back({it.in[0], it.of_gradient});
  if (it.op == OpKind::GradNorm)
    for (size_t v = 0; v < data().values.size(); ++v)
      if (data().values[v].role == Role::Parameter && data().plan.gradient_offset[v] != kNoOffset)
        all.push_back({static_cast<ValueId>(v), true});
  return all;
}

std::optional<NotFinite> StepPlayer::not_finite_of(size_t instruction) const {
  const auto first = [&](TensorId t, auto is_finite) -> std::optional<NotFinite> {
    const std::vector<float> values = read(t);
    const auto found = std::ranges::find_if_not(values, is_finite);
    if (found == values.end()) return std::nullopt;
    return NotFinite{instruction, t, found - values.begin()};
  };
  for (const TensorId t : writes(instruction))
    if (const auto found = first(t, [](float v) { return std::isfinite(v); })) return found;
  for (const TensorId t : squared(instruction))
    if (const auto found = first(t, [](float v) { return std::isfinite(v * v); })) return found;
  return std::nullopt;
}

std::optional<NotFinite> StepPlayer::seek_not_finite() {
  seek(0);
  for (size_t i = 0; i < size(); ++i) {
    seek(i + 1);
    if (const auto found = not_finite_of(i)) return found;
  }
  return std::nullopt;
}

}  // namespace normscope
