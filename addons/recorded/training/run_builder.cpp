// See run_builder.h. run_builder_about.cpp has what is said of a run at the end.
#include "addons/recorded/training/run_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/core/error.h"

namespace normscope::records {
namespace {

constexpr int32_t kMostWidenings = 200;
constexpr int32_t kMostSetBacks = 1000;
constexpr size_t kMostValidations = kDenseSteps;

std::string key_of(const LogStat& stat) {
  std::string key(1, static_cast<char>('0' + stat.field));
  return key.append(stat.name);
}

/// Moves everything that `from` holds; numbers that only the wider history has were not measured then.
void move_over(const History& from, History& to) {
  const FrameBlock block = from.frames(std::numeric_limits<int32_t>::max(), from.bytes() + 1);
  std::vector<int32_t> places(from.layout().size());
  std::iota(places.begin(), places.end(), 0);
  to.restore_frames(spread(block, places, to.layout().size()));
  const Series loss = from.loss(), rate = from.rate(), validation = from.validation();
  to.append_dense(loss.steps, loss.values, rate.values);
  for (size_t i = 0; i < validation.steps.size(); ++i)
    to.append_validation(validation.steps[i], static_cast<double>(validation.values[i]));
}

}  // namespace

RunBuilder::RunBuilder(LogLabel label, const LogAbout& header, const NameMapping& mapping,
                       size_t budget_bytes)
    : label_(std::move(label)),
      about_(header),
      mapping_(mapping),
      budget_(budget_bytes),
      history_(std::make_shared<History>(std::vector<StatInfo>{}, budget_bytes)) {
  if (about_.placement.empty()) about_.placement = setting("model.placement");
}

void RunBuilder::set_budget(size_t bytes) {
  budget_ = bytes;
  history_->set_budget(bytes);
}

int32_t RunBuilder::find(const LogStat& stat, size_t place) {
  if (place < order_.size() && order_[place] >= 0) {
    const Column& before = columns_[static_cast<size_t>(order_[place])];
    if (before.field == stat.field && before.name == stat.name) return order_[place];
  }
  const auto found = places_.find(key_of(stat));
  const int32_t column = found == places_.end() ? -1 : found->second;
  if (place >= order_.size()) order_.resize(place + 1, -1);
  order_[place] = column;
  return column;
}

void RunBuilder::learn(const LogStat& stat, size_t place) {
  if (widenings_ >= kMostWidenings || columns_.size() >= kMostColumns) {
    ++left_out_;
    return;
  }
  const NameOf of = stat.field == kHiddenField ? NameOf::Output : NameOf::Parameter;
  order_[place] = static_cast<int32_t>(columns_.size());
  places_[key_of(stat)] = order_[place];
  columns_.push_back({stat.field, std::string(stat.name), resolve(stat.name, of, mapping_)});
  numbers_.push_back(0);
}

/// Puts the numbers of a line under their columns, beside those that its step has already.
void RunBuilder::gather(const LogStep& step) {
  const size_t before = columns_.size();
  if (step.step != last_step_) std::fill(numbers_.begin(), numbers_.end(), NAN);
  size_t place = 0;
  const auto take = [&](const LogStat& stat) {
    if (find(stat, place) < 0) learn(stat, place);
    if (order_[place] >= 0) numbers_[static_cast<size_t>(order_[place])] = static_cast<double>(stat.value);
    ++place;
  };
  for (const LogStat& stat : step.stats) take(stat);
  for (const LogStat& stat : older_shares_.of(step)) take(stat);
  if (columns_.size() > before) widen();
}

void RunBuilder::widen() {
  ++widenings_;
  auto wider = std::make_shared<History>(layout(), budget_);
  move_over(*history_, *wider);
  history_ = std::move(wider);
}

void RunBuilder::set_back(int32_t step) {
  if (set_backs_ == kMostSetBacks)
    throw Error(fmt::format("step {} after step {}: the run was set back more than {} times", step,
                            last_step_, kMostSetBacks));
  if (set_backs_++ == 0) {
    first_back_from_ = last_step_;
    first_back_to_ = step;
  }
  history_->truncate(step - 1);
}

void RunBuilder::add_validation(const LogStep& step) {
  if (!step.validation || validations_ >= kMostValidations) return;
  history_->append_validation(step.step, *step.validation);
  ++validations_;
}

// Lets a validation that comes late stand alone: the run went on meanwhile.
void RunBuilder::add(const LogStep& step) {
  const bool late = step.validation && !step.loss && !step.rate && step.stats.empty();
  if (step.step < last_step_ && late) return add_validation(step);
  if (step.step < last_step_) set_back(step.step);
  gather(step);
  if (step.step != last_step_) {
    loss_.reset();
    rate_ = NAN;
  }
  last_step_ = step.step;
  if (step.loss) loss_ = step.loss;
  rate_ = step.rate.value_or(rate_);
  history_->append(step.step, loss_, rate_, numbers_);
  add_validation(step);
  has_loss_ = has_loss_ || step.loss;
  has_rate_ = has_rate_ || step.rate;
  measure_time(step);
}

// Takes only lines whose clock went on: a recording that goes on may count its seconds from 0 again, and a
// clock may be set back.
void RunBuilder::measure_time(const LogStep& step) {
  const double now = step.seconds.value_or(NAN);
  if (std::isnan(now)) return;
  if (timed_step_ >= 0 && step.step > timed_step_ && now >= timed_at_) {
    timed_steps_ += step.step - timed_step_;
    timed_seconds_ += now - timed_at_;
  }
  timed_step_ = step.step;
  timed_at_ = now;
}

// Writes "L03.attn.wq.grad_norm" where the name is known and no other has it; otherwise their name. The output
// of a whole layer is its last sum where no norm follows that, as in Pre-LN.
std::vector<StatInfo> RunBuilder::layout() const {
  const bool pre = about_.placement == "pre";
  const auto has = [&](Stack stack) {
    return std::any_of(columns_.begin(), columns_.end(),
                       [&](const Column& c) { return c.tensor.layer > 0 && c.tensor.stack == stack; });
  };
  const bool both = has(Stack::Encoder) && has(Stack::Decoder);
  std::vector<StatInfo> stats;
  std::unordered_map<std::string, int> taken;
  for (const Column& column : columns_) {
    TensorName tensor = column.tensor;
    if (tensor.output && !tensor.ours && pre) tensor.part = "ffn.sum";
    std::string name = column.name;
    if (tensor.known()) name = engine_name(tensor, both);
    const std::string_view suffix = kLogFields[column.field].suffix_of(name);
    name += suffix;
    if (taken[name]++ > 0) name = fmt::format("{}{}", column.name, suffix);
    stats.push_back({std::move(name), tensor.layer});
  }
  return stats;
}

}  // namespace normscope::records
