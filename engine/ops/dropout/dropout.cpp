// dropout records one node. It saves no tensor: a backend keeps the mask or draws it again from the site.
#include "engine/ops/ops.h"

#include "engine/core/philox.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId dropout(Tape& tape, const std::string& name, ValueId x, DropoutKind kind) {
  const Shape shape = tape.shape(x);
  Node node{.op = OpKind::Dropout, .name = name, .in = {x}};
  node.site = site_of(name);
  node.attributes = DropoutSpec{kind, node.site};
  return tape.add_node(std::move(node), shape);
}

OpRules dropout_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Dropout",
       .formula =
           R"(y = \frac{m \odot x}{1 - p}, \quad m \in \lbrace 0, 1 \rbrace, \text{ drawn from site, step and element})",
       .shapes = "x and y of any one shape",
       .rule = R"(dx = \frac{m \odot dy}{1 - p})",
       .source = "Srivastava et al. 2014"}};
  return {kRows};
}

}  // namespace normscope
