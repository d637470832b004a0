// The Lab screen of a session as PNGs, without display or OpenGL. Called by screenshot and by compare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/terminal.h"
#include "app/link/link.h"
#include "training/files/config_file.h"
#include "training/session/lab.h"

namespace normscope::commands {

struct PictureOptions {
  bool dark = false;
  bool both = false;  ///< every picture in both themes: x.png becomes x-light.png and x-dark.png
  int width = 1600, height = 1000;  ///< pixels
  double scale = 1;
  bool compare = false;              ///< the Compare screen
  std::optional<LinkedView> link{};  ///< what a link shows, whatever the others say
  std::string lesson{};              ///< a lesson instead of the Lab: "warm-up:compare"
  std::string language{};            ///< of the lesson; empty: that of NORMSCOPE_LANGUAGE
  bool sweep = false;                ///< the Sweep screen instead of the Lab
  bool tape = false;                 ///< the Tape screen, with the next step of the first run
  std::string preset{};              ///< of it: a sweep that is ready to start; empty: the first
  std::string script{};  ///< hand movements and the lines of docs/command-line.md, played first; empty: none
  std::string script_name{};  ///< of its file
};

/// "1600x1000", from 64 to 16384 pixels a side. Throws Error.
void parse_size(const std::string& text, int& width, int& height);

/// The session becomes these runs, at step 0; `known`: at their end, those that its store of finished runs has.
void begin(Lab& lab, const std::vector<ConfigRun>& runs, bool known = false);

/// Shows how far a session that trains has come, until it rests; false when it was interrupted.
bool watch(Lab& lab, cli::Progress& progress);

/// Draws a resting session into `path`, or, where the script says "shoot NAME", into pictures of that name
/// beside it: x.png becomes x-NAME.png. Clock figures print –, so that the same session gives the same
/// pixels. Prints which files it wrote. Throws CommandError(usage) for a script that cannot be played.
void draw_lab(Lab& lab, const PictureOptions& options, const std::string& path);

}  // namespace normscope::commands
