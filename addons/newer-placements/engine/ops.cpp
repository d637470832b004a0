// Each op checks its input and records one node. They save nothing: each gradient reads the inputs again.
#include "addons/newer-placements/engine/ops.h"

#include "engine/ops/rules.h"

namespace normscope {
namespace {

ValueId record_softmax(Tape& tape, const std::string& name, ValueId x, SoftmaxSpec spec, int64_t group) {
  Node node = tape.node(OpKind::Softmax, name, {x}, spec);
  const Shape shape = tape.shape(x);
  if (spec.size < 1 || shape.size() % group != 0)
    fail("softmax " + tape.named(name), "{} does not consist of groups of {} numbers", to_string(shape),
         group);
  return tape.add_node(std::move(node), shape);
}

}  // namespace

ValueId softmax(Tape& tape, const std::string& name, ValueId x, int32_t n) {
  return record_softmax(tape, name, x, {n, 0}, n);
}

ValueId sinkhorn(Tape& tape, const std::string& name, ValueId x, int32_t n, int32_t rounds) {
  if (n < 1 || n > kMaxSinkhornSize || rounds < 1 || rounds > kMaxSinkhornRounds)
    fail("sinkhorn " + tape.named(name),
         "{} rounds of {} x {} numbers: expected 1 to {} rounds of at most {} x {}", rounds, n, n,
         kMaxSinkhornRounds, kMaxSinkhornSize, kMaxSinkhornSize);
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

ValueId mix(Tape& tape, const std::string& name, ValueId x, ValueId weights, int32_t to) {
  Node node = tape.node(OpKind::Mix, name, {x, weights});
  const Shape in = tape.shape(x), w = tape.shape(weights);
  const std::string where = "mix " + tape.named(name);
  if (in.rank != 3 && in.rank != 4) fail(where, "x {} must have shape (B,T,D) or (B,T,n,D)", to_string(in));
  if (to < 1) fail(where, "{} sums: expected at least one", to);
  const int64_t from = in.rank == 4 ? in[2] : 1, positions = in[0] * in[1];
  if (w.size() != from * to && w.size() != positions * from * to)
    fail(where, "{} {} for sums of {} parts: expected {} x {} numbers, or as many for each of {} positions",
         tape.value(weights).name, to_string(w), from, from, to, positions);
  node.attributes = MixSpec{static_cast<int32_t>(from), to};
  return tape.add_node(std::move(node),
                       to == 1 ? Shape{in[0], in[1], in.cols()} : Shape{in[0], in[1], to, in.cols()});
}

OpRules mix_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Weighted sums of streams",
       .formula = R"(y_j = \sum_{i < n} w_{ij} x_i)",
       .shapes = "x (B,T,n,D), w (n,m) or (B,T,n,m), y (B,T,m,D); without its dimension where n or m is 1",
       .rule =
           R"(dx_i = \sum_{j < m} w_{ij} dy_j, \quad dw_{ij} = x_i \cdot dy_j \text{, summed over positions that share } w)",
       .source = "Zhu et al. 2024 (hyper-connections), equation 1",
       .reads = {2, 1}}};
  return {kRows};
}

void ramp(Tape& tape, const std::string& name, ValueId w, RampSpec spec) {
  if (spec.steps < 1) fail("ramp " + tape.named(name), "{} steps: expected one or more", spec.steps);
  Node node{.op = OpKind::Ramp, .name = name, .in = {w}};
  node.attributes = spec;
  tape.after_update(std::move(node));
}

OpRules ramp_rules() {
  static constexpr OpRule kRows[] = {{.title = "Ramp",
                                      .formula = R"(w = \min\left(1, \frac{t}{n}\right))",
                                      .shapes = "a parameter w, the number t of the update, n steps",
                                      .source = "Chen et al. 2026 (arXiv 2603.05369)"}};
  return {kRows};
}

ValueId repeat_heads(Tape& tape, const std::string& name, ValueId x, int32_t heads, int32_t times) {
  Node node = tape.node(OpKind::RepeatHeads, name, {x}, RepeatHeadsSpec{heads, times});
  const Shape in = tape.shape(x);
  const std::string where = "repeat_heads " + tape.named(name);
  if (in.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(in));
  if (heads < 1 || in[2] % heads != 0) fail(where, "width {} is not a multiple of {} heads", in[2], heads);
  if (times < 1) fail(where, "{} times: expected at least one", times);
  return tape.add_node(std::move(node), {in[0], in[1], in[2] * times});
}

OpRules repeat_heads_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Heads for groups of queries",
       .formula = R"(y_{nh+k} = x_h \text{ for } k < n)",
       .shapes = "x (B,T,D) of H heads x_h, y (B,T,nD) of nH heads; n constant",
       .rule = R"(dx_h = \sum_{k < n} dy_{nh+k})",
       .source = "Ainslie et al. 2023; not checked"}};
  return {kRows};
}

void unit_vectors(Tape& tape, const std::string& name, ValueId w, UnitVectorsSpec spec) {
  Node node = tape.node(OpKind::UnitVectors, name, {w}, spec);
  const Shape& shape = tape.shape(w);
  if (shape.rank != 2)
    fail("unit_vectors " + tape.named(name), "{} is {}: expected a matrix", tape.value(w).name,
         to_string(shape));
  tape.after_update(std::move(node));
}

OpRules unit_vectors_rules() {
  static constexpr OpRule kRows[] = {{.title = "Unit vectors",
                                      .formula = R"(w_i = \frac{w_i}{|w_i|})",
                                      .shapes = "every row, or every column, w_i of a matrix w (n,k)",
                                      .source = "Loshchilov et al. 2024 (arXiv 2410.01131)"}};
  return {kRows};
}

}  // namespace normscope
