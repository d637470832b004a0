#include "training/spec/loss_window.h"

#include <algorithm>

namespace normscope {

int32_t loss_window(int32_t step, const std::vector<Edit>& edits) {
  int32_t first = 1;
  for (const Edit& edit : edits) {
    // A log may name a key that this program does not have: such an edit shortens nothing.
    const Field* field = find_field(edit.key);
    const bool network = edit.key.starts_with("wiring.") || (field && !field->live);
    if (network && edit.step <= step) first = std::max(first, edit.step);
  }
  return std::clamp(step - first + 1, 1, kLossWindow);
}

}  // namespace normscope
