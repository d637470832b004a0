// The sum of a token row and a position row.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct EmbeddingSpec {
  static constexpr OpKind kOp = OpKind::Embedding;
  float scale = 1.0f;  ///< token rows are multiplied by it
};

/// out (B,T,D) = scale * table[tokens] + positions[t].  tokens (B,T) i32, table (V,D), positions (>=T,D) or
/// kNone.
ValueId embedding(Tape&, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale);

}  // namespace normscope
