// The op harness drives the CPU kernels of one op directly through Call and Stages, without tape or Program, in memory
// that shows every mistake: outputs and workspace start as NaN, and canaries surround every tensor.
#pragma once

#include "engine/cpu/kernel.h"
#include "engine/cpu/pool.h"
#include "engine/support/helpers.h"
#include "engine/support/op_cases.h"

namespace normscope::test {

/// Holds tensors on 64-byte lines with a canary right before and after each.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t capacity_floats);
  float* floats(size_t n);  ///< poisoned with NaN
  float* copy(const std::vector<float>& values);
  float* copy(const std::vector<int32_t>& values);
  bool intact() const;

 private:
  std::unique_ptr<float[]> memory_;
  size_t size_, next_ = 0;
  std::vector<size_t> canaries_;  // first float of each
  float* begin();
};

/// What runs the chunks of a stage: a pool of n threads, or the calling thread from the last chunk to the first.
struct Order {
  cpu::Pool* pool = nullptr;  ///< nullptr: reversed
  std::string name;
};
/// Pools of 1, 2 and 3 threads, and the reversed order. Under the address sanitizer only the first two: what a chunk
/// touches does not depend on which thread runs it when, and tests without a sanitizer show the same of the bits.
const std::vector<Order>& orders();

using cpu::kernels_of;

/// Runs all stages with a poisoned workspace; false when a stage wrote outside it.
bool run_stages(const cpu::Stages& stages, Call call, const StepInputs& step, const Order& order);

struct Outcome {
  std::vector<float> out;
  std::vector<std::vector<float>> saved, din;
  std::vector<double> stats;
  bool intact = true;  ///< no canary touched, inputs unchanged
  bool operator==(const Outcome&) const = delete;
};
/// A case with its cotangent, what the reference says of it, and gradients to be added to.
struct ReferenceCase {
  Inputs<double> in;
  Values dy;
  std::vector<Values> forward, gradients, base;
};
ReferenceCase prepare(const OpCase& c);

/// Runs forward, then backward with the given write modes. Add starts from `base` (one array per input).
Outcome run_case(const OpCase& c, const std::vector<Write>& write, const Inputs<double>& in, const Values& dy,
                 const std::vector<Values>& base, const Order& order);

bool same_bits(const Outcome& a, const Outcome& b);

/// ‖a - b‖ / ‖b‖; NaN when anything is NaN, infinite when b is zero and a is not.
double relative_error(const std::vector<float>& a, const Values& b);

/// Bounds the relative error of a float32 computation whose elements are sums of K terms: c eps sqrt(K),
/// eps = 2^-24 (unit round-off), rounding errors adding up like a random walk. c = 4 covers the few roundings before
/// and after each sum and the 1-3 ulp of exp and tanh; the largest error seen is 0.6 of it.
double bound(double terms);

double norm_of(const Values& v);

/// Covers all inputs with a gradient at once, and where there are several each alone; assigned and added.
std::vector<std::vector<Write>> write_patterns(const OpCase& c);

/// Compares the output, what is saved and the gradients of any backend with the reference, within
/// `slack` times bound().
void check_outcome(const OpCase& c, const ReferenceCase& p, const std::vector<Write>& write,
                   const Outcome& outcome, double slack = 1);

/// Runs one case on one backend, as run_case() does.
struct OpRunner {
  std::string name;
  std::function<Outcome(const std::vector<Write>& write, const Inputs<double>& in, const Values& dy,
                        const std::vector<Values>& base)>
      run;
};
/// Checks that NaN in one input or in the output's gradient arrives wherever the reference has it.
/// With `nowhere_else` it arrives there alone; but attention may spread a NaN within its tensor: a masked key counts
/// with probability zero, and zero times NaN is NaN.
void check_nan_case(const OpCase& c, const std::vector<OpRunner>& runners, bool nowhere_else);

/// The names of the instruction sets that this processor has, e.g. sse4, avx2, avx3; or the one of NORMSCOPE_ISA.
std::vector<std::string> instruction_sets();
/// Sets the one for kernels looked up from now on; empty: the default.
void use_instruction_set(const std::string& name);

template <class F>
void on_each_instruction_set(F f) {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    f();
  }
  use_instruction_set("");
}

}  // namespace normscope::test
