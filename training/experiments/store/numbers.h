// The numbers are what decides a run's bits beside its specification: the version of the engine's numbers, the backend
// and the instruction set. They are part of the key of every stored result, so that none outlives the arithmetic that
// made it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/tape/backend.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

/// Raised with every change to the engine that changes a bit of what training computes.
/// tests/training/experiments/test_numbers.cpp holds checksums of what some runs compute with each instruction set, and
/// fails by name when they change and this has not.
inline constexpr int32_t kNumbersVersion = 1;

/// Small runs whose bits change with the arithmetic: Post-LN with dropout and label smoothing,
/// Pre-LN with GELU and clipping, Admin with RMSNorm, and plain SGD with an output table of its own.
std::vector<RunSpec> checksum_runs();
/// The checksum of losses, weights and optimizer state after `steps` steps, bit for bit.
uint64_t checksum(const RunSpec& spec, int32_t steps, Backend& backend);

/// "numbers 1 CPU avx3 5f0c1a2b3c4d5e6f". The last word is a checksum of three steps of each of these
/// runs on this very machine, made once a process: a compiler or processor that computes them otherwise has another
/// key.
std::string numbers_of(Backend& backend);

}  // namespace normscope::experiments
