// Rotary positions (Su et al. 2021) as data: which numbers of a head turn, how fast, and the published ways of
// stretching them over more positions than a model was trained on: `config.of<RotaryConfig>()`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "addons/published/engine/rotary.h"
#include "engine/core/initial_values.h"

namespace normscope {

inline constexpr std::string_view kRotaryPairings[] = {"halves", "neighbours"};

/// How the rates change with the factor s; P are the positions of the training:
/// Linear: every rate is divided by s (Chen et al. 2023, position interpolation).
/// Llama3: only slow pairs, fewer than `low` turns in P positions, are divided by s; beyond `high` turns none are, and
/// between them both are mixed evenly (Llama 3.1's published code).
/// Yarn: the same with `low` and `high` as places of pairs, and queries and keys are multiplied by 0.1 ln s + 1 (Peng
/// et al. 2023).
enum class RotaryScaling : uint8_t { None, Linear, Llama3, Yarn };
inline constexpr std::string_view kRotaryScalings[] = {"none", "linear", "llama3", "yarn"};

struct RotaryConfig {
  float base = 10000;
  /// The base in layers whose attention has a window, without any scaling (Gemma 3); 0: as in the others.
  float local_base = 0;
  float share = 1;  ///< of a head's numbers that turn, from the first on
  RotaryPairing pairing = RotaryPairing::Halves;
  RotaryScaling scaling = RotaryScaling::None;
  float factor = 1;     ///< s
  int32_t trained = 0;  ///< P; 0: the model's own positions
  /// "rn": queries and keys of the first layer turn, those of the second do not, and so on from the start again
  /// (SmolLM3); empty: all turn.
  std::string pattern = {};
  float low = 1, high = 4;  ///< turns in P positions; Yarn's are usually 1 and 32
  bool operator==(const RotaryConfig&) const = default;
};

/// The numbers of a head that turn: an even number, at most the head's width.
int32_t rotary_numbers(const RotaryConfig& config, int32_t head_width);

/// The start of the table (positions, numbers) of the op: Init::Kind::Turns.
Init rotary_table(const RotaryConfig& config, int32_t head_width, int32_t positions, bool local);

}  // namespace normscope
