// repeat_heads checks its input and records one node. It saves nothing.
#include "addons/newer-placements/engine/repeat_heads.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId repeat_heads(Tape& tape, const std::string& name, ValueId x, int32_t heads, int32_t times) {
  const Shape in = tape.shape(x);
  const std::string where = "repeat_heads " + name;
  if (in.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(in));
  if (heads < 1 || in[2] % heads != 0) fail(where, "width {} is not a multiple of {} heads", in[2], heads);
  if (times < 1) fail(where, "{} times: expected at least one", times);
  Node node{.op = OpKind::RepeatHeads, .name = name, .in = {x}};
  node.attributes = RepeatHeadsSpec{heads, times};
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

}  // namespace normscope
