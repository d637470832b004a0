// The reference is every op of the engine, written a second time as plainly as possible: scalar loops, templated on
// the number type. In double, the tests compare SIMD and CUDA kernels with it.
// With Var (tests/reference/var.h) it gives the exact derivative of each formula, which the kernels' backward is
// compared with. Formulas: docs/ops.md. No kernel knows these files. A new op has its formula and its `forward` in one
// of the files that are included here; an add-on names its header in oracle.def.
#pragma once

#include "reference/op_attention.h"
#include "reference/op_norms.h"
#include "reference/op_rows.h"

// The headers of add-ons with such functions for their ops.
#include "chosen/oracle.def"

namespace normscope::reference {

/// No output for what ends a step or only looks on. Any other op without a `forward` does not compile.
template <OpKind kind, class S>
requires(!traits_of(kind).differentiable) Outputs<S> forward(Op<kind>, const Call<S>&) { return {}; }

/// Finds the op's own function by its row of ops.def.
template <class S>
Outputs<S> forward(OpKind op, const Call<S>& call) {
  switch (op) {
#define OP(Kind, ...) \
  case OpKind::Kind:  \
    return forward(Op<OpKind::Kind>{}, call);
#include "engine/ops/ops.def"
    default:
      return {};
  }
}

}  // namespace normscope::reference
