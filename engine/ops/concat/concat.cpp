// concat and append check their inputs and record one node. They save nothing.
#include "engine/ops/ops.h"

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

ValueId append(Tape& tape, const std::string& name, ValueId parts, ValueId part) {
  const Shape &sa = tape.shape(parts), &sb = tape.shape(part);
  const bool one = sa.rank == 3;
  if ((!one && sa.rank != 4) || sb.rank != 3 || sa[0] != sb[0] || sa[1] != sb[1] || sa.cols() != sb[2])
    fail("append " + name, "{} cannot follow the parts of {}: expected (B,T,D) and (B,T,n,D)", to_string(sb),
         to_string(sa));
  if (parts == part) fail("append " + name, "one value stands behind itself: expected two");
  const Shape out{sa[0], sa[1], one ? 2 : sa[2] + 1, sb[2]};
  Node node{.op = OpKind::Concat, .name = name, .in = {parts, part}};
  node.attributes = ConcatSpec{.parts = true};
  return tape.add_node(std::move(node), out);
}

OpRules concat_rules() {
  static constexpr const char* kOfParts = "parts";
  static constexpr OpRule kRows[] = {
      {.title = "Positions behind positions",
       .formula = R"(y_{b,t} = a_{b,t} \text{ for } t < T_a, \text{ else } b_{b,t-T_a})",
       .shapes = "a (B,Ta,D), b (B,Tb,D), y (B,Ta+Tb,D)",
       .rule = R"(da_{b,t} = dy_{b,t}, \quad db_{b,t} = dy_{b,T_a+t})"},
      {.variant = kOfParts,
       .title = "A part behind the parts of a position",
       .formula = R"(y_i = a_i \text{ for } i < n, \quad y_n = b)",
       .shapes = "at each position a (n,D), b (D), y (n+1,D)",
       .rule = R"(da_i = dy_i, \quad db = dy_n)"}};
  return {kRows, [](const Attributes& a) { return a.as<ConcatSpec>().parts ? kOfParts : ""; }};
}

}  // namespace normscope
