// `KeptChoice` is what a session and a link keep of the Compare screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/panels/metrics.h"
#include "app/view/app_screen.h"

namespace normscope::compare_screen {

/// A run of a file at its place.
struct KeptFile {
  std::string path;  ///< empty: none is open
  size_t run = 0;
  char letter = 0;  ///< E to H; 0: not said
  bool operator==(const KeptFile&) const = default;
};

struct KeptChoice {
  char baseline = 'B';
  int align = 0, matrix = 0;
  panels::Metric metric = panels::Metric::Gradient;
  double factor = 4;
  std::vector<KeptFile> files{};  ///< by place
  bool operator==(const KeptChoice&) const = default;
};

ScreenSettings settings_of(const KeptChoice& choice);
/// Throws Error.
KeptChoice choice_from(const ScreenSettings& settings);
/// Throws Error for settings that no link has: of files, too.
void check_link(const ScreenSettings& settings);

}  // namespace normscope::compare_screen
