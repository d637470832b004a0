// Tails are instructions that run on each region of another instruction's result while it is in the cache: elementwise
// ops and norms after a product. Called by cpu/backend_cpu.cpp when a program is lowered.
#pragma once

#include <vector>

#include "engine/cpu/kernel.h"

namespace normscope::cpu {

/// Decides which of the instructions that follow a head instruction can be its tails.
class TailFinder {
 public:
  TailFinder(const Call& head, const Stages& stages);
  /// Takes the next instruction as a tail if it works on the head's regions, row by row, and writes nothing that an
  /// instruction before it reads or writes: other regions may still need that memory.
  bool takes(const Call& call, const Stages& stages);
  /// Whether the next instruction can wait until all tails are done, because no tail, taken or to come,
  /// writes what it reads.
  bool lets(const Call& probe);

 private:
  struct Range {
    const float *begin, *end;
  };
  static void collect(const Call& call, std::vector<Range>& reads, std::vector<Range>& writes);
  bool meets(const std::vector<Range>& writes) const;

  bool possible_ = false, whole_rows_ = false;
  Phase phase_;
  Shape shape_;  ///< of the head's result
  std::vector<Range> seen_;
};

}  // namespace normscope::cpu
