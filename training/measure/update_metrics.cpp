#include "training/measure/update_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/measure_rows.h"

namespace normscope {
namespace {

/// "dec.L03" for "dec.L03.ffn.w1", and "emb" for "emb.tokens".
std::string part_of(const std::string& parameter) {
  const size_t layer = parameter.find('L');
  return parameter.substr(0, layer == parameter.npos ? parameter.rfind('.') : parameter.find('.', layer));
}

}  // namespace

UpdateMeasurements::UpdateMeasurements(const ProgramData& program)
    : store_(program.store.get()),
      clips_(program.clips),
      group_of_(program.store->parameters().size(), kUntrained) {
  for (const Instruction& i : program.instructions)
    if (traits_of(i.op).duty == Duty::Update) second_moments_ = traits_of(i.op).second_moments;
  for (const int32_t parameter : program.parameter_order) {
    const ParameterInfo& info = store_->parameters()[static_cast<size_t>(parameter)];
    const std::string name = part_of(info.name);
    auto group = std::ranges::find(groups_, name, &Group::name);
    if (group == groups_.end()) {
      group = groups_.insert(group, Group{.name = name});
      for (const char* number : {".spike_ratio", ".update_cosine"})
        layout_.push_back({name + number, info.layer});
    }
    group_of_[static_cast<size_t>(parameter)] = static_cast<int32_t>(group - groups_.begin());
  }
}

bool UpdateMeasurements::keeps_second_moment(const ParameterInfo& parameter) const {
  return second_moments_ == SecondMoments::All ||
         (second_moments_ == SecondMoments::NotOfMatrices && !parameter.hidden);
}

void UpdateMeasurements::before() {
  weights_.resize(store_->size());
  store_->backend().download(store_->block(Store::Block::Value), 0, weights_);
}

void UpdateMeasurements::add(Program& step, const StepInputs& inputs, ValueId value) {
  const ProgramData& data = step.data();
  const auto parameter = static_cast<size_t>(data.values[static_cast<size_t>(value)].parameter);
  const ParameterInfo& info = store_->parameters()[parameter];
  const auto count = static_cast<size_t>(info.shape.size());
  Executable& machine = step.executable();
  const auto read = [&](const float* numbers, std::vector<float>& room) -> const float* {
    if (store_->backend().on_host()) return numbers;
    room.resize(count);
    machine.read(numbers, room);
    return room.data();
  };
  cpu::UpdateRows rows;
  rows.gradient = read(machine.gradient(value), gradient_);
  rows.before = &weights_[info.offset];
  rows.after = read(machine.value(value), after_);
  if (keeps_second_moment(info)) {
    rows.second = read(store_->block(Store::Block::V).data() + info.offset, second_);
    if (clips_) rows.factor = static_cast<float>(step.stats()[static_cast<size_t>(data.clip_stat)]);
    rows.l2 = inputs.l2;
    rows.correction = 1.0f / inputs.bias_correction2;
    rows.least = inputs.eps * inputs.eps;
  }
  const cpu::UpdateSums sums = cpu::update_sums(rows, static_cast<int64_t>(count));
  Group& group = groups_[static_cast<size_t>(group_of_[parameter])];
  group.ratio += sums.ratio;
  if (rows.second) group.counted += static_cast<double>(count);
  group.gradient += sums.gradient;
  group.product += sums.product;
  group.step += sums.step;
}

void UpdateMeasurements::after(Program& step, const StepInputs& inputs, std::span<double> out) {
  for (Group& group : groups_) {
    group.ratio = group.counted = 0;
    group.gradient = group.product = group.step = 0;
  }
  const std::vector<ValueInfo>& values = step.data().values;
  for (size_t v = 0; v < values.size(); ++v)
    if (values[v].role == Role::Parameter &&
        group_of_[static_cast<size_t>(values[v].parameter)] != kUntrained)
      add(step, inputs, static_cast<ValueId>(v));
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    const double lengths = std::sqrt(group.gradient) * std::sqrt(group.step);
    out[2 * i] = group.counted > 0 ? std::sqrt(group.ratio / group.counted) : kNothing;
    out[2 * i + 1] = lengths > 0 ? group.product / lengths : kNothing;
  }
}

}  // namespace normscope
