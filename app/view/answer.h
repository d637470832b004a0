// An `Answer` is what a learner answered where a lesson asked for a prediction, as the lesson and a link to it hand it on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace normscope::view {

struct Answer {
  std::vector<double> drawn{};       ///< y at the points of the grid, from the first on
  std::vector<std::string> order{};  ///< ids of the cards
  std::optional<double> value{};     ///< of the slider
  bool empty() const { return drawn.empty() && order.empty() && !value; }
  bool operator==(const Answer&) const = default;
};

}  // namespace normscope::view
