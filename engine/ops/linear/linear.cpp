// linear checks its inputs and records one node. It saves nothing; its backward pass reads x and W.
#include "engine/ops/ops.h"

#include <cmath>

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {

ValueId linear(Tape& tape, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed) {
  const Shape &in = tape.shape(x), &w = tape.shape(weight);
  const std::string where = "linear " + name;
  if (w.rank != 2) fail(where, "weight {} must have two dimensions", to_string(w));
  const int64_t inner = transposed ? w[1] : w[0], out_cols = transposed ? w[0] : w[1];
  if (in.cols() != inner)
    fail(where, "input {} does not match weight {}: expected input.cols == weight.{}", to_string(in),
         to_string(w), transposed ? "cols" : "rows");
  if (bias != kNone && tape.shape(bias).size() != out_cols)
    fail(where, "bias {} does not match weight {}: expected {} numbers", to_string(tape.shape(bias)),
         to_string(w), out_cols);
  Shape out = in;
  out.dim[out.rank - 1] = out_cols;
  Node node{.op = OpKind::Linear, .name = name, .in = {x, weight, bias}};
  node.attributes = LinearSpec{transposed};
  return tape.add_node(std::move(node), out);
}

ValueId linear(Tape& tape, const std::string& name, ValueId x, int64_t outputs) {
  const int64_t inputs = tape.shape(x).cols();
  const double deviation = 1 / std::sqrt(static_cast<double>(inputs));
  tape.store().declare(name + ".w", {inputs, outputs}, {Init::Kind::Normal, deviation});
  tape.store().declare(name + ".b", {outputs}, {});
  return linear(tape, name, x, tape.parameter(name + ".w"), tape.parameter(name + ".b"));
}

OpRules linear_rules() {
  static constexpr const char* kTransposed = "transposed";
  static constexpr OpRule kRows[] = {{.title = "Matrix product",
                                      .formula = R"(y = x W + b)",
                                      .shapes = "x (..,K), W (K,N), b (N) or none, y (..,N)",
                                      .rule = R"(dx = dy W^T, \quad dW = x^T dy, \quad db = \sum_r dy_r)",
                                      .reads = {2, 1}},
                                     {.variant = kTransposed,
                                      .title = "Matrix product, weight transposed",
                                      .formula = R"(y = x W^T + b)",
                                      .shapes = "x (..,K), W (N,K), b (N) or none, y (..,N)",
                                      .rule = R"(dx = dy W, \quad dW = dy^T x, \quad db = \sum_r dy_r)",
                                      .source = "tied output: Press and Wolf 2017",
                                      .reads = {2, 1}}};
  return {.rules = kRows,
          .variant = [](const Attributes& a) { return a.as<LinearSpec>().transposed ? kTransposed : ""; },
          .flop =
              [](const ProgramData& program, const Instruction& i) {
                return product_flop(program, i, input_shape(program.values, i, 0).cols());
              }};
}

}  // namespace normscope
