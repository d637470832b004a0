// A link that was copied on the Sweep or the Compare screen carries how that screen was set, and one to a lesson its
// figure and prediction unless that was drawn, a line for each part: sweep.axis=train.lr=1e-4:1e-2:log7, compare.baseline=C, lesson.value=50. The
// regions of a sweep that have more seeds stay behind.
// Writer and reader of links call this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/link/link.h"

namespace normscope::link {

/// Bounds the work that a link asks of whoever opens it.
inline constexpr int64_t kMostLinkedRuns = 2000;
inline constexpr size_t kMostParts = 64;   ///< axes and settings of a sweep in a link
inline constexpr size_t kMostCards = 512;  ///< of a prediction

/// Throws Error for a sweep that no link can carry.
std::vector<std::string> screen_lines(const LinkedView& view);

/// Collects the lines until the link has ended.
class ScreenReader {
 public:
  /// Whether the line is one of these; `repeated` then says whether it may stand there again. It throws
  /// Error for a value that no screen has.
  bool take(std::string_view key, std::string_view value);
  static bool repeated(std::string_view key);
  /// Gives the view what was read. It throws Error where the view shows another screen, or for a sweep that
  /// cannot be trained.
  void finish(LinkedView& view) const;

 private:
  bool take_sweep(std::string_view key, std::string_view value);
  bool take_compare(std::string_view key, std::string_view value);
  bool take_lesson(std::string_view key, std::string_view value);

  std::optional<sweep::PlanText> plan_;
  std::optional<sweep::Metric> metric_;
  std::optional<compare_screen::KeptChoice> compare_;
  std::string figure_;
  view::Answer answer_;
};

}  // namespace normscope::link
