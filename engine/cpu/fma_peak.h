// The FMA peak is the arithmetic throughput of the chosen instruction set: chains of fused multiply-adds in
// registers, no loads. The benchmark uses it as the roofline of every kernel.
#pragma once

#include <cstdint>

namespace normscope::cpu {

/// Runs `rounds` rounds of independent FMAs and returns the floating-point operations done (an FMA counts
/// two). `sink` takes a number that depends on all of them.
int64_t spin_fma(int64_t rounds, float* sink);

}  // namespace normscope::cpu
