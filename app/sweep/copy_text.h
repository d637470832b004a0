// A sweep as text to be run elsewhere (experiments/elsewhere.h); it trains the very plan, extra seeds of regions included.
// Called by the command (--print-command), the screen (Copy) and the tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/sweep/sweep_plan.h"
#include "training/experiments/elsewhere.h"
#include "training/spec/backend_choice.h"

namespace normscope::sweep {

struct Elsewhere {
  int32_t tasks = 0;  ///< see experiments::Elsewhere
  BackendChoice backend{};
  std::string metric{};  ///< of the colour; empty: the usual one
};

/// "normscope sweep --axis ... --seeds 3"; `between` stands before each option.
std::string command_text(const Plan& plan, const Elsewhere& where = {}, std::string_view between = " ");
/// By the name of the form. Throws Error.
std::string text_for(std::string_view form, const Plan& plan, const Elsewhere& where);

}  // namespace normscope::sweep
