// What a CPU kernel receives and how an op describes its work. Called from cpu/backend_cpu.cpp's replay loop.
//
// An instruction runs as one to four stages. Each stage is cut into chunks by shape alone, never by thread
// count, and a barrier stands between stages; reductions across chunks write partials to the workspace and a
// last stage adds them in chunk order. So results are the same bits on any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/core/shape.h"
#include "engine/tape/program.h"

namespace normscope::cpu {

inline constexpr int kMaxInputs = 4;
inline constexpr int kMaxSaved = 2;
inline constexpr int kMaxStages = 4;

/// A tensor with its address. Integer tensors use i32().
struct Tensor {
  float* p = nullptr;
  Shape shape;
  const int32_t* i32() const { return reinterpret_cast<const int32_t*>(p); }
  explicit operator bool() const { return p != nullptr; }
};

/// One parameter of a multi-tensor update (grad_norm, clip, adam, sgd work on all parameters at once).
struct ParameterCall {
  float *value, *gradient, *m, *v;
  int64_t size;
};

/// One instruction with its addresses resolved. Plain data, immutable during replay.
struct Call {
  OpKind op;
  Phase phase;
  Attributes attributes;
  Tensor in[kMaxInputs];
  Tensor out;
  Tensor saved[kMaxSaved];
  Tensor dout;             ///< gradient of out (backward)
  Tensor din[kMaxInputs];  ///< gradients of in (backward); empty where skipped
  Write write[kMaxInputs] = {Write::Skip, Write::Skip, Write::Skip, Write::Skip};
  float* workspace =
      nullptr;              ///< shared by all stages of this instruction, undefined on entry, 64-byte aligned
  double* stats = nullptr;  ///< first of its numbers in the stats block
  // Update phase: all parameters, and the stats of each (grad_norm, update_norm, weight_norm, total norm,
  // clip factor).
  const ParameterCall* parameters = nullptr;
  int64_t parameter_count = 0;
  double *grad_norm = nullptr, *update_norm = nullptr, *weight_norm = nullptr, *total_norm = nullptr,
         *clip_factor = nullptr;
};

/// Private bytes of a worker: undefined on entry, never read by another chunk (packing panels, score tiles).
struct Scratch {
  float* p;
};
inline constexpr size_t kScratchFloats = size_t{1} << 18;  // 1 MiB a worker

using StageFn = void (*)(const Call&, const StepInputs&, int64_t chunk, Scratch) noexcept;

struct Stage {
  StageFn run = nullptr;
  int64_t chunks = 0;
};

/// What an op answers at lowering; a pure function of shapes, attributes and write modes.
struct Stages {
  int count = 0;
  Stage stage[kMaxStages];
  size_t workspace_floats = 0;
  void add(StageFn run, int64_t chunks) { stage[count++] = {run, chunks}; }
};

/// One line a registry entry: forward and backward (nullptr where the op has none). At planning time Call::in
/// etc. hold shapes and null-ness is meaningful, addresses must not be read.
struct Kernels {
  Stages (*forward)(const Call&) = nullptr;
  Stages (*backward)(const Call&) = nullptr;
};

// Defined in ops/<op>_cpu.cpp.
#define OP(Kind, name, inputs) Kernels name##_kernels();
#include "engine/ops/ops.def"
#undef OP

}  // namespace normscope::cpu
