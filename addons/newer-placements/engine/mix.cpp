// Checks the inputs of `mix` and records one node. The op saves nothing; each gradient reads the other input.
#include "addons/newer-placements/engine/mix.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId mix(Tape& tape, const std::string& name, ValueId x, ValueId weights, int32_t to) {
  const Shape in = tape.shape(x), w = tape.shape(weights);
  const std::string where = "mix " + name;
  if (in.rank != 3 && in.rank != 4) fail(where, "x {} must have shape (B,T,D) or (B,T,n,D)", to_string(in));
  if (to < 1) fail(where, "{} sums: expected at least one", to);
  const int64_t from = in.rank == 4 ? in[2] : 1, positions = in[0] * in[1];
  if (w.size() != from * to && w.size() != positions * from * to)
    fail(where, "{} {} for sums of {} parts: expected {} x {} numbers, or as many for each of {} positions",
         tape.value(weights).name, to_string(w), from, from, to, positions);
  Node node{.op = OpKind::Mix, .name = name, .in = {x, weights}};
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

}  // namespace normscope
