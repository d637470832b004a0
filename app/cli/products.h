// The products say how this processor multiplies matrices fastest (engine/cpu/gemm/gemm_choice.h): timed once,
// remembered in the user's cache. Only the time of a step depends on it, so where it cannot be remembered, nothing is
// reported and nothing fails. The commands that train call it before they make a backend.
#pragma once

#include <functional>
#include <string>

#include "engine/cpu/gemm/gemm_choice.h"

namespace normscope::cli {

/// `remembered_products` returns what `file` says of `processor`. Where the file says nothing, is damaged, or names a
/// choice that is no longer a candidate, it returns what `time` says and keeps that in the file beside the entries of
/// other processors.
cpu::GemmChoice remembered_products(const std::string& file, const std::string& processor,
                                    const std::function<cpu::GemmChoice()>& time);

/// `use_fastest_products` sets the choice for all backends made from now on: the remembered one, or else a timed one,
/// which takes 50 ms.
void use_fastest_products() noexcept;

}  // namespace normscope::cli
