// gelu records one node. It saves nothing; its backward pass reads x.
#include "engine/ops/gelu/gelu.h"

namespace normscope {

ValueId gelu(Tape& tape, const std::string& name, ValueId x) {
  const Shape shape = tape.shape(x);
  return tape.add_node({.op = OpKind::Gelu, .name = name, .in = {x}}, shape);
}

}  // namespace normscope
