// softmax and sinkhorn check their input and record one node. They save nothing: the gradient goes through it again.
#include "addons/newer-placements/engine/softmax.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {
namespace {

ValueId record_softmax(Tape& tape, const std::string& name, ValueId x, SoftmaxSpec spec, int64_t group) {
  const Shape shape = tape.shape(x);
  if (spec.size < 1 || shape.size() % group != 0)
    fail("softmax " + name, "{} does not consist of groups of {} numbers", to_string(shape), group);
  Node node{.op = OpKind::Softmax, .name = name, .in = {x}};
  node.attributes = spec;
  return tape.add_node(std::move(node), shape);
}

}  // namespace

ValueId softmax(Tape& tape, const std::string& name, ValueId x, int32_t n) {
  return record_softmax(tape, name, x, {n, 0}, n);
}

ValueId sinkhorn(Tape& tape, const std::string& name, ValueId x, int32_t n, int32_t rounds) {
  if (n < 1 || n > kMostSinkhornSize || rounds < 1 || rounds > kMostSinkhornRounds)
    fail("sinkhorn " + name, "{} rounds of {} x {} numbers: expected 1 to {} rounds of at most {} x {}",
         rounds, n, n, kMostSinkhornRounds, kMostSinkhornSize, kMostSinkhornSize);
  return record_softmax(tape, name, x, {n, rounds}, int64_t{n} * n);
}

OpRules softmax_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Softmax",
       .formula = R"(y_i = \frac{e^{x_i}}{\sum_k e^{x_k}})",
       .shapes = "x and y: each run of n numbers by itself; n constant",
       .rule = R"(dx_i = y_i \left(dy_i - \sum_k y_k dy_k\right))",
       .reads = {1}},
      {.variant = "doubly stochastic",
       .title = "Sinkhorn and Knopp's matrix",
       .formula = R"(y = M^{(t)}, \quad M^{(0)} = e^x, \quad M^{(k)} = C(R(M^{(k-1)})))",
       .shapes =
           "x and y: each (n,n) by itself; R divides each row by its sum and C each column; n and t constant",
       .rule =
           R"(c_{ij} = \frac{dy_{ij} - \sum_k dy_{ik} y_{ik}}{s_i} \text{ through each division by sums } s, \quad dx = c \odot M^{(0)})",
       .source = "Sinkhorn and Knopp 1967; Xie et al. 2025 (mHC), equation 9",
       .reads = {1}}};
  return {kRows,
          [](const Attributes& a) { return a.as<SoftmaxSpec>().rounds > 0 ? "doubly stochastic" : ""; }};
}

}  // namespace normscope
