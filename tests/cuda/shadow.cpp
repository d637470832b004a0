#include "cuda/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/core/error.h"
#include "engine/tape/store.h"

namespace normscope::cuda {
namespace {

template <class T>
double squared_norm(const std::vector<T>& v) {
  double sum = 0;
  for (const T x : v) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

/// The normalised squared error; two zero tensors are equal, NaN differs from everything. The
/// size of b counts as `least` at least.
template <class T>
double normalised_error(const std::vector<T>& a, const std::vector<T>& b, double least = 0) {
  double difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
  }
  return difference == 0 ? 0 : difference / std::max(squared_norm(b), least);
}

class Shadow {
 public:
  Shadow(Program& reference, Program& other, const StepInputs& inputs, double tolerance)
      : a_(reference), b_(other), inputs_(inputs), tolerance_(tolerance) {
    if (a_.data().instructions.size() != b_.data().instructions.size() ||
        a_.data().stats.size() != b_.data().stats.size())
      fail("shadow", "the two programs have {} and {} instructions: expected programs of equal tapes",
           a_.data().instructions.size(), b_.data().instructions.size());
  }

  ShadowReport run() {
    copy_batch();
    const std::vector<Instruction>& instructions = a_.data().instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Instruction& it = instructions[i];
      where_ = fmt::format("{} {}", to_string(it.phase), it.name);
      if (it.phase == Phase::Update)
        copy_parameters();
      else
        copy_tensors(it);
      a_.executable().run(i, i + 1, inputs_);
      b_.executable().run(i, i + 1, inputs_);
      compare(it);
      ++report_.instructions;
    }
    return report_;
  }

 private:
  static size_t at(ValueId id) { return static_cast<size_t>(id); }
  const ValueInfo& info(ValueId id) const { return a_.data().values[at(id)]; }

  void copy_batch() {
    for (size_t v = 0; v < a_.data().values.size(); ++v) {
      const ValueInfo& value = a_.data().values[v];
      if (value.role != Role::Input) continue;
      const size_t offset = a_.data().plan.value_offset[v];
      std::memcpy(b_.executable().input(offset), a_.executable().input(offset),
                  static_cast<size_t>(value.shape.size()) * sizeof(float));
    }
  }

  std::vector<float> read(Program& from, const float* p, int64_t size) const {
    std::vector<float> values(static_cast<size_t>(size));
    from.executable().read(p, values);
    return values;
  }

  void copy(const float* from, float* to, int64_t size) {
    if (from != nullptr && to != nullptr) b_.executable().write(to, read(a_, from, size));
  }
  void copy_value(ValueId id) {
    if (id != kNone && info(id).role != Role::Input)
      copy(a_.executable().value(id), b_.executable().value(id), info(id).shape.size());
  }
  void copy_gradient(ValueId id) {
    if (id != kNone) copy(a_.executable().gradient(id), b_.executable().gradient(id), info(id).shape.size());
  }

  void copy_tensors(const Instruction& it) {
    for (ValueId v : it.in) {
      copy_value(v);
      copy_gradient(v);  // what a backward adds to
    }
    if (it.phase != Phase::Backward) return;
    copy_value(it.out);
    copy_gradient(it.out);
    for (ValueId v : it.saved) copy_value(v);
  }

  void copy_parameters() {
    for (size_t v = 0; v < a_.data().values.size(); ++v)
      if (a_.data().values[v].role == Role::Parameter) copy_gradient(static_cast<ValueId>(v));
    Store &from = *a_.data().store, &to = *b_.data().store;
    for (int32_t p : a_.data().parameter_order)
      for (Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
        to.write(p, from.read(p, block), block);
  }

  void note(std::string tensor, double error) {
    const ShadowDifference d{where_, std::move(tensor), error};
    if (!(error <= tolerance_) && report_.equal) {
      report_.equal = false;
      report_.first = d;
    }
    if (report_.worst.instruction.empty() || !(error <= report_.worst.error)) report_.worst = d;
  }

  /// The size below which an instruction's gradients are rounding: where everything cancels (a
  /// key's bias, which a softmax does not see) what is left has no size of its own to compare with.
  double least_gradient(const Instruction& it) const {
    constexpr double kShare = 1e-3;
    const float* dout = a_.executable().gradient(it.out);
    return dout ? kShare * squared_norm(read(a_, dout, info(it.out).shape.size())) : 0;
  }

  void compare_tensor(ValueId id, bool gradient, double least = 0) {
    const float* a = gradient ? a_.executable().gradient(id) : a_.executable().value(id);
    const float* b = gradient ? b_.executable().gradient(id) : b_.executable().value(id);
    if (a == nullptr || b == nullptr) return;
    const int64_t size = info(id).shape.size();
    note((gradient ? "gradient of " : "") + info(id).name,
         normalised_error(read(b_, b, size), read(a_, a, size), least));
  }

  void compare_stats(int32_t first, size_t count) {
    if (first < 0 || count == 0) return;
    const auto of = [&](Program& p) {
      const auto s = p.stats().subspan(static_cast<size_t>(first), count);
      return std::vector<double>(s.begin(), s.end());
    };
    note(a_.data().stats[static_cast<size_t>(first)].name, normalised_error(of(b_), of(a_)));
  }

  void compare(const Instruction& it) {
    const ProgramData& data = a_.data();
    const size_t parameters = data.parameter_order.size();
    if (it.stat >= 0) compare_stats(it.stat, 1);
    if (it.op == OpKind::Probe) return;
    if (it.phase == Phase::Forward) {
      compare_tensor(it.out, false);
      for (ValueId v : it.saved) compare_tensor(v, false);
    } else if (it.phase == Phase::Backward) {
      const double least = least_gradient(it);
      for (size_t k = 0; k < it.in.size(); ++k)
        if (it.write[k] != Write::Skip) compare_tensor(it.in[k], true, least);
    } else if (it.op == OpKind::GradNorm) {
      compare_stats(data.grad_norm_stat, parameters);
      compare_stats(data.total_grad_norm_stat, 1);
    } else if (it.op == OpKind::Clip) {
      compare_stats(data.clip_stat, 1);
    } else {
      compare_stats(data.update_norm_stat, parameters);
      compare_stats(data.weight_norm_stat, parameters);
      for (int32_t p : data.parameter_order)
        for (auto [block, suffix] :
             {std::pair{Store::Block::Value, ""}, {Store::Block::M, " (m)"}, {Store::Block::V, " (v)"}})
          note(data.store->parameters()[static_cast<size_t>(p)].name + suffix,
               normalised_error(b_.data().store->read(p, block), data.store->read(p, block)));
    }
  }

  Program &a_, &b_;
  const StepInputs& inputs_;
  double tolerance_;
  std::string where_;
  ShadowReport report_;
};

}  // namespace

ShadowReport shadow(Program& reference, Program& other, const StepInputs& inputs, double tolerance) {
  return Shadow(reference, other, inputs, tolerance).run();
}

std::string to_string(const ShadowReport& r) {
  const auto line = [](const ShadowDifference& d) {
    return fmt::format("{}, {}: {:.2e}", d.instruction, d.tensor, d.error);
  };
  if (r.equal) return fmt::format("{} instructions agree; worst {}", r.instructions, line(r.worst));
  return fmt::format("first difference in {}; worst {}", line(r.first), line(r.worst));
}

}  // namespace normscope::cuda
