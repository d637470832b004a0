// The CPU backend trains on the processor.
#pragma once

#include <memory>
#include <vector>

#include "engine/tape/backend.h"

namespace normscope {

/// Takes the number of threads, which never changes a result; 0 means usable_cores().
std::unique_ptr<Backend> make_cpu_backend(int threads = 0);

/// One stage of a program: how long each of its chunks takes on one thread.
struct StageSeconds {
  size_t instruction;
  bool one_thread;  ///< one thread takes all chunks, however many there are
  std::vector<double> chunks;
};
/// Runs a program of the CPU backend once, chunk by chunk, on the calling thread. It serves tools that
/// ask what other numbers of threads would do (bench --scaling); throws for another backend's program.
std::vector<StageSeconds> time_chunks(Executable& executable, const StepInputs& inputs);

}  // namespace normscope
