// The ISA is the instruction set of the kernels: the best that this processor has, or the set that NORMSCOPE_ISA
// names. It is chosen once when a CPU backend is made; later calls are cheap. Also here: what else the processor
// reports.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::cpu {

/// Chooses the instruction set for all kernels planned from now on: `name` is sse4, avx2, avx3 or neon; "" means the
/// environment variable NORMSCOPE_ISA, and where that is unset, the best. Throws Error for an unknown name, for one
/// that this processor or this build lacks, and on processors below the least supported. Returns the chosen name.
std::string choose_isa(std::string_view name = "");

/// Throws what choose_isa() throws, for callers that need no choice.
inline void check_instruction_set() { choose_isa(); }

/// The instruction sets that both this processor and this build have, best first.
std::vector<std::string> available_isas();

/// The instruction sets that this build has kernels for, best first.
std::vector<std::string> compiled_isas();

/// The name that the system reports ("AMD EPYC 9B14"), or "unknown". Some clouds report one name for every generation;
/// family and model then follow a name without a digit: "AMD EPYC (family 25, model 17)". Linux on ARM reports two
/// numbers instead: "implementer 0x41, part 0xd0c".
std::string processor_name();
/// The overload reads the name from the text of Linux's /proc/cpuinfo.
std::string processor_name(std::istream& cpuinfo);

/// The size of a core's L2 cache, as the system reports it; 1 MiB where it does not.
int64_t l2_bytes();
/// Overrides l2_bytes() for products planned from now on, in tests; 0: this processor's.
void use_l2_bytes(int64_t bytes);

// The FMA peak is the arithmetic throughput of the chosen instruction set: chains of fused multiply-adds in
// registers, no loads. The benchmark uses it as the roofline of every kernel.

/// Runs `rounds` rounds of independent FMAs and returns the number of floating-point operations (an FMA counts two).
/// `sink` receives a number that depends on all of them.
int64_t spin_fma(int64_t rounds, float* sink);

}  // namespace normscope::cpu
