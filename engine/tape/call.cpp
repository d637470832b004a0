#include "engine/tape/call.h"

#include <algorithm>

#include "engine/ops/registry.h"
#include "engine/tape/store.h"

namespace normscope {

static_assert(std::ranges::all_of(kOpTraits, [](const OpTraits& op) { return op.inputs <= kMaxInputs; }),
              "an op of ops.def has more inputs than a Call: raise kMaxInputs");

Call bind(const ProgramData& program, const Instruction& i, const Addresses& at, double* stats) {
  const auto shape = [&](ValueId v) { return program.values[static_cast<size_t>(v)].shape; };
  const auto value = [&](ValueId v) { return v == kNone ? Tensor{} : Tensor{at.value(v), shape(v)}; };
  const auto gradient = [&](ValueId v) { return v == kNone ? Tensor{} : Tensor{at.gradient(v), shape(v)}; };
  const auto stat = [&](int32_t index) { return index < 0 || !stats ? nullptr : stats + index; };
  Call call{};
  call.op = i.op;
  call.phase = i.phase;
  call.attributes = i.attributes;
  for (size_t k = 0; k < i.in.size(); ++k) {
    call.in[k] = i.of_gradient && k == 0 ? gradient(i.in[k]) : value(i.in[k]);
    if (k < i.write.size() && i.write[k] != Write::Skip) {
      call.din[k] = gradient(i.in[k]);
      call.write[k] = i.write[k];
    }
  }
  call.out = value(i.out);
  if (i.phase == Phase::Backward) call.dout = gradient(i.out);
  for (size_t k = 0; k < i.saved.size(); ++k) call.saved[k] = value(i.saved[k]);
  call.stats = stat(i.stat);
  if (i.phase == Phase::Update) {
    call.grad_norm = stat(program.grad_norm_stat);
    call.update_norm = stat(program.update_norm_stat);
    call.weight_norm = stat(program.weight_norm_stat);
    call.total_norm = stat(program.total_grad_norm_stat);
    call.clip_factor = stat(program.clip_stat);
  }
  return call;
}

std::vector<ParameterCall> bind_parameters(const ProgramData& program, const Addresses& at) {
  std::vector<ParameterCall> parameters;
  const Store& store = *program.store;
  int64_t matrices = 0;
  for (int32_t p : program.parameter_order) {
    const ParameterInfo& info = store.parameters()[static_cast<size_t>(p)];
    float* d = nullptr;
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].parameter == p) d = at.gradient(static_cast<ValueId>(v));
    const auto place = [&](Store::Block block) -> float* {
      const bool there = block == Store::Block::Value || store.has_moments();
      return there ? store.block(block).data() + info.offset : nullptr;
    };
    parameters.push_back(
        {place(Store::Block::Value), d, place(Store::Block::M), place(Store::Block::V), info.shape.size()});
    parameters.back().steps = info.steps;
    if (!info.hidden) continue;
    parameters.back().rows = info.shape[0];
    parameters.back().cols = info.shape[1];
    parameters.back().at = matrices;
    matrices += static_cast<int64_t>(info.shape.padded());
  }
  return parameters;
}

}  // namespace normscope
