// Rotary position embedding: pairs of numbers of each head are turned by an angle that grows with the position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/initial_values.h"
#include "engine/tape/tape.h"

namespace normscope {

/// Says which two of the first 2n numbers of a head turn together, for i < n:
///   Halves      i and i + n        // Llama, GPT-NeoX
///   Neighbours  2i and 2i + 1      // Su et al. 2021, GPT-J
enum class RotaryPairing : uint8_t { Halves, Neighbours };

struct RotarySpec {
  static constexpr OpKind kOp = OpKind::Rotary;
  int32_t heads = 1;
  RotaryPairing pairing = RotaryPairing::Halves;
  friend bool operator==(const RotarySpec&, const RotarySpec&) = default;
};

/// Records the turn of queries or keys x (B,T,H*dh) of H heads. Row t of the table (P,2n), P >= T and 2n <= dh, has n
/// cosines, then n sines, for position t. With pair i = (a,b) of a head, cos = table[t,i] and sin = table[t,n+i]:
///   out[a]  =  x[a] cos - x[b] sin
///   out[b]  =  x[b] cos + x[a] sin
/// The numbers of a head from 2n on stay what they are. The table may carry a factor: backward multiplies by the
/// transpose, which for a factor other than 1 is not the inverse. The table has no gradient. Throws Error for other
/// shapes, and for a table that is trained or computed.
ValueId rotary(Tape&, const std::string& name, ValueId x, ValueId table, RotarySpec spec);

// Rotary positions (Su et al. 2021) as data: which numbers of a head turn, how fast, and the published methods to
// stretch them over more positions than a model was trained on: `config.of<RotaryConfig>()`.

inline constexpr std::string_view kRotaryPairings[] = {"halves", "neighbours"};

/// How the rates change with the factor s; P is the number of positions in training:
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
