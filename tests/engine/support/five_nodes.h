// Five nodes are the smallest tape on which every rule of seal() shows: five nodes, a shared parameter, a value read
// twice, a frozen parameter. embedding -> relu -> add (residual) -> linear (tied) -> softmax_xent.
#pragma once

#include "engine/ops/ops.h"
#include "engine/tape/store.h"

namespace normscope::test {

struct FiveNodes {
  static constexpr int64_t B = 2, T = 3, D = 5, V = 7;

  explicit FiveNodes(Store& store) : tape(store) {
    store.declare("table", {V, D}, {Init::Kind::Normal, 0.5});
    store.declare("positions", {T, D}, {Init::Kind::Sinusoid}, false);
    tokens = tape.input("tokens", {B, T}, DType::I32);
    targets = tape.input("targets", {B, T}, DType::I32);
    table = tape.parameter("table");
    positions = tape.parameter("positions");
    x = embedding(tape, "x", tokens, table, positions, 2.0f);
    branch = relu(tape, "branch", x);
    sum = add(tape, "sum", x, branch);
    logits = linear(tape, "logits", sum, table, kNone, true);
    loss = softmax_xent(tape, "loss", logits, targets, kNone);
  }

  Tape tape;
  ValueId tokens, targets, table, positions, x, branch, sum, logits, loss;
};

}  // namespace normscope::test
