// `Cost` is what an instruction of a Program has to do, by its shapes; `least_seconds` is how long the machine's peak
// would take for it. They are rooflines, as of train --profile.
#pragma once

#include <string>

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

/// What the machine can do per second: fused multiply-adds in registers, and main memory. 0: not measured.
struct Roof {
  double flops = 0, bytes = 0;
};
/// The longer of the times that arithmetic and bytes take at the roof. Caches move tensors faster
/// than main memory: an instruction on cached tensors can take less.
double least_seconds(const Cost& cost, const Roof& roof);

/// Says the rate of the arithmetic, or of the bytes where there is none: "312 GFLOP/s" or "41 GB/s".
std::string rate_text(const Cost& cost, double seconds);

}  // namespace normscope
