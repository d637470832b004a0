// The Lab screen of a session as a PNG, without display or OpenGL. Called by screenshot and by compare.
#pragma once

#include <string>
#include <vector>

#include "app/raster/raster.h"
#include "engine/train/lab.h"

namespace normscope::cli {

struct PictureOptions {
  bool dark = false;
  int width = 1600, height = 1000;  ///< pixels
  double scale = 1;
  std::string lesson{};  ///< a lesson instead of the Lab: "warm-up:compare"
  std::string script{};  ///< lines of ui::Robot::script, played first; empty: none
};

/// Starts these runs and trains them to exactly `steps` (at most their budget), then rests.
void train_to(Lab& lab, const std::vector<RunSpec>& specs, int32_t steps,
              const std::vector<std::vector<Edit>>& edits = {});

/// Draws a resting session. Clock figures print –, so that the same session gives the same pixels. A line
/// "wait STEP" of the script trains on to that step. Throws CommandError(usage) for a script that cannot be
/// played.
raster::Image picture_of(Lab& lab, const PictureOptions& options);
void draw_lab(Lab& lab, const PictureOptions& options, const std::string& path);

}  // namespace normscope::cli
