#include "training/measure/step/lone_instruction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/core/error.h"
#include "engine/cpu/denormals.h"

namespace normscope {

void LoneInstruction::prepare(Shape out, const std::vector<Shape>& saved,
                              std::vector<float> output_gradient) {
  out_shape_ = out;
  saved_shapes_ = saved;
  dy_ = std::move(output_gradient);
  for (const Input& input : inputs_)
    in_.push_back(input.shape.rank > 0 ? cpu::allocate_block(input.shape.padded()) : cpu::Block{});
  for (const Shape& shape : saved) saved_.push_back(cpu::allocate_block(shape.padded()));
  out_ = cpu::allocate_block(out.padded());
  dout_ = cpu::allocate_block(out.padded());
  std::copy(dy_.begin(), dy_.end(), dout_.get());
  scratch_ = cpu::allocate_block(cpu::kScratchFloats);
}

void LoneInstruction::write_inputs() {
  for (size_t k = 0; k < inputs_.size(); ++k) {
    const Input& input = inputs_[k];
    if (!in_[k]) continue;
    if (input.integers.empty())
      std::memcpy(in_[k].get(), input.numbers.data(), input.numbers.size() * sizeof(float));
    else
      std::memcpy(in_[k].get(), input.integers.data(), input.integers.size() * sizeof(int32_t));
  }
}

Call LoneInstruction::call_of(Phase phase) {
  Call call{};
  call.op = node_.op;
  call.phase = phase;
  call.attributes = node_.attributes;
  for (size_t k = 0; k < inputs_.size(); ++k)
    if (in_[k]) call.in[k] = {in_[k].get(), inputs_[k].shape};
  call.out = {out_.get(), out_shape_};
  for (size_t k = 0; k < saved_.size(); ++k) call.saved[k] = {saved_[k].get(), saved_shapes_[k]};
  if (phase == Phase::Backward) call.dout = {dout_.get(), out_shape_};
  call.stats = stats_.data();
  return call;
}

void LoneInstruction::run(const cpu::Stages& stages, const Call& planned) {
  const cpu::FlushDenormals scope;
  const cpu::Block workspace = cpu::allocate_block(std::max<size_t>(stages.workspace_floats, 16));
  Call call = planned;
  call.workspace = workspace.get();
  call.extra = stages.plans;
  call.kept = kept_.get();
  for (int s = 0; s < stages.count; ++s)
    for (int64_t chunk = 0; chunk < stages.stage[s].chunks; ++chunk)
      cpu::run_chunk(stages.stage[s], call, step_, chunk, {scratch_.get()});
}

std::vector<float> LoneInstruction::forward() {
  write_inputs();
  const Call call = call_of(Phase::Forward);
  const cpu::Stages stages = cpu::kernels_of(node_.op).forward(call);
  if (!kept_ && stages.kept_floats > 0) kept_ = cpu::allocate_block(stages.kept_floats);
  run(stages, call);
  return {out_.get(), out_.get() + out_shape_.size()};
}

std::vector<float> LoneInstruction::gradient(size_t k) {
  forward();
  const auto plan = cpu::kernels_of(node_.op).backward;
  if (!plan) fail("lone instruction", "{} has no backward kernel", to_string(node_.op));
  Call call = call_of(Phase::Backward);
  const cpu::Block gradient = cpu::allocate_block(inputs_[k].shape.padded());
  call.din[k] = {gradient.get(), inputs_[k].shape};
  call.write[k] = Write::Assign;
  run(plan(call), call);
  return {gradient.get(), gradient.get() + inputs_[k].shape.size()};
}

}  // namespace normscope
