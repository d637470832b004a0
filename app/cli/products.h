// How this processor cuts matrix products fastest (engine/cpu/gemm/gemm_choice.h): timed once, remembered in the user's
// cache. Only the time of a step depends on it, so nothing is said and nothing fails where it cannot be remembered.
// Called by the commands that train, before they make a backend.
#pragma once

#include <functional>
#include <string>

#include "engine/cpu/gemm/gemm_choice.h"

namespace normscope::cli {

/// What `file` says of `processor`. Where it says nothing, is damaged, or names what is no candidate here any more:
/// what `time` says, which is kept there beside what was known of other processors.
cpu::GemmChoice remembered_products(const std::string& file, const std::string& processor,
                                    const std::function<cpu::GemmChoice()>& time);

/// For all backends that are made from now on: as remembered, else timed, which takes 50 ms.
void use_fastest_products() noexcept;

}  // namespace normscope::cli
