// An activation records one node. It saves nothing; its backward pass reads x.
#include "engine/ops/activations/activations.h"

namespace normscope {

#define ACTIVATION(Kind, op_name)                                               \
  ValueId op_name(Tape& tape, const std::string& name, ValueId x) {             \
    const Shape shape = tape.shape(x);                                          \
    return tape.add_node({.op = OpKind::Kind, .name = name, .in = {x}}, shape); \
  }
#include "engine/ops/activations/activations.def"
#undef ACTIVATION

}  // namespace normscope
