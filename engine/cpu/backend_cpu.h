// Makes the CPU backend, and times its programs chunk by chunk.
#pragma once

#include <memory>
#include <vector>

#include "engine/tape/backend.h"
#include "engine/tape/store.h"

namespace normscope {

/// The number of threads never changes a result; 0: usable_cores(). Any thread may replay a program of the backend: two
/// that do so at once replay one after the other, as the backend's threads serve one replay at a time. To replay at the
/// same time, each thread takes a backend of its own. A Store and a single Program are for one thread at a time.
std::unique_ptr<Backend> make_cpu_backend(int threads = 0);

/// A Store with a CPU backend of its own, whose parameters get memory and initial values when the first program is
/// sealed: by then they all are declared. `threads` as for make_cpu_backend.
Store make_cpu_store(uint64_t seed, int threads = 0);

/// The seconds that each chunk of one stage of a program takes on one thread.
struct StageSeconds {
  size_t instruction;
  bool one_thread;  ///< one thread takes all chunks, however many there are
  std::vector<double> chunks;
};
/// Runs a program of the CPU backend once, chunk by chunk, on the calling thread. Serves tools that estimate the speed
/// with other numbers of threads (bench --scaling); throws for another backend's program.
std::vector<StageSeconds> time_chunks(Executable& executable, const StepInputs& inputs);

}  // namespace normscope
