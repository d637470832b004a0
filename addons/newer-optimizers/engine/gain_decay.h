// Which gains of norms weight decay draws to zero: a part that marks the others.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tape/tape.h"

namespace normscope {

/// Before: those that only matrix products read, as of the norms that begin Pre-LN's branches and of its last one.
enum class DecayedGains : uint8_t { Every, Before, None };
inline constexpr std::string_view kDecayedGains[] = {"every", "before", "none"};

struct GainDecayConfig {
  DecayedGains gains = DecayedGains::Every;
  bool operator==(const GainDecayConfig&) const = default;
};

/// Whether nothing but matrix products reads a value of the tape, and at least one does.
bool feeds_only_matrices(const Tape&, ValueId);

}  // namespace normscope
