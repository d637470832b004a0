// A link that was copied on the screen of an add-on carries how that screen was set, and one to a lesson its figure and
// prediction unless that was drawn, a line for each part: sweep.axis=train.lr=1e-4:1e-2:log7, lesson.value=50. Writer and
// reader of links call this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/link/link.h"

namespace normscope::link {

inline constexpr size_t kMostCards = 512;  ///< of a prediction

/// Throws Error for settings that no link can carry.
std::vector<std::string> screen_lines(const LinkedView& view);

/// Collects the lines until the link has ended.
class ScreenReader {
 public:
  /// Whether the line is one of these; `repeated` then says whether it may stand there again. It throws
  /// Error for a value that no screen has.
  bool take(std::string_view key, std::string_view value);
  static bool repeated(std::string_view key);
  /// Gives the view what was read. It throws Error where the view shows another screen, or for what that screen refuses.
  void finish(LinkedView& view) const;

 private:
  bool take_lesson(std::string_view key, std::string_view value);

  std::optional<Screen> set_;  ///< whose `settings_` they are
  ScreenSettings settings_;
  std::string figure_;
  view::Answer answer_;
};

}  // namespace normscope::link
