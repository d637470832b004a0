// embedding checks its inputs and records one node. It saves nothing.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId embedding(Tape& tape, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale, bool joined) {
  const Shape &ids = tape.shape(tokens), &rows = tape.shape(table);
  const std::string where = "embedding " + name;
  if (tape.value(tokens).dtype != DType::I32 || ids.rank != 2)
    fail(where, "tokens {} must be integers of shape (B,T)", to_string(ids));
  if (rows.rank != 2) fail(where, "table {} must have shape (V,D)", to_string(rows));
  if (positions != kNone &&
      (tape.shape(positions).cols() != rows.cols() || tape.shape(positions).rows() < ids[1]))
    fail(where, "positions {} do not cover {} tokens of width {}: expected (>=T,D)",
         to_string(tape.shape(positions)), ids[1], rows.cols());
  Node node{.op = OpKind::Embedding, .name = name, .in = {tokens, table, positions}};
  node.attributes = EmbeddingSpec{scale, joined};
  const int64_t B = ids[0], T = ids[1], D = rows.cols();
  return tape.add_node(std::move(node), joined ? Shape{B, T * D} : Shape{B, T, D});
}

OpRules embedding_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Embedding",
       .formula = R"(y_{b,t} = s E_{\text{token}(b,t)} + P_t)",
       .shapes =
           "tokens (B,T) i32, table E (V,D), positions P (T,D) or none, y (B,T,D), or joined (B,TD); s constant",
       .rule = R"(dE_v = s \sum_{\text{token}(b,t) = v} dy_{b,t}, \quad dP_t = \sum_b dy_{b,t})",
       .source = "Vaswani et al. 2017, section 3.4",
       .reads = {0, 1}}};
  return {.rules = kRows, .gathers = true};
}

}  // namespace normscope
