// dropout records one node. It saves no tensor: a backend keeps the mask or draws it again from the site.
#include "engine/ops/dropout/dropout.h"

#include "engine/core/philox.h"

namespace normscope {

ValueId dropout(Tape& tape, const std::string& name, ValueId x, DropoutKind kind) {
  const Shape shape = tape.shape(x);
  Node node{.op = OpKind::Dropout, .name = name, .in = {x}};
  node.site = site_of(name);
  node.attributes = DropoutSpec{kind, node.site};
  return tape.add_node(std::move(node), shape);
}

}  // namespace normscope
