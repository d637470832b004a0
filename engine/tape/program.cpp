#include "engine/tape/program.h"

#include <algorithm>
#include <cmath>

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

Program& Program::operator=(Program&& other) noexcept {
  executable_ = std::move(other.executable_);  // first, as the old one refers to the old data
  data_ = std::move(other.data_);
  return *this;
}

void Program::refuse_moved() {
  fail("program", "it was moved away: expected the Program that has its memory");
}

std::span<int32_t> Program::tokens(std::string_view name) {
  const std::span<float> block = batch_input(data(), running(), name, DType::I32);
  return {reinterpret_cast<int32_t*>(block.data()), block.size()};
}

std::span<float> Program::floats(std::string_view name) {
  return batch_input(data(), running(), name, DType::F32);
}

std::span<const double> Program::stats() const { return running().stats(); }

double Program::stat(std::string_view name) const {
  for (size_t i = 0; i < data().stats.size(); ++i)
    if (data_->stats[i].name == name) return stats()[i];
  fail("program", "there is no stat named '{}'", name);
}

double Program::loss() const {
  const auto measures = [this](const Instruction& i) { return i.stat == data_->loss_stat; };
  if (data().loss == kNone && std::ranges::none_of(data_->instructions, measures))
    fail("program", "it has no loss: expected SealOptions::loss");
  return stats()[static_cast<size_t>(data_->loss_stat)];
}

Program::Buffer Program::kept(std::string_view name, bool gradient) const {
  const ValueId v = find_value(data(), name);
  if (is_reused(*data_, v, gradient))
    fail("program", "{}'{}' gave its memory to later ones: expected {}", gradient ? "the gradient of " : "",
         name, gradient ? "train.reuse_gradients = false" : "a program that keeps its values");
  const float* p = gradient ? executable_->gradient(v) : executable_->value(v);
  if (p == nullptr && gradient)
    fail("program",
         "'{}' has no gradient: expected a value on the way to the loss, from a trainable parameter or an "
         "input with InputOptions::gradient",
         name);
  if (p == nullptr) fail("program", "'{}' is not stored: expected SealOptions::keep_probabilities", name);
  const ValueInfo& info = data_->values[static_cast<size_t>(v)];
  if (!executable_->keeps_results() &&
      (gradient || info.role == Role::Activation || info.role == Role::Saved))
    fail("program", "'{}' gave its memory to another program: expected reading before that one's replay",
         name);
  return {p, static_cast<size_t>(info.shape.size())};
}

const Node& Program::mean_over_rows() const {
  const auto node = std::ranges::find(data().nodes, data_->loss, &Node::out);
  if (node == data_->nodes.end() || !traits_of(node->op).counts_rows)
    fail("program", "the loss does not count rows: expected one of softmax_xent or mean_squared_error");
  return *node;
}

void Program::fill_rows(int64_t n) {
  const Node& loss = mean_over_rows();
  const ValueId weights = loss.in.back();
  if (weights == kNone || data_->values[static_cast<size_t>(weights)].role != Role::Input)
    fail("program", "the loss {} has no input of weights: expected one for each row", loss.name);
  const std::span<float> rows = floats(data_->values[static_cast<size_t>(weights)].name);
  if (n < 0 || static_cast<size_t>(n) > rows.size())
    fail("program", "a batch of {} rows: expected 0 to {}", n, rows.size());
  std::fill(std::fill_n(rows.begin(), n, 1.0f), rows.end(), 0.0f);
}

int64_t Program::counted_rows() const {
  const std::string& shares = data_->values[static_cast<size_t>(mean_over_rows().saved.back())].name;
  return std::ranges::count_if(read(shares), [](float share) { return share > 0; });
}

std::vector<float> Program::read(std::string_view name, bool gradient) const {
  const Buffer kept = this->kept(name, gradient);
  std::vector<float> host(kept.size);
  executable_->read(kept.at, host);
  return host;
}

void Program::read_part(ValueId value, std::span<float> host, size_t first) const {
  if (value < 0 || static_cast<size_t>(value) >= data().values.size() ||
      (value.tape != 0 && value.tape != data_->tape))
    fail("program", "value {} is none of its tape: expected one of {}", value.index, data_->values.size());
  const auto size = static_cast<size_t>(data_->values[static_cast<size_t>(value)].shape.size());
  if (first > size || host.size() > size - first)
    fail("program", "'{}' holds {} numbers and is read from {} to {}: expected within",
         data_->values[static_cast<size_t>(value)].name, size, first, first + host.size());
  if (is_reused(*data_, value, false) || !executable_->keeps_results()) return;
  if (const float* p = executable_->value(value)) executable_->read(p + first, host);
}

void Program::check(const StepInputs& inputs) const {
  if (data_->updates && std::isnan(inputs.lr))
    fail("program", "the step updates {} parameters and has no rate: expected StepInputs::lr",
         data_->parameter_order.size());
  if (!(inputs.clip >= 0)) fail("program", "a clip of {}: expected a norm, or 0 for none", inputs.clip);
  if (data_->updates && inputs.clip > 0 && !data_->clips)
    fail("program", "a clip of {} for a program sealed without one: expected SealOptions::clip", inputs.clip);
  for (const DropoutInputs& dropout : inputs.dropout)
    if (dropout.threshold > 512 && dropout.scale == 1.0f)  // up to 512 / 2^32, 1 / (1 - p) is 1
      fail("program", "dropout of {:.3g} with a scale of 1: expected DropoutInputs::of",
           dropout.threshold * 0x1p-32);
}

void Program::replay(const StepInputs& inputs) {
  Executable& executable = running();
  check(inputs);
  executable.replay(inputs);
}

uint32_t Program::next_step() const {
  if (!data().updates)
    fail("program", "it updates nothing: expected replay({}), or a program with an update");
  return data_->store->steps() + 1;
}

void Program::count_steps(uint32_t steps) { data_->store->set_steps(steps); }

}  // namespace normscope
