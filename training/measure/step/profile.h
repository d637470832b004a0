// The work of an instruction of a Program, counted from its shapes, and its time: the numbers of normscope train
// --profile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tape/program.h"

namespace normscope {

/// Arithmetic is counted for products, convolutions and attention (dense, the masked half too; within a window, as many
/// keys as it has). Other ops are counted by the bytes that they have to read and write once.
struct Cost {
  double flop = 0, bytes = 0;
  Cost& operator+=(const Cost& o) {
    flop += o.flop;
    bytes += o.bytes;
    return *this;
  }
};
Cost cost_of(const ProgramData& program, const Instruction& instruction);

/// Says the rate of the arithmetic, or of the bytes where there is none: "312 GFLOP/s" or "41 GB/s".
std::string rate_text(const Cost& cost, double seconds);

struct InstructionProfile {
  std::string name;
  OpKind op = OpKind::Count;
  Phase phase = Phase::Forward;
  double seconds = 0;  ///< median
  double share = 0;    ///< of the sum over all instructions
  Cost cost;
};
/// Times every instruction alone, step after step in order of execution. The program's inputs must have been
/// filled; the profile makes `repeats` updates.
std::vector<InstructionProfile> profile(Program& program, const StepInputs& inputs, int repeats);

/// Prints the whole profile: a line per node with forward and backward side by side, then update and sums.
std::string profile_table(const std::vector<InstructionProfile>& rows);

struct Timing {
  double minimum = 0, median = 0;  ///< seconds a call
};

/// With a budget below this, in seconds, time_call() times one batch: enough to test that something works.
constexpr double kTrial = 0.01;

/// Times `call` in batches until about `budget` seconds are spent, after two calls, to warm up and to size the batches:
/// at least five batches, or one in a trial. The process first sleeps for a moment, so that spinning threads of another
/// library have gone to sleep.
Timing time_call(const std::function<void()>& call, double budget = 0.25);

/// Arithmetic in registers and memory bandwidth, the two lines of a roofline.
struct MachinePeak {
  std::string processor, isa;
  int threads = 0;
  double gflops = 0, bandwidth_gbs = 0;
};
/// Measures with all `threads`, each timing for about `budget` seconds.
MachinePeak measure_machine_peak(int threads, double budget);

}  // namespace normscope
