#include "engine/check_op.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/ops.h"
#include "engine/own_op.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

using Numbers = std::vector<float>;

/// Fills with numbers from -1.5 to 1.5 that depend on the input's name.
void fill(std::span<float> numbers, std::string_view name) {
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(random_word(i, site_of(name), 1, Purpose::Batch, 1)) * 0x1.8p-31f - 1.5f;
}

std::string input_name(size_t k) { return "input " + std::to_string(k + 1); }

/// The recorded op with a loss: the sum of its results, each times a random number.
class Trial {
 public:
  /// With `only`, no other input has a gradient. With several threads ops of one's own have the smallest parts.
  Trial(const RecordOp& record, const std::vector<Shape>& shapes, int threads, bool twice = false,
        std::optional<size_t> only = {})
      : backend_(make_cpu_backend(threads)), store_(*backend_), tape_(store_) {
    std::vector<ValueId> in;
    for (size_t k = 0; k < shapes.size(); ++k)
      in.push_back(tape_.input(input_name(k), shapes[k], DType::F32, {.gradient = !only || *only == k}));
    out_ = record(tape_, in);
    const int32_t writer = tape_.value(out_, "check_op", "what was recorded").node;
    if (writer < 0) fail("check_op", "nothing was recorded: expected an op");
    where_ = std::string("check_op ") + to_string(tape_.nodes()[static_cast<size_t>(writer)].op);
    if (twice) {
      const Scope again = tape_.scope("again");
      out_ = add(tape_, "sum", out_, record(tape_, in));
    }
    const int64_t n = tape_.shape(out_).size();
    const ValueId row = reshape(tape_, "check_op.row", out_, {1, n});
    const ValueId loss =
        linear(tape_, "check_op.loss", row, tape_.input("check_op.direction", {n, 1}), kNone);
    store_.materialize(1);
    std::optional<own::SmallParts> small;
    if (threads > 1) small.emplace();
    program_.emplace(seal(tape_, {.loss = loss, .update = kNoOp}));
    for (const ValueInfo& value : tape_.values())
      if (value.role == Role::Input && value.dtype == DType::F32)
        fill(program_->floats(value.name), value.name);
    replay();
  }

  void replay() { program_->replay({}); }
  const std::string& where() const { return where_; }
  Numbers out() const { return program_->read(tape_.value(out_).name); }
  Numbers gradient(size_t k) const { return program_->read(input_name(k), true); }

  /// The central difference of the loss when number i of input k moves by `step`.
  double difference(size_t k, size_t i, float step) {
    float& x = program_->floats(input_name(k))[i];
    const float at = x, above = at + step, below = at - step;
    x = above;
    replay();
    const Numbers high = out();
    x = below;
    replay();
    const Numbers low = out(), direction = program_->read("check_op.direction");
    x = at;
    double sum = 0;
    for (size_t j = 0; j < high.size(); ++j)
      sum += static_cast<double>(direction[j]) * (static_cast<double>(high[j]) - static_cast<double>(low[j]));
    return sum / (static_cast<double>(above) - static_cast<double>(below));
  }

 private:
  std::shared_ptr<Backend> backend_;
  Store store_;
  Tape tape_;
  ValueId out_;
  std::string where_;
  std::optional<Program> program_;
};

double largest_of(const Numbers& numbers) {
  double most = 1e-3;  // a gradient of zeros has rounding errors too
  for (const float x : numbers) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

/// Compares the gradient of every input with differences. Of two widths the better one counts, as a corner within the
/// wider is no fault.
OpCheck check_differences(Trial& trial, size_t inputs, const CheckOptions& options) {
  OpCheck check;
  for (size_t k = 0; k < inputs; ++k) {
    trial.replay();  // after the differences of the input before
    const Numbers gradient = trial.gradient(k);
    const double largest = largest_of(gradient);
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double backward = static_cast<double>(gradient[i]);
      double by_differences = trial.difference(k, i, options.step);
      if (!(std::abs(backward - by_differences) <= options.tolerance * largest))
        by_differences = trial.difference(k, i, options.step / 4);
      const double error = std::abs(backward - by_differences) / largest;
      if (!(error <= options.tolerance))
        fail(trial.where(), "input {} at {}: backward {:.4g}, by differences {:.4g}: expected within {:g} %",
             k + 1, i, backward, by_differences, 100 * options.tolerance);
      if (error > check.worst) check = {error, k, static_cast<int64_t>(i)};
    }
  }
  return check;
}

void check_alone(const RecordOp& record, const std::vector<Shape>& shapes, const Trial& all,
                 const CheckOptions& options) {
  for (size_t k = 0; shapes.size() > 1 && k < shapes.size(); ++k) {
    const Trial only(record, shapes, 1, false, k);
    const Numbers together = all.gradient(k), alone = only.gradient(k);
    const double most = options.tolerance * largest_of(together);
    for (size_t i = 0; i < together.size(); ++i)
      if (!(std::abs(static_cast<double>(together[i]) - static_cast<double>(alone[i])) <= most))
        fail(all.where(),
             "input {} at {}: backward {:.4g}, and {:.4g} where no other has a gradient: expected equal",
             k + 1, i, together[i], alone[i]);
  }
}

/// Refuses two results that are not the same bits. `when` says how `other` was made.
void check_bits(const Trial& trial, const std::string& what, const Numbers& one, const Numbers& other,
                const char* when) {
  for (size_t i = 0; i < one.size(); ++i)
    if (std::memcmp(&one[i], &other[i], sizeof(float)) != 0)
      fail(trial.where(), "{} at {}: {:.9g}, and {:.9g} {}: expected the same bits", what, i, one[i],
           other[i], when);
}

void check_bits(const Trial& one, const Numbers& out, const std::vector<Numbers>& gradients,
                const Trial& other, const char* when) {
  check_bits(one, "the result", out, other.out(), when);
  for (size_t k = 0; k < gradients.size(); ++k)
    check_bits(one, "the gradient of " + input_name(k), gradients[k], other.gradient(k), when);
}

}  // namespace

OpCheck check_op(const RecordOp& record, const std::vector<Shape>& shapes, const CheckOptions& options) {
  if (!record) fail("check_op", "there is no function: expected one that records an op");
  if (!(options.step > 0 && std::isfinite(options.step) && options.tolerance > 0))
    fail("check_op", "a step of {} and a tolerance of {}: expected both above zero", options.step,
         options.tolerance);
  Trial once(record, shapes, 1);
  const Numbers out = once.out();
  std::vector<Numbers> gradients;
  for (size_t k = 0; k < shapes.size(); ++k) gradients.push_back(once.gradient(k));
  once.replay();
  check_bits(once, out, gradients, once, "in a second replay");
  check_bits(once, out, gradients, Trial(record, shapes, 2), "with 2 threads");
  check_bits(once, out, gradients, Trial(record, shapes, 3), "with 3 threads");
  check_alone(record, shapes, once, options);

  const OpCheck check = check_differences(once, shapes.size(), options);
  Trial twice(record, shapes, 1, true);
  const OpCheck added = check_differences(twice, shapes.size(), options);
  return added.worst > check.worst ? added : check;
}

}  // namespace normscope
