// See history.h. Every reader copies under one short lock; the writer holds it for an append or a thinning.
#include "training/measure/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/residual.h"

namespace normscope {
namespace {

// 1 / kDenseShare of the kept frames, at the newest end, stays dense.
constexpr size_t kDenseShare = 4;

/// Replaces the numbers of a step that is the newest already.
void put(std::vector<int32_t>& steps, std::vector<float>& losses, std::vector<float>& rates, int32_t step,
         double loss, double rate) {
  if (steps.empty() || steps.back() != step) {
    steps.push_back(step);
    losses.emplace_back();
    rates.emplace_back();
  }
  losses.back() = static_cast<float>(loss);
  rates.back() = static_cast<float>(rate);
}

}  // namespace

const char* to_string(RunEvent::Kind kind) {
  constexpr const char* kWords[] = {"started",  "edited",  "forked",     "left plateau",
                                    "returned", "stuck",   "unstuck",    "not finite",
                                    "finished", "resumed", "began below"};
  return kWords[static_cast<size_t>(kind)];
}

std::pair<std::string, std::string> two_names(const std::string& y) {
  const size_t slash = y.find(" / ");
  if (slash == y.npos) return {y, {}};
  return {y.substr(0, slash), y.substr(slash + 3)};
}

History::History(std::vector<StatInfo> layout, size_t budget_bytes)
    : layout_(std::move(layout)), budget_(budget_bytes) {}

size_t History::frame_bytes(const Frame& frame) const {
  return sizeof(Frame) + frame.stats.size() * sizeof(float) + frame.gone.size() * sizeof(Extremes);
}

void History::set_budget(size_t bytes) {
  const std::lock_guard lock(mutex_);
  budget_ = bytes;
  const size_t before = frames_.size();
  thin();
  if (frames_.size() < before) ++version_;
}

std::shared_ptr<History> History::copy() const {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<History>(layout_, budget_);
  made->version_ = version_;
  made->stride_ = stride_;
  made->steps_ = steps_;
  made->losses_ = losses_;
  made->rates_ = rates_;
  made->validation_ = validation_;
  made->dense_stride_ = dense_stride_;
  made->frames_ = frames_;
  made->frame_bytes_ = frame_bytes_;
  made->events_ = events_;
  return made;
}

void History::append(int32_t step, std::optional<double> loss, double rate, std::span<const double> stats) {
  if (stats.size() != layout_.size())
    fail("history", "{} numbers at step {}: expected {}", stats.size(), step, layout_.size());
  std::vector<float> numbers(stats.begin(), stats.end());
  const std::lock_guard lock(mutex_);
  ++version_;
  if (loss) put(steps_, losses_, rates_, step, *loss, rate);
  thin_dense();
  if (!frames_.empty() && frames_.back().step == step) return frames_.back().stats.swap(numbers);
  frames_.push_back({step, std::move(numbers), {}});
  frame_bytes_ += frame_bytes(frames_.back());
  thin();
}

void History::append_dense(std::span<const int32_t> steps, std::span<const float> losses,
                           std::span<const float> rates) {
  if (losses.size() != steps.size() || rates.size() != steps.size())
    fail("history", "{} steps, {} losses, {} rates: expected as many of each", steps.size(), losses.size(),
         rates.size());
  const std::lock_guard lock(mutex_);
  steps_.insert(steps_.end(), steps.begin(), steps.end());
  losses_.insert(losses_.end(), losses.begin(), losses.end());
  rates_.insert(rates_.end(), rates.begin(), rates.end());
  thin_dense();
  ++version_;
}

// Keeps, of every `stride` older steps, the first, the steps of the lowest and highest loss, and the step of the
// highest rate; the stride doubles until a quarter is free again.
void History::thin_dense() {
  if (steps_.size() <= kDenseSteps) return;
  size_t older = steps_.size() - kDenseSteps / 2;
  for (; dense_stride_ <= (1 << 29); dense_stride_ *= 2) {
    size_t kept = 0;
    for (size_t begin = 0, end = 0; begin < older; begin = end) {
      size_t low = begin, high = begin, fastest = begin;
      for (end = begin; end < older && steps_[end] / dense_stride_ == steps_[begin] / dense_stride_; ++end) {
        if (losses_[end] < losses_[low]) low = end;
        if (losses_[end] > losses_[high]) high = end;
        if (rates_[end] > rates_[fastest]) fastest = end;
      }
      for (size_t i = begin; i < end; ++i)
        if (i == begin || i == low || i == high || i == fastest) {
          steps_[kept] = steps_[i];
          losses_[kept] = losses_[i];
          rates_[kept] = rates_[i];
          ++kept;
        }
    }
    const auto close_gap = [&](auto& values) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(kept);
      values.erase(from, values.begin() + static_cast<std::ptrdiff_t>(older));
    };
    close_gap(steps_);
    close_gap(losses_);
    close_gap(rates_);
    older = kept;
    if (steps_.size() <= kDenseSteps - kDenseSteps / 4) return;
  }
}

// Widens the extremes of the next frame that stays by a dropped frame's stats and the extremes it stood for.
void History::absorb(const Frame& gone, Frame& kept) const {
  if (kept.gone.empty()) kept.gone.resize(layout_.size(), {0, 0, 0, 0});
  for (size_t i = 0; i < layout_.size(); ++i) {
    Extremes& e = kept.gone[i];
    const auto note = [&e](float value, int32_t step) {
      if (value != value || step == 0) return;
      if (e.low_step == 0 || value < e.low) {
        e.low = value;
        e.low_step = step;
      }
      if (e.high_step == 0 || value > e.high) {
        e.high = value;
        e.high_step = step;
      }
    };
    note(gone.stats[i], gone.step);
    if (gone.gone.empty()) continue;
    note(gone.gone[i].low, gone.gone[i].low_step);
    note(gone.gone[i].high, gone.gone[i].high_step);
  }
}

// Keeps frames older than the newest quarter of what fits at multiples of a stride. The stride doubles until a
// quarter is free again, so that thinning is rare and its cost per step stays constant.
void History::thin() {
  if (frame_bytes_ <= budget_ || frames_.size() < 2) return;
  const size_t most = budget_ / (sizeof(Frame) + layout_.size() * sizeof(float));
  const size_t dense = std::min(std::max<size_t>(most / kDenseShare, 1), frames_.size());
  for (;;) {
    const size_t older = frames_.size() - dense;
    size_t kept = 0, waiting = 0;  // frames [waiting, i) are dropped, and the next one that stays absorbs
                                   // them
    for (size_t i = 0; i < frames_.size(); ++i) {
      if (i < older && frames_[i].step % stride_ != 0) continue;
      for (size_t gone = waiting; gone < i; ++gone) absorb(frames_[gone], frames_[i]);
      waiting = i + 1;
      if (kept != i) frames_[kept] = std::move(frames_[i]);
      ++kept;
    }
    frames_.resize(kept);
    frame_bytes_ = 0;
    for (const Frame& frame : frames_) frame_bytes_ += frame_bytes(frame);
    if (frame_bytes_ <= budget_ - budget_ / kDenseShare || stride_ >= (1 << 30)) return;
    stride_ *= 2;
  }
}

void History::append_validation(int32_t step, double loss) {
  const std::lock_guard lock(mutex_);
  auto& [steps, values] = validation_;
  const auto at = std::ranges::lower_bound(steps, step);
  const auto place = at - steps.begin();
  if (at == steps.end() || *at != step) {
    steps.insert(at, step);
    values.insert(values.begin() + place, 0);
  }
  values[static_cast<size_t>(place)] = static_cast<float>(loss);
  ++version_;
}

void History::add_event(RunEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  ++version_;
}

void History::take_back(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(events_.rbegin(), events_.rend(), event);
  if (found == events_.rend()) return;
  events_.erase(std::next(found).base());
  ++version_;
}

void History::take_over(const History& from) {
  const Series loss = from.loss(), rate = from.rate(), validation = from.validation();
  append_dense(loss.steps, loss.values, rate.values);
  for (size_t i = 0; i < validation.steps.size(); ++i)
    append_validation(validation.steps[i], static_cast<double>(validation.values[i]));
  for (RunEvent& event : from.events()) add_event(std::move(event));
}

void History::truncate(int32_t step) {
  const std::lock_guard lock(mutex_);
  const auto cut = [step](const std::vector<int32_t>& steps) {
    return static_cast<size_t>(std::ranges::upper_bound(steps, step) - steps.begin());
  };
  const size_t kept = cut(steps_), validations = cut(validation_.steps);
  steps_.resize(kept);
  losses_.resize(kept);
  rates_.resize(kept);
  validation_.steps.resize(validations);
  validation_.values.resize(validations);
  std::erase_if(frames_, [step](const Frame& f) { return f.step > step; });
  frame_bytes_ = 0;
  for (const Frame& frame : frames_) frame_bytes_ += frame_bytes(frame);
  std::erase_if(events_, [step](const RunEvent& e) { return e.step > step; });
  ++version_;
}

int32_t History::find(std::string_view stat) const {
  for (size_t i = 0; i < layout_.size(); ++i)
    if (layout_[i].name == stat) return static_cast<int32_t>(i);
  return -1;
}

int32_t History::last_step() const {
  const std::lock_guard lock(mutex_);
  return std::max(steps_.empty() ? 0 : steps_.back(), frames_.empty() ? 0 : frames_.back().step);
}

uint64_t History::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

Series History::loss() const {
  const std::lock_guard lock(mutex_);
  return {steps_, losses_};
}

Series History::rate() const {
  const std::lock_guard lock(mutex_);
  return {steps_, rates_};
}

Series History::validation() const {
  const std::lock_guard lock(mutex_);
  return validation_;
}

Series History::series(int32_t stat) const {
  Series series;
  if (stat < 0 || static_cast<size_t>(stat) >= layout_.size()) return series;
  const std::lock_guard lock(mutex_);
  series.steps.reserve(frames_.size());
  series.values.reserve(frames_.size());
  const auto add = [&series](int32_t step, float value) {
    series.steps.push_back(step);
    series.values.push_back(value);
  };
  const size_t place = static_cast<size_t>(stat);
  for (const Frame& frame : frames_) {
    if (!frame.gone.empty()) {
      const Extremes& e = frame.gone[place];
      const bool low_first = e.low_step <= e.high_step;
      if (e.low_step > 0 && low_first) add(e.low_step, e.low);
      if (e.high_step > 0 && e.high_step != e.low_step) add(e.high_step, e.high);
      if (e.low_step > 0 && !low_first) add(e.low_step, e.low);
    }
    add(frame.step, frame.stats[place]);
  }
  return series;
}

bool History::frame(int32_t step, std::vector<float>& stats, int32_t& found_step) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(frames_, step, {}, &Frame::step);
  if (after == frames_.begin()) return false;
  stats = (after - 1)->stats;
  found_step = (after - 1)->step;
  return true;
}

// A frame may be copied twice, once by itself and once as an extreme, if it is thinned between portions: no harm.
FrameBlock History::frames(int32_t last_step, size_t budget_bytes) const {
  constexpr size_t kPortion = 256;
  History copy(layout_, budget_bytes);
  for (int32_t done = std::numeric_limits<int32_t>::min();;) {
    std::vector<Frame> portion;
    {
      const std::lock_guard lock(mutex_);
      auto at = std::ranges::upper_bound(frames_, done, {}, &Frame::step);
      for (; at != frames_.end() && at->step <= last_step && portion.size() < kPortion; ++at)
        portion.push_back(*at);
    }
    if (portion.empty()) break;
    done = portion.back().step;
    for (Frame& frame : portion) {
      copy.frame_bytes_ += copy.frame_bytes(frame);
      copy.frames_.push_back(std::move(frame));
    }
    copy.thin();
  }
  FrameBlock block;
  for (const Frame& frame : copy.frames_) {
    if (!frame.gone.empty()) {
      block.gone.push_back(static_cast<int32_t>(block.steps.size()));
      for (const Extremes& e : frame.gone) {
        block.gone_values.insert(block.gone_values.end(), {e.low, e.high});
        block.gone_steps.insert(block.gone_steps.end(), {e.low_step, e.high_step});
      }
    }
    block.steps.push_back(frame.step);
    block.stats.insert(block.stats.end(), frame.stats.begin(), frame.stats.end());
  }
  return block;
}

FrameBlock spread(const FrameBlock& block, std::span<const int32_t> places, size_t width) {
  FrameBlock wide{block.steps, {}, block.gone, {}, {}};
  const auto place = [&](const auto& from, auto& to, size_t rows, size_t each, auto unknown) {
    to.assign(rows * width * each, unknown);
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < places.size(); ++i)
        for (size_t k = 0; k < each; ++k)
          to[(row * width + static_cast<size_t>(places[i])) * each + k] =
              from[(row * places.size() + i) * each + k];
  };
  place(block.stats, wide.stats, block.steps.size(), 1, std::numeric_limits<float>::quiet_NaN());
  place(block.gone_values, wide.gone_values, block.gone.size(), 2, 0.0f);
  place(block.gone_steps, wide.gone_steps, block.gone.size(), 2, 0);
  return wide;
}

void History::restore_frames(const FrameBlock& block) {
  const size_t width = layout_.size(), count = block.steps.size();
  if (block.stats.size() != count * width || block.gone_values.size() != 2 * width * block.gone.size() ||
      block.gone_steps.size() != block.gone_values.size() || !std::ranges::is_sorted(block.steps))
    fail("history", "{} frames hold {} numbers: expected {} each", count, block.stats.size(), width);
  const std::lock_guard lock(mutex_);
  if (!frames_.empty() && count > 0) fail("history", "there are frames already: expected none");
  for (size_t i = 0; i < count; ++i) {
    const auto from = block.stats.begin() + static_cast<std::ptrdiff_t>(i * width);
    frames_.push_back(
        {block.steps[i], std::vector<float>(from, from + static_cast<std::ptrdiff_t>(width)), {}});
  }
  for (size_t g = 0; g < block.gone.size(); ++g) {
    const auto place = static_cast<size_t>(block.gone[g]);
    if (place >= count) fail("history", "extremes of frame {}: expected less than {}", place, count);
    for (size_t i = g * width; i < (g + 1) * width; ++i)
      frames_[place].gone.push_back({block.gone_values[2 * i], block.gone_values[2 * i + 1],
                                     block.gone_steps[2 * i], block.gone_steps[2 * i + 1]});
  }
  frame_bytes_ = 0;
  for (const Frame& frame : frames_) frame_bytes_ += frame_bytes(frame);
  thin();
  ++version_;
}

std::vector<RunEvent> History::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

size_t History::bytes() const {
  const std::lock_guard lock(mutex_);
  return frame_bytes_ + steps_.size() * (sizeof(int32_t) + 2 * sizeof(float)) +
         validation_.steps.size() * (sizeof(int32_t) + sizeof(float));
}

namespace {

/// A constant, times the numbers of a step at some places, over the roots of those at others.
struct Factor {
  double constant = 1.0;
  std::vector<int32_t> scales, squares;  ///< places in the layout; -1: the history has no such number
  bool joined = false;                   ///< one is added: the layer's input joins the sum once more
  bool known() const {
    const auto there = [](int32_t place) { return place >= 0; };
    return std::ranges::all_of(scales, there) && std::ranges::all_of(squares, there) && !std::isnan(constant);
  }
  double at(const std::vector<float>& stats) const {
    const auto number = [&](int32_t place) { return static_cast<double>(stats[static_cast<size_t>(place)]); };
    double value = constant;
    for (const int32_t place : scales) value *= number(place);
    for (const int32_t place : squares) value /= std::sqrt(number(place));
    return joined ? value + 1.0 : value;
  }
};

/// The way down a stack as factors, whose numbers are looked up once for all steps.
class Way {
 public:
  Way(const History& history, const StackWiring& stack, int64_t width, std::string_view prefix)
      : history_(history), width_(width), prefix_(prefix) {
    leave(factors_.emplace_back(), 1, "ffn", stack.layers.front().feed_forward);
    for (size_t layer = 2; layer <= stack.layers.size(); ++layer) {
      const LayerWiring& of = stack.layers[layer - 1];
      Factor& through = factors_.emplace_back();
      enter(through, layer, "attn", place(layer - 1, "ffn", "out.mean_square"), of.attention);
      leave(through, layer, "attn", of.attention);
      const char* before = "attn";
      if (place(layer, "cross", "sum.mean_square") >= 0) {
        enter(through, layer, "cross", place(layer, "attn", "out.mean_square"), of.cross);
        leave(through, layer, "cross", of.cross);
        before = "cross";
      }
      enter(through, layer, "ffn", place(layer, before, "out.mean_square"), of.feed_forward);
      through.joined = of.feed_forward.bottom;
      if (layer < stack.layers.size()) leave(factors_.emplace_back(), layer, "ffn", of.feed_forward);
    }
  }
  bool known() const { return std::ranges::all_of(factors_, &Factor::known); }
  double at(const std::vector<float>& stats) const {
    double product = 1.0;
    for (const Factor& factor : factors_) product *= factor.at(stats);
    return product;
  }

 private:
  int32_t place(size_t layer, const char* sublayer, const char* what) const {
    return history_.find(fmt::format("{}L{:02}.{}.{}", prefix_, layer, sublayer, what));
  }
  /// The factor of a sub-layer's skip, and of the norm where the sub-layer begins, which reads `input`.
  void enter(Factor& by, size_t layer, const char* name, int32_t input, const Wiring& w) const {
    using Kind = Scale::Kind;
    if (w.branch.kind == Kind::Toward) {
      by.constant *= 1.0 - static_cast<double>(w.branch.value);
    } else if (w.skip.kind == Kind::Constant) {
      by.constant *= static_cast<double>(w.skip.value);
    } else if (w.skip.kind == Kind::LearnedScalar || w.skip.kind == Kind::LearnedVector) {
      by.scales.push_back(place(layer, name, "skip.weight_norm"));
      if (w.skip.kind == Kind::LearnedVector) by.constant /= std::sqrt(static_cast<double>(width_));
    }
    if (w.enter != NormKind::None) by.squares.push_back(input);
  }
  /// The norm on the stream behind a sub-layer.
  void leave(Factor& by, size_t layer, const char* name, const Wiring& w) const {
    if (w.stream == NormKind::None) return;
    if (!traits_of(w.stream).has_statistics) by.constant = std::nan("");
    by.squares.push_back(place(layer, name, "sum.mean_square"));
  }

  const History& history_;
  int64_t width_;
  std::string_view prefix_;
  std::vector<Factor> factors_;
};

}  // namespace

Series skip_product(const History& history, const StackWiring& stack, int64_t width,
                    std::string_view prefix) {
  Series series;
  const int32_t stat = history.find(fmt::format("{}L01.ffn.sum.mean_square", prefix));
  if (stat < 0 || stack.layers.size() < 2 || !stream_layout(stack).one()) return series;
  const Way way(history, stack, width, prefix);
  if (!way.known()) return series;
  std::vector<float> stats;
  int32_t found = 0;
  for (const int32_t step : history.series(stat).steps) {
    if (!history.frame(step, stats, found) || found != step) continue;
    const auto product = static_cast<float>(way.at(stats));
    if (std::isnan(product)) return {};
    series.steps.push_back(step);
    series.values.push_back(product);
  }
  return series;
}

}  // namespace normscope
