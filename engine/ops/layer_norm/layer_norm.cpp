// layer_norm checks its inputs and records one node. It saves mean and 1/sigma of every row, for DyT 0 and its factor.
#include "engine/ops/layer_norm/layer_norm.h"

#include "engine/core/error.h"

namespace normscope {

ValueId layer_norm(Tape& tape, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads, const NormExtras& extras) {
  const Shape in = tape.shape(x);
  const std::string where = "layer_norm " + name;
  if (kind == NormKind::None) fail(where, "a norm of kind none computes nothing: expected another kind");
  const bool wants_gain = has_gain(kind), wants_bias = has_bias(kind);
  if ((gain != kNone) != wants_gain || (bias != kNone) != wants_bias)
    fail(where, "{} takes {} gain and {} bias", to_string(kind), wants_gain ? "a" : "no",
         wants_bias ? "a" : "no");
  if (heads < 1 || in.cols() % heads != 0)
    fail(where, "width {} is not a multiple of {} heads", in.cols(), heads);
  const int64_t width = in.cols() / heads, rows = in.rows() * heads;
  for (ValueId v : {gain, bias})
    if (v != kNone && tape.shape(v).size() != width)
      fail(where, "{} has {} numbers for rows of {}", tape.value(v).name, tape.shape(v).size(), width);
  if ((extras.alpha != kNone) != has_alpha(kind))
    fail(where, "{} takes {} alpha", to_string(kind), has_alpha(kind) ? "an" : "no");
  if (extras.alpha != kNone && tape.shape(extras.alpha).size() != 1)
    fail(where, "{} has {} numbers: expected one alpha", tape.value(extras.alpha).name,
         tape.shape(extras.alpha).size());
  Node node{.op = OpKind::LayerNorm, .name = name, .in = {x, gain, bias, extras.alpha}};
  node.attributes = NormSpec{kind, heads, eps, extras.scale, extras.slope};
  return tape.add_node(std::move(node), in, {{"mean", {rows}}, {"inverse_sigma", {rows}}});
}

}  // namespace normscope
