#include "addons/recorded/training/step_numbers.h"

#include <algorithm>

namespace normscope::records {
namespace {

constexpr size_t kMaxNumbers = 20'000'000, kMaxNames = 20'000, kLongestTag = 1000, kMaxSessions = 10'000;
constexpr uint16_t kTime = std::numeric_limits<uint16_t>::max();  // in the place of a name
constexpr double kLatest = 1e12;                                  // seconds
static_assert(kMaxNames < kTime && kMaxSessions < kTime);

using Of = ScalarName::Of;

}  // namespace

void StepNumbers::require_room() const {
  if (all_.size() == kMaxNumbers)
    fail(where_, "has more than {} numbers: write fewer of its steps or names", kMaxNumbers);
}

void StepNumbers::note(const Message& fault) {
  const Message place = part_ == Part::Line    ? Message("line {}", read_.lines)
                        : part_ == Part::Event ? Message("event {}", read_.lines)
                                               : Message("record {}", read_.lines);
  read_.note({"{}: {}", place, fault});
}

void StepNumbers::broken(const Message& fault) {
  ++read_.broken;
  note(fault);
}

void StepNumbers::leave_out() {
  if (std::exchange(left_out_, true)) return;
  note({"names beyond the first {}, or of more than {} bytes, are left out", kMaxNames, kLongestTag});
}

void StepNumbers::drop(int64_t step) {
  if (std::exchange(dropped_, read_.lines) == read_.lines) return;  // a part counts once
  broken({"step is {}: expected {}", step, Message("a whole number from 0 to {}", kLastLogStep)});
}

std::optional<uint16_t> StepNumbers::place_of(const std::string& name) {
  if (const auto known = places_.find(name); known != places_.end()) return known->second;
  if (places_.size() == kMaxNames || name.size() > kLongestTag) {
    leave_out();
    return {};
  }
  const auto at = places_.emplace(name, static_cast<uint16_t>(names_.size())).first;
  texts_.emplace_back(at->first);
  names_.push_back(known_.name(at->first));
  newest_.push_back(0);
  const bool of_series = names_.back().of != Of::Tensor && names_.back().of != Of::Other;
  anew_ = (known_.counts(names_.back()) && of_series) || anew_;
  return at->second;
}

void StepNumbers::add(int64_t step, const std::string& name, double value) {
  if (step < 0 || step > kLastLogStep) return drop(step);
  const auto place = place_of(name);
  if (!place) return;
  require_room();
  all_.push_back({static_cast<int32_t>(step), *place, session_, static_cast<float>(value)});
  last_ = std::max(last_, all_.back().step);
  if (session_ > 0 && begun_.emplace(*place, all_.back().step).second) cuts_[*place] = all_.back().step;
}

void StepNumbers::time(int64_t step, double seconds) {
  if (all_.empty() || all_.back().step != step || timed_ == step || !(std::abs(seconds) < kLatest)) return;
  if (std::isnan(began_)) began_ = seconds + static_cast<double>(restarts_);
  require_room();
  timed_ = all_.back().step;
  all_.push_back({timed_, kTime, session_, static_cast<float>(seconds - began_)});
}

// Seconds begin anew, below all earlier ones, by which RunBuilder::measure_time() recognises another clock.
void StepNumbers::begin_clock() {
  began_ = NAN;
  ++restarts_;
  timed_ = -1;
}

void StepNumbers::set_back(int64_t step) {
  begin_clock();
  if (step > last_) return;
  last_ = static_cast<int32_t>(std::max<int64_t>(step, 0)) - 1;
  std::erase_if(all_, [this](const Number& number) { return number.step > last_; });
  given_ = 0;
  anew_ = true;
}

void StepNumbers::begin_session() {
  cut();
  begun_.clear();
  if (session_ < kMaxSessions) ++session_;
  begin_clock();
}

// By name, and not the whole step: a second file beside the first may hold the evaluation alone.
void StepNumbers::cut() {
  if (cuts_.empty()) return;
  const auto is_of_before = [this](const Number& number) {
    const auto at = cuts_.find(number.name);
    return number.session < session_ && at != cuts_.end() && number.step >= at->second;
  };
  if (std::erase_if(all_, is_of_before) > 0) {
    given_ = 0;
    anew_ = true;
  }
  cuts_.clear();
}

void StepNumbers::put_step(size_t begin, size_t end, LogStep& step) {
  for (size_t i = begin; i < end; ++i)
    if (all_[i].name != kTime)
      newest_[all_[i].name] = i;
    else if (!step.seconds)
      step.seconds = static_cast<double>(all_[i].value);
  for (size_t i = begin; i < end; ++i) {
    const uint16_t name = all_[i].name;
    if (name == kTime || newest_[name] != i) continue;
    if (names_[name].of == Of::Other)
      step.others.push_back(texts_[name]);
    else if (known_.counts(names_[name]))
      put(names_[name], static_cast<double>(all_[i].value), step);
  }
}

void StepNumbers::give(const std::function<void()>& anew, const std::function<void(const LogStep&)>& add) {
  cut();
  const auto news = all_.begin() + static_cast<std::ptrdiff_t>(given_);
  std::ranges::stable_sort(news, all_.end(), {}, &Number::step);
  if (anew_ || (given_ > 0 && news != all_.end() && news->step < all_[given_ - 1].step)) {
    std::ranges::inplace_merge(all_, news, {}, &Number::step);
    given_ = 0;
    anew_ = false;
    anew();
  }
  LogStep step;
  for (size_t begin = given_, end = begin; begin < all_.size(); begin = end) {
    step.clear();
    step.step = all_[begin].step;
    while (end < all_.size() && all_[end].step == step.step) ++end;
    put_step(begin, end, step);
    add(step);
  }
  given_ = all_.size();
}

}  // namespace normscope::records
