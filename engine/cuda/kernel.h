// Declares the argument of a CUDA kernel's launcher, `Call`, and the tables of the ops that work on many tensors at
// once. Plain C++: filled by cuda/backend_cuda.cpp, read by ops/*/*.cu. Addresses are device addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/ops/ops.h"
#include "engine/tape/call.h"

namespace normscope::cuda {

/// A part of a parameter: elements [first, first + kChunk).
struct Chunk {
  int32_t parameter = 0, first = 0;
};

/// All parameters of an update, cut into chunks (for grad_norm, clip and the update rules). Arrays in device memory.
struct UpdateTable {
  const ParameterCall* parameters = nullptr;
  const ParameterCall* on_host = nullptr;  ///< the same list, in host memory: shapes and addresses
  const Chunk* chunks = nullptr;
  const int32_t* first_chunk = nullptr;  ///< of each parameter; at the end chunk_count
  int32_t parameter_count = 0, chunk_count = 0;
  double* partials = nullptr;    ///< two for each chunk
  double* sums = nullptr;        ///< two for each parameter
  uint32_t* counters = nullptr;  ///< one for each parameter and one more; zero between launches
};

/// One probe of a launch that serves many.
struct ProbeEntry {
  const float* p = nullptr;
  int64_t size = 0;
  double* stat = nullptr;
  double* partials = nullptr;   ///< two for each chunk
  uint32_t* counter = nullptr;  ///< zero between launches
  ProbeKind kind = ProbeKind::Mean;
  const int32_t* lengths = nullptr;  ///< of rows (B,T,width): later positions do not count; null: all count
  int32_t batch = 0, positions = 0, width = 0;
  int32_t part = 0, parts = 1;  ///< of every position (ops/ops.h)
};
struct ProbeTable {
  const ProbeEntry* entries = nullptr;  ///< in device memory
  int32_t count = 0;
  int32_t most_chunks = 1;  ///< chunks of the largest probe
};

/// One instruction with its addresses resolved: the Call of tape/call.h, and the members that only this backend needs.
struct Call : normscope::Call {
  const StepInputs* step = nullptr;  ///< on the device: nothing that varies is a kernel argument
  uint32_t* counter = nullptr;       ///< for reductions finished by the last block; zero between launches
  UpdateTable update;
  ProbeTable probes;
  bool clip_follows = false;  ///< grad_norm also computes the clip factor
};

struct Context;  // cuda/context.cuh

/// The launchers of an op. workspace: floats that a call needs, asked once at lowering (nullptr: none).
struct Kernels {
  void (*forward)(const Call&, Context&) = nullptr;
  void (*backward)(const Call&, Context&) = nullptr;
  size_t (*workspace)(const Call&, Context&) = nullptr;
};

// Defined in ops/*/*.cu.
#define OP(Kind, name, ...) Kernels name##_kernels();
#include "engine/ops/ops.def"

}  // namespace normscope::cuda
