// Matrices whose vectors keep the length one: what divides them by their length behind the optimizer.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct UnitVectorsSpec {
  static constexpr OpKind kOp = OpKind::UnitVectors;
  bool columns = false;  ///< the vectors are the columns; else they are the rows
  friend bool operator==(const UnitVectorsSpec&, const UnitVectorsSpec&) = default;
};

/// Asks for the division behind the optimizer's update (nGPT, Loshchilov et al. 2024, arXiv 2410.01131,
/// section 2.6 and the authors' code): of a parameter w (n,k) every vector v, a row or a column, becomes v / |v|. A
/// vector of zeros stays.
void unit_vectors(Tape&, const std::string& name, ValueId w, UnitVectorsSpec);

}  // namespace normscope
