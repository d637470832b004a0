// concat checks its inputs and records one node. It saves nothing.
#include "engine/ops/concat/concat.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId concat(Tape& tape, const std::string& name, ValueId a, ValueId b) {
  const Shape &sa = tape.shape(a), &sb = tape.shape(b);
  if (sa.rank != 3 || sb.rank != 3 || sa[0] != sb[0] || sa[2] != sb[2])
    fail("concat " + name, "{} and {} cannot stand behind each other: expected (B,Ta,D) and (B,Tb,D)",
         to_string(sa), to_string(sb));
  if (a == b) fail("concat " + name, "one value stands behind itself: expected two");
  const Shape out{sa[0], sa[1] + sb[1], sa[2]};
  return tape.add_node({.op = OpKind::Concat, .name = name, .in = {a, b}}, out);
}

OpRules concat_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Positions behind positions",
       .formula = R"(y_{b,t} = a_{b,t} \text{ for } t < T_a, \text{ else } b_{b,t-T_a})",
       .shapes = "a (B,Ta,D), b (B,Tb,D), y (B,Ta+Tb,D)",
       .rule = R"(da_{b,t} = dy_{b,t}, \quad db_{b,t} = dy_{b,T_a+t})"}};
  return {kRows};
}

}  // namespace normscope
