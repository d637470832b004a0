// A measurement that is not a node: seal places it (Tape::probe). It writes one number of a tensor to the stats block.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

enum class ProbeKind : uint8_t { MeanSquare, Variance, Mean };

struct ProbeSpec {
  static constexpr OpKind kOp = OpKind::Probe;
  ProbeKind kind = ProbeKind::Mean;
  int32_t part = 0, parts = 1;  ///< of (B,T,parts,D): only that part of every position, from 0
  friend bool operator==(const ProbeSpec&, const ProbeSpec&) = default;
};

/// Asks for the mean square of a value after every replay.
inline void probe_mean_square(Tape& tape, std::string name, ValueId value) {
  tape.probe({std::move(name), ProbeSpec{ProbeKind::MeanSquare}, value});
}

}  // namespace normscope
