// A curve of losses as every number that is called a loss has them: at each step the mean over the loss window.
#pragma once

#include <vector>

#include "training/spec/spec.h"

namespace normscope {

/// At each of `steps`, ascending, the mean over the last loss_window(step, edits) steps; of steps that a history has
/// thinned out, those that are left, at least the step itself.
template <typename Number, typename Step>
std::vector<Number> loss_means(const std::vector<Step>& steps, const std::vector<Number>& losses,
                               const std::vector<Edit>& edits = {}) {
  std::vector<Edit> rebuilt;  // others shorten no window
  for (const Edit& edit : edits)
    if (loss_window(edit.step, {edit}) < loss_window(edit.step, {})) rebuilt.push_back(edit);
  std::vector<Number> means;
  means.reserve(losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    const auto window = static_cast<Step>(loss_window(static_cast<int32_t>(steps[i]), rebuilt));
    double sum = static_cast<double>(losses[i]);
    size_t first = i;
    while (first > 0 && steps[i] - steps[first - 1] < window) sum += static_cast<double>(losses[--first]);
    means.push_back(static_cast<Number>(sum / static_cast<double>(i - first + 1)));
  }
  return means;
}

}  // namespace normscope
