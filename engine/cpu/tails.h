// Tails are instructions that are carried out region by region behind another one, while its result is in the cache:
// elementwise ones and norms behind a product. Called by cpu/backend_cpu.cpp when a program is lowered.
#pragma once

#include <vector>

#include "engine/cpu/kernel.h"

namespace normscope::cpu {

/// Follows the instructions behind a first one for as long as they can be its tails.
class TailFinder {
 public:
  TailFinder(const Call& head, const Stages& stages);
  /// Takes the next instruction as a tail if it works on the first one's regions, row by row, and writes
  /// nothing that an instruction before it reads or writes: those may not be through with other regions.
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
  Shape shape_;  ///< of the tensor that comes in regions
  std::vector<Range> seen_;
};

}  // namespace normscope::cpu
