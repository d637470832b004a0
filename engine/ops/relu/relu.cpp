// relu records one node. It saves nothing; its backward pass reads x.
#include "engine/ops/relu/relu.h"

namespace normscope {

ValueId relu(Tape& tape, const std::string& name, ValueId x) {
  const Shape shape = tape.shape(x);
  return tape.add_node({.op = OpKind::Relu, .name = name, .in = {x}}, shape);
}

}  // namespace normscope
