// An op of one's own: out = factor * x, its derivative, and the check that it is one.
#include <cstdio>

#include "engine/check_op.h"
#include "engine/engine.h"
#include "engine/own_op.h"

using namespace normscope;

struct ScaleBy {
  static constexpr OpKind kOp = op_kind("scale_by");
  float factor = 1;
  friend bool operator==(const ScaleBy&, const ScaleBy&) = default;
};

static void forward(const Call& c, const StepInputs&, Range r) noexcept {
  const float factor = c.attributes.as<ScaleBy>().factor;
  for (int64_t i = r.first; i < r.end; ++i) c.out.p[i] = factor * c.in[0].p[i];
}

static void backward(const Call& c, const StepInputs&, Range r) noexcept {
  const float factor = c.attributes.as<ScaleBy>().factor;
  for (int64_t i = r.first; i < r.end; ++i) c.give(0, i, factor * c.dout.p[i]);
}

ValueId scale_by(Tape& tape, const std::string& name, ValueId x, float factor) {
  static const OpKind op = add_op(elementwise_op<forward, backward>("scale_by", {.inputs = 1}));
  const Node node = tape.node(op, name, {x}, ScaleBy{factor});  // checks the inputs
  return tape.add_node(node, tape.shape(x));
}

int main() {
  const auto record = [](Tape& tape, auto in) { return scale_by(tape, "scaled", in[0], 3); };
  std::printf("scale_by: wrong by %.1e at most\n", check_op(record, {{5, 7}}).worst);
}
