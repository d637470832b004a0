// The sum of a token row and a position row, or the token rows of a state joined into one.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct EmbeddingSpec {
  static constexpr OpKind kOp = OpKind::Embedding;
  float scale = 1.0f;   ///< token rows are multiplied by it
  bool joined = false;  ///< the rows of b stand one behind the other: out (B,T*D), the same numbers
  friend bool operator==(const EmbeddingSpec&, const EmbeddingSpec&) = default;
};

/// Records a look-up: tokens (B,T) i32, table (V,D), positions (>=T,D) or kNone, out (B,T,D):
///   out[b,t]  =  scale * table[tokens[b,t]] + positions[t]
/// Joined, out is (B,T*D), which an op that works on rows sees as one row.
ValueId embedding(Tape&, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale, bool joined = false);

}  // namespace normscope
