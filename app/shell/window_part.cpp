#include "app/shell/window_part.h"

namespace normscope::shell {

WindowParts make_window_parts() {
  WindowParts parts;
#define WINDOW_PART(make) parts.push_back(make());
#include "chosen/window_parts.def"
#undef WINDOW_PART
  return parts;
}

}  // namespace normscope::shell
