// A device case runs one op case (engine/support/op_cases.h) on the device through the driver, without tape or Program,
// in memory that shows every mistake: outputs and workspace start as NaN, every tensor stands between canaries.
#pragma once

#include "engine/support/op_harness.h"

namespace normscope::test {

/// Does what run_case() does on the CPU; twice gives the same bits. Not `stored`: what the op saves has
/// no memory (attention computes its probabilities again).
Outcome run_on_device(const OpCase& c, const std::vector<Write>& write, const Inputs<double>& in,
                      const Values& dy, const std::vector<Values>& base, bool stored = true);

}  // namespace normscope::test
