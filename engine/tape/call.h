// An instruction with its addresses resolved: the argument of every kernel, on any machine. bind() makes it from a
// Program; a backend adds what only its kernels need (cuda/kernel.h).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/shape.h"
#include "engine/tape/program.h"
#include "engine/tape/step_inputs.h"

namespace normscope {

inline constexpr int kMaxInputs = 6;
inline constexpr int kMaxSaved = 2;

/// An address and a shape; null where a tensor is absent. Integer tensors are read through i32().
struct Tensor {
  float* p = nullptr;
  Shape shape;
  const int32_t* i32() const { return reinterpret_cast<const int32_t*>(p); }
  explicit operator bool() const { return p != nullptr; }
};

/// One parameter with the optimizer's moments m and v, for the ops that work on all parameters at once: grad_norm,
/// clip and the update rules.
struct ParameterCall {
  float *value = nullptr, *gradient = nullptr, *m = nullptr, *v = nullptr;
  int64_t size = 0;
  /// Of a matrix between hidden states: its shape, and its offset in floats in a block of all such matrices, each at a
  /// multiple of 64 bytes. 0 rows: no such matrix.
  int64_t rows = 0, cols = 0, at = 0;
  StepScale steps = {};
  constexpr bool is_matrix() const { return rows > 0; }
};

/// Plain data, immutable during replay.
struct Call {
  OpKind op = {};
  Phase phase = Phase::Forward;
  Attributes attributes;
  Tensor in[kMaxInputs];
  Tensor out;
  Tensor saved[kMaxSaved];
  Tensor dout;                   ///< gradient of out (backward)
  Tensor din[kMaxInputs];        ///< gradients of in (backward); empty where skipped
  Write write[kMaxInputs] = {};  ///< of each din (backward); Skip where empty
  /// The memory that all stages of this instruction share: undefined on entry, 64-byte aligned.
  float* workspace = nullptr;
  /// The data that this node's forward instruction leaves to its backward instruction in addition to the saved
  /// tensors, 64-byte aligned; null where nothing is kept or no backward instruction follows.
  float* kept = nullptr;
  const void* extra = nullptr;  ///< made by the backend at lowering, for all stages and replays
  double* stats = nullptr;      ///< first of the instruction's numbers in the stats block
  // Update phase: all parameters, norms for each parameter, and two numbers for all parameters together: the total
  // norm and the clip factor.
  const ParameterCall* parameters = nullptr;
  int64_t parameter_count = 0;
  double *grad_norm = nullptr, *update_norm = nullptr, *weight_norm = nullptr, *total_norm = nullptr,
         *clip_factor = nullptr;

  /// Of an op of one's own, in backward: adds g to the gradient of number i of input k, which begins at zero or at what
  /// others gave. Does nothing where the input has none.
  void give(int k, int64_t i, float g) const {
    if (din[k]) din[k].p[i] += g;
  }
};

/// Makes one instruction's call, without workspace, parameters, `kept`, `extra`. `stats`: the program's stats block.
Call bind(const ProgramData& program, const Instruction& instruction, const Addresses& at, double* stats);

/// Lists all parameters with a gradient, in the order of the stats block.
std::vector<ParameterCall> bind_parameters(const ProgramData& program, const Addresses& at);

}  // namespace normscope
