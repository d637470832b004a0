// An op of one's own, in one's own project: two functions for the CPU, forward and backward, under a name.
// examples/own_op.cpp has one.
//
//   static const OpKind op = add_op(elementwise_op<forward, backward>("scale_by", {.inputs = 1}));
//   const Node node = tape.node(op, name, {x}, ScaleBy{factor});
//   return tape.add_node(node, tape.shape(x));
//
// Both functions get a Call with the tensors of one instruction: forward fills c.out, and backward reads c.dout and hands
// gradients on by c.give(). A Range is the part of the result that they compute. Parts depend on sizes alone, so the bits
// are the same for any number of threads. Functions write nothing else and keep nothing between calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "engine/core/error.h"
#include "engine/cpu/kernel.h"
#include "engine/ops/registry.h"

namespace normscope {

/// The numbers of the result, or its rows, from `first` to before `end`.
struct Range {
  int64_t first, end;
};
using Part = void (*)(const Call&, const StepInputs&, Range) noexcept;

/// The inputs of an op, as in OpTraits.
struct OpInputs {
  size_t inputs = 0;
  size_t optional = 0;    ///< how many of the last may be kNone
  uint8_t integers = 0;   ///< a bit for each input of integers
  uint8_t constants = 0;  ///< a bit for each input of reals that has no gradient
};

namespace own {

/// While one lives, parts that are sealed have one number, or one row: check_op sees what touches another's. A program
/// that another thread seals meanwhile gets such parts too, which changes no number.
class SmallParts {
 public:
  SmallParts() { ++living_; }
  ~SmallParts() { --living_; }
  SmallParts(const SmallParts&) = delete;
  static int64_t numbers() { return living_ > 0 ? 1 : cpu::kFlatChunk; }

 private:
  static inline std::atomic<int> living_ = 0;
};

template <Parts parts>
int64_t items_of(const Call& c) {
  return parts == Parts::Numbers ? c.out.shape.size() : parts == Parts::Rows ? c.out.shape.rows() : 1;
}

/// Rows count by the widest tensor.
template <Parts parts>
cpu::Cut cut_of(const Call& c) {
  int64_t width = 1;
  if (parts == Parts::Rows) {
    width = c.out.shape.cols();
    for (const Tensor& in : c.in) width = std::max(width, in.shape.cols());
  }
  return cpu::cut(items_of<parts>(c), SmallParts::numbers() / width);
}

/// Of what the plan was: it keeps the cut where it keeps a product's.
template <Parts parts>
Range range_of(const Call& c, int64_t chunk) {
  if (parts == Parts::Whole) return {0, c.out.shape.size()};
  const cpu::Cut& cut = cpu::plans_of(c)->rows;
  return {cut.begin(chunk), cut.end(chunk, items_of<parts>(c))};
}

template <Part part, Parts parts>
void forward(const Call& c, const StepInputs& s, int64_t chunk, cpu::Scratch) noexcept {
  part(c, s, range_of<parts>(c, chunk));
}

/// Where this instruction is the first to write a gradient, give() adds to zero.
template <Part part, Parts parts>
void backward(const Call& c, const StepInputs& s, int64_t chunk, cpu::Scratch) noexcept {
  const Range range = range_of<parts>(c, chunk);
  for (int k = 0; k < kMaxInputs; ++k) {
    if (c.write[k] != Write::Assign) continue;
    const int64_t size = c.din[k].shape.size(), each = parts == Parts::Rows ? c.din[k].shape.cols() : 1;
    const Range own = parts == Parts::Whole ? Range{0, size} : Range{range.first * each, range.end * each};
    std::fill(c.din[k].p + own.first, c.din[k].p + own.end, 0.0f);
  }
  part(c, s, range);
}

template <cpu::StageFn run, Parts parts>
cpu::Stages plan(const Call& c) {
  const cpu::Cut cut = cut_of<parts>(c);
  cpu::Stages stages = cpu::one_stage(run, cut.chunks);
  stages.plans[0].rows = cut;
  return stages;
}

template <Part of_forward, Part of_backward, Parts parts>
cpu::Kernels kernels() {
  cpu::Kernels both{.forward = plan<forward<of_forward, parts>, parts>};
  if constexpr (of_backward != nullptr) both.backward = plan<backward<of_backward, parts>, parts>;
  return both;
}

template <Part of_forward, Part of_backward, Parts parts>
OwnOp make(const char* name, const OpInputs& in) {
  if (in.inputs > kMaxInputs)
    fail("add_op", "{} has {} inputs: expected at most {}", name, in.inputs, kMaxInputs);
  if (in.optional > in.inputs || (in.integers | in.constants) >> in.inputs != 0)
    fail("add_op", "{} says more than {} of its {} inputs: expected a bit for each", name, in.inputs,
         in.inputs);
  constexpr bool kBack = of_backward != nullptr;
  return {.traits = {.name = name,
                     .inputs = in.inputs,
                     .optional = in.optional,
                     .integers = in.integers,
                     .constants = kBack ? in.constants : uint8_t{0x3f},
                     .differentiable = kBack,
                     .parts = parts},
          .kernels = kernels<of_forward, of_backward, parts>};
}

}  // namespace own

// Without a backward no gradient passes through an op.

/// An op on numbers: each input of reals has as many as the result, and backward gives to the numbers of its range
/// alone.
template <Part forward, Part backward = nullptr>
OwnOp elementwise_op(const char* name, const OpInputs& in) {
  return own::make<forward, backward, Parts::Numbers>(name, in);
}

/// An op on rows: each input of reals has as many as the result, and backward gives to the rows of its range alone.
template <Part forward, Part backward = nullptr>
OwnOp row_op(const char* name, const OpInputs& in) {
  return own::make<forward, backward, Parts::Rows>(name, in);
}

/// An op that one thread computes as a whole, such as one whose gradient is a sum over rows. The range has all numbers of
/// the result.
template <Part forward, Part backward = nullptr>
OwnOp whole_op(const char* name, const OpInputs& in) {
  return own::make<forward, backward, Parts::Whole>(name, in);
}

}  // namespace normscope
