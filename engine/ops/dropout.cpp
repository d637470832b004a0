// Dropout: record and shape rule. Saves nothing: backward regenerates the mask from the site.
#include "engine/core/philox.h"
#include "engine/ops/ops.h"

namespace normscope {

ValueId dropout(Tape& tape, const std::string& name, ValueId x, DropoutKind kind) {
  const Shape shape = tape.shape(x);
  Node node{.op = OpKind::Dropout, .name = name, .in = {x}};
  node.attributes.dropout = kind;
  node.attributes.site = site_of(name);
  return tape.add_node(std::move(node), shape);
}

}  // namespace normscope
