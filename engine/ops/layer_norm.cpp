// The layer norm family: record and shape rule. Saves mean and 1/sigma of every row.
#include "core/error.h"
#include "ops/ops.h"

namespace normscope {

ValueId layer_norm(Tape& tape, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps) {
  const Shape& in = tape.shape(x);
  const std::string where = "layer_norm " + name;
  if (kind == NormKind::None) fail(where, "a norm of kind none computes nothing: expected another kind");
  const bool wants_gain = has_gain(kind), wants_bias = has_bias(kind);
  if ((gain != kNone) != wants_gain || (bias != kNone) != wants_bias)
    fail(where, "{} takes {} gain and {} bias", to_string(kind), wants_gain ? "a" : "no",
         wants_bias ? "a" : "no");
  for (ValueId v : {gain, bias})
    if (v != kNone && tape.shape(v).size() != in.cols())
      fail(where, "{} has {} numbers for rows of {}", tape.value(v).name, tape.shape(v).size(), in.cols());
  Node node{.op = OpKind::LayerNorm, .name = name, .in = {x, gain, bias}};
  node.attributes.norm = kind;
  node.attributes.eps = eps;
  return tape.add_node(std::move(node), in, {{"mean", {in.rows()}}, {"inverse_sigma", {in.rows()}}});
}

}  // namespace normscope
