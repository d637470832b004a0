// rotary checks its inputs and records one node. It saves nothing; its backward pass reads the table.
#include "addons/published/engine/rotary.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// Whether nothing that training does changes a value: an input, or a parameter that is not trained.
bool is_given(const Tape& tape, ValueId v) {
  const ValueInfo& info = tape.value(v);
  if (info.role == Role::Parameter)
    return !tape.store().parameters()[static_cast<size_t>(info.parameter)].trainable;
  return info.role == Role::Input;
}

}  // namespace

ValueId rotary(Tape& tape, const std::string& name, ValueId x, ValueId table, RotarySpec spec) {
  const Shape in = tape.shape(x), angles = tape.shape(table);
  const std::string where = "rotary " + name;
  if (in.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(in));
  if (spec.heads < 1 || in[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", in[2], spec.heads);
  const int64_t width = in[2] / spec.heads;
  if (tape.value(table).dtype != DType::F32 || angles.rank != 2 || angles[0] < in[1] || angles[1] < 2 ||
      angles[1] % 2 != 0 || angles[1] > width)
    fail(where, "table {} does not fit {} positions and heads of {}: expected (>=T,2n), 2n at most {}",
         to_string(angles), in[1], width, width);
  if (!is_given(tape, table))
    fail(where, "table {} is trained or computed: expected an input, or a parameter that is not trained",
         tape.value(table).name);
  Node node{.op = OpKind::Rotary, .name = name, .in = {x, table}};
  node.attributes = spec;
  return tape.add_node(std::move(node), in);
}

OpRules rotary_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Rotary position embedding",
       .formula =
           R"(y_a = c_{t,i} x_a - s_{t,i} x_b, \quad y_b = c_{t,i} x_b + s_{t,i} x_a \text{ for pair } i = (a, b) \text{ of each head})",
       .shapes =
           "x and y (B,T,D), table (>=T,2n): n cosines c, then n sines s for each position t; pair i < n of a head: i and n+i (halves), or 2i and 2i+1 (neighbours); from 2n on y is x",
       .rule = R"(dx_a = c_{t,i} dy_a + s_{t,i} dy_b, \quad dx_b = c_{t,i} dy_b - s_{t,i} dy_a)",
       .source = "Su et al. 2021; not checked",
       .reads = {2}}};
  return {kRows};
}

}  // namespace normscope
