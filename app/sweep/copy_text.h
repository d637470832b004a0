// The copy text is a sweep as text that runs it elsewhere (experiments/elsewhere.h). It trains exactly this plan, extra
// seeds of regions included. The command (--print-command), the screen (Copy) and the tests call it.
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

/// `command_text` writes "normscope sweep --axis ... --seeds 3"; `between` goes before each option.
std::string command_text(const Plan& plan, const Elsewhere& where = {}, std::string_view between = " ");
/// `text_for` writes the form with that name. Throws Error.
std::string text_for(std::string_view form, const Plan& plan, const Elsewhere& where);

}  // namespace normscope::sweep
