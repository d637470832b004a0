// A picture is a screen of a session as PNG, without display or OpenGL. screenshot and compare call this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/terminal.h"
#include "app/headless/raster.h"
#include "app/headless/ui_driver.h"
#include "app/link/link.h"
#include "app/shell/app_state.h"
#include "training/files/config_file.h"
#include "training/session/lab.h"

namespace normscope::commands {

struct PictureOptions {
  bool dark = false;
  bool both = false;  ///< every picture in both themes: x.png becomes x-light.png and x-dark.png
  int width = 1600, height = 1000;  ///< pixels
  double scale = 1;
  std::optional<link::LinkedView> link{};  ///< shown, whatever the other options say
  Screen screen = Screen::Lab;
  std::string what{};      ///< the screen's first state, as --screen NAME:WHAT; for lessons "warm-up:compare"
  std::string language{};  ///< of the window; empty: as NORMSCOPE_LANGUAGE says
  std::string script{};    ///< lines as in docs/command-line.md, played first; empty: none
  std::string script_name{};  ///< its file
};

/// The names of all screens except the lessons, which need a lesson's name.
std::vector<std::string> pictured_screens();

/// Reads "1600x1000", from 64 to 16384 pixels a side. Throws Error.
void parse_size(const std::string& text, int& width, int& height);

/// Gives the session these runs, at step 0; with `known`, runs in its store of finished runs are at their end.
void begin(Lab& lab, const std::vector<ConfigRun>& runs, bool known = false);

/// Shows the progress of a session that trains, until it stops; false when it was interrupted.
bool watch(Lab& lab, cli::Progress& progress);

/// Draws a resting session into `path`, or, where the script says "shoot NAME", into pictures of that name
/// beside it: x.png becomes x-NAME.png. Timings are printed as –, so that the same session gives the same
/// pixels. It prints which files it wrote. Throws CommandError(usage) for a script that cannot be played.
void draw_pictures(Lab& lab, const PictureOptions& options, const std::string& path);

inline constexpr int kSettle = 4;  ///< frames until sizes and textures no longer change

/// A session without a window, whose frames become pictures: no saved state, no animation, no clock. There can be one
/// at a time, because ImGui has one context.
struct OffscreenSession {
  OffscreenSession(Lab& lab, const PictureOptions& options)
      : loop({static_cast<float>(options.width), static_cast<float>(options.height)}),
        ui(ui::load_fonts()),
        driver(loop, ui, [this] { shell::draw_app(state, ui); }) {
    state.session.lab = &lab;
    state.screens.trainer = lab.trainer();
    state.look.dark = options.dark;
    state.look.scale = static_cast<float>(options.scale);
    state.look.reduced_motion = true;
    state.screens.lessons.remembers = false;
    state.screens.lessons.language = options.language;
    shell::speak(state.screens.lessons);
    state.switches.clock = false;
  }

  /// The frame that was drawn last. Prints once that the scale does not fit the window.
  headless::Image picture() {
    const std::string note = shell::scale_note(state.look, ui);
    if (!note.empty() && note != said) cli::complain(fmt::format("--scale {:g}: {}", state.look.scale, note));
    said = note;
    return headless::rasterise(*loop.draw_data(), ui::theme(state.look.dark).bg.packed());
  }

  shell::AppState state;
  headless::Frame loop;
  ui::Ui ui;
  headless::UiDriver driver;
  std::string said;  ///< the last message about the scale
};

}  // namespace normscope::commands
