// `LoneInstruction` is one node of a tape alone: its kernels on buffers of their own, for as many inputs as the
// caller wants to try. Called by numeric_check.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernel.h"

namespace normscope {

/// It runs the CPU's kernels of a node on the calling thread. Add the inputs in order, then prepare().
class LoneInstruction {
 public:
  LoneInstruction(const Node& node, const StepInputs& step) : node_(node), step_(step) {}

  void add_absent() { inputs_.emplace_back(); }
  void add_input(Shape shape, std::vector<float> values) {
    inputs_.push_back({shape, std::move(values), {}});
  }
  void add_integers(Shape shape, std::vector<int32_t> values) {
    inputs_.push_back({shape, {}, std::move(values)});
  }
  /// Takes the shapes of what it writes, and the gradient that arrives at its output.
  void prepare(Shape out, const std::vector<Shape>& saved, std::vector<float> output_gradient);

  std::vector<float>& input(size_t k) { return inputs_[k].numbers; }  ///< may be changed between passes
  const std::vector<float>& output_gradient() const { return dy_; }

  std::vector<float> forward();
  /// The gradient of input k alone, by forward and backward; nothing is added to it.
  std::vector<float> gradient(size_t k);

 private:
  struct Input {
    Shape shape;
    std::vector<float> numbers;
    std::vector<int32_t> integers;
  };
  Call call_of(Phase phase);
  void run(const cpu::Stages& stages, const Call& call);
  void write_inputs();

  const Node& node_;
  const StepInputs step_;
  std::vector<Input> inputs_;
  Shape out_shape_;
  std::vector<Shape> saved_shapes_;
  std::vector<float> dy_;
  std::vector<cpu::Block> in_, saved_;
  cpu::Block out_, dout_, kept_, scratch_;
  std::vector<double> stats_ = std::vector<double>(4);
};

}  // namespace normscope
