#include "engine/tape/program.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

ValueId find_value(const ProgramData& data, std::string_view name) {
  for (size_t v = 0; v < data.values.size(); ++v)
    if (data.values[v].name == name) return static_cast<ValueId>(v);
  fail("program", "there is no value named '{}' on this tape", name);
}

bool is_reused(const ProgramData& data, ValueId v, bool gradient) {
  const std::vector<bool>& reused = gradient ? data.plan.gradient_reused : data.plan.value_reused;
  return !reused.empty() && reused[static_cast<size_t>(v)];
}

std::span<float> batch_input(const ProgramData& data, Executable& executable, std::string_view name,
                             DType dtype) {
  const ValueId v = find_value(data, name);
  const ValueInfo& info = data.values[static_cast<size_t>(v)];
  if (info.role != Role::Input || info.dtype != dtype)
    fail("program", "'{}' is not a batch input of {} numbers", name,
         dtype == DType::I32 ? "integer" : "real");
  return {executable.input(data.plan.value_offset[static_cast<size_t>(v)]),
          static_cast<size_t>(info.shape.size())};
}

}  // namespace

const char* to_string(Phase phase) {
  constexpr const char* kNames[] = {"forward", "backward", "update"};
  return kNames[static_cast<int>(phase)];
}

Program::Program(ProgramData data, Backend& backend)
    : data_(std::make_unique<ProgramData>(std::move(data))), executable_(backend.lower(*data_)) {}

std::span<int32_t> Program::tokens(std::string_view name) {
  const std::span<float> block = batch_input(*data_, *executable_, name, DType::I32);
  return {reinterpret_cast<int32_t*>(block.data()), block.size()};
}

std::span<float> Program::floats(std::string_view name) {
  return batch_input(*data_, *executable_, name, DType::F32);
}

std::span<const double> Program::stats() const { return executable_->stats(); }

double Program::stat(std::string_view name) const {
  for (size_t i = 0; i < data_->stats.size(); ++i)
    if (data_->stats[i].name == name) return stats()[i];
  fail("program", "there is no stat named '{}'", name);
}

Program::Buffer Program::kept(std::string_view name, bool gradient) const {
  const ValueId v = find_value(*data_, name);
  if (is_reused(*data_, v, gradient))
    fail("program", "{}'{}' gave its memory to later ones: expected {}", gradient ? "the gradient of " : "",
         name, gradient ? "train.reuse_gradients = false" : "a program that keeps its values");
  const float* p = gradient ? executable_->gradient(v) : executable_->value(v);
  if (p == nullptr) fail("program", "'{}' has no {}", name, gradient ? "gradient" : "memory");
  return {p, static_cast<size_t>(data_->values[static_cast<size_t>(v)].shape.size())};
}

std::vector<float> Program::read(std::string_view name, bool gradient) const {
  const Buffer kept = this->kept(name, gradient);
  std::vector<float> host(kept.size);
  executable_->read(kept.at, host);
  return host;
}

void Program::read_part(ValueId value, std::span<float> host, size_t first) const {
  if (is_reused(*data_, value, false)) return;
  if (const float* p = executable_->value(value)) executable_->read(p + first, host);
}

void Program::replay(const StepInputs& inputs) noexcept { executable_->replay(inputs); }

}  // namespace normscope
