// A picture is the Lab screen of a session as PNG, without display or OpenGL. screenshot and compare call this.
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
  std::optional<link::LinkedView> link{};  ///< what a link shows, whatever the other options say
  Screen screen = Screen::Lab;
  std::string what{};  ///< what the screen begins with, as --screen NAME:WHAT; of lessons "warm-up:compare"
  std::string language{};  ///< of the window; empty: as NORMSCOPE_LANGUAGE says
  std::string script{};  ///< hand movements and the lines of docs/command-line.md, played first; empty: none
  std::string script_name{};  ///< its file
};

/// The names of the screens but the lessons, which need a lesson's name.
std::vector<std::string> pictured_screens();

/// Reads "1600x1000", from 64 to 16384 pixels a side. Throws Error.
void parse_size(const std::string& text, int& width, int& height);

/// Gives the session these runs, at step 0; with `known`, runs in its store of finished runs are at their end.
void begin(Lab& lab, const std::vector<ConfigRun>& runs, bool known = false);

/// Shows the progress of a session that trains, until it rests; false when it was interrupted.
bool watch(Lab& lab, cli::Progress& progress);

/// Draws a resting session into `path`, or, where the script says "shoot NAME", into pictures of that name
/// beside it: x.png becomes x-NAME.png. Figures of the clock are printed as –, so that the same session gives the same
/// pixels. It prints which files it wrote. Throws CommandError(usage) for a script that cannot be played.
void draw_lab(Lab& lab, const PictureOptions& options, const std::string& path);

}  // namespace normscope::commands
