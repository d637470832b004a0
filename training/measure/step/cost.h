// What an instruction of a Program has to do, by its shapes, and how long the machine's peak would take for it: the
// rooflines of normscope bench, train --profile and tape --fold.
#pragma once

#include <string>

#include "engine/tape/program.h"

namespace normscope {

/// Arithmetic is counted for products, convolutions and attention (dense, the masked half too); the other ops are counted
/// by the bytes that they have to read and write once.
struct Cost {
  double flop = 0, bytes = 0;
  Cost& operator+=(const Cost& o) {
    flop += o.flop;
    bytes += o.bytes;
    return *this;
  }
};
Cost cost_of(const ProgramData& program, const Instruction& instruction);

/// What the machine can do a second: fused multiply-adds in registers, and main memory. 0: not measured.
struct Roof {
  double flops = 0, bytes = 0;
};
/// Seconds at the roof: what arithmetic or bytes take at least, whichever is longer. Tensors that stay in a cache are
/// moved faster than main memory can: an instruction on them can take less.
double least_seconds(const Cost& cost, const Roof& roof);

/// "312 GFLOP/s" or "41 GB/s".
std::string rate_text(const Cost& cost, double seconds);

}  // namespace normscope
