// mean_pool checks its inputs and records one node. It saves nothing.
#include "engine/ops/mean_pool/mean_pool.h"

#include "engine/core/error.h"

namespace normscope {

ValueId mean_pool(Tape& tape, const std::string& name, ValueId x, ValueId lengths) {
  const Shape shape = tape.shape(x);
  const std::string where = "mean_pool " + name;
  if (shape.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(shape));
  if (lengths != kNone && (tape.value(lengths).dtype != DType::I32 || tape.shape(lengths).size() != shape[0]))
    fail(where, "lengths {} must be {} integers, one a row", to_string(tape.shape(lengths)), shape[0]);
  return tape.add_node({.op = OpKind::MeanPool, .name = name, .in = {x, lengths}}, shape);
}

}  // namespace normscope
