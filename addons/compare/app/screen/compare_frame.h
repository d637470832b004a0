// `CompareScreen::Frame` is what one CompareScreen::draw() passes between its parts. Only the .cpp files of this
// folder include it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "addons/compare/app/screen/compare_screen.h"
#include "addons/compare/app/tracks.h"
#include "app/panels/panels.h"
#include "app/ui/widgets.h"

namespace normscope::compare_screen {

struct CompareScreen::Frame {
  ui::Ui& ui;
  const LabView& view;
  Desk& desk;
  lab::TransportState& transport;
  ui::Size size;
  std::array<SideBySide::Place, compare::kMost> places;
  std::shared_ptr<const Shown> shown;  // null or with an error: no comparison
  int step = 0;                        // the cursor's step
  float pad_right = 16;                // of all plots over time, so that their cursors stand in one line

  bool compact() const { return size == ui::Size::Compact; }
  bool has() const { return shown && shown->error.empty(); }
  const compare::Comparison& all() const { return shown->all; }
  /// The cursor on the shared axis.
  double x() const { return step * shown->per_step; }
  /// The loss of a run at one of its points, as everywhere the mean over the loss window.
  double loss_at(size_t run, size_t point) const {
    const compare::Track& loss = all().losses[run].shown;
    return compare::mean_at_end(
        {{}, {}, {loss.y.begin(), loss.y.begin() + static_cast<std::ptrdiff_t>(point) + 1}},
        window_at(run, point));
  }
  int32_t window_at(size_t run, size_t point) const {
    const compare::Track& loss = all().losses[run].shown;
    return std::min(compare::window_at(all().runs[run], loss.steps[point]), static_cast<int32_t>(point) + 1);
  }
  /// The run with this letter; none where it is not compared.
  std::optional<size_t> run_of(char letter) const {
    if (!has()) return {};
    for (size_t run = 0; run < all().runs.size(); ++run)
      if (all().letter(run) == letter) return run;
    return {};
  }
  /// The last of a run's points at or before the cursor. There is none before the first point, and
  /// none past the run's last step, which it never reached. A run that trained on since it was compared keeps its last
  /// point.
  std::optional<size_t> point_of(size_t run, const std::vector<double>& points) const {
    const compare::Track& loss = all().losses[run].shown;
    if (!loss.empty() && x() > loss.x.back() &&
        all().runs[run].seeds.front().history->last_step() <= loss.steps.back())
      return {};
    const auto after = std::upper_bound(points.begin(), points.end(), x());
    if (after == points.begin()) return {};
    return static_cast<size_t>(after - points.begin()) - 1;
  }
};

using ui::fitting;

inline constexpr const char* kSettings = "compare/settings/all";  ///< the list of all settings that differ

/// Returns "warm-up 200" where several runs are "Post-LN, ...", else "Pre-LN".
inline std::string short_name(const compare::Comparison& all, size_t run) {
  const auto head = [&](size_t i) { return all.runs[i].name.substr(0, all.runs[i].name.find(", ")); };
  const std::string mine = head(run);
  for (size_t other = 0; other < all.runs.size(); ++other)
    if (other != run && head(other) == mine && mine.size() < all.runs[run].name.size())
      return all.runs[run].name.substr(mine.size() + 2);
  return mine;
}

}  // namespace normscope::compare_screen
