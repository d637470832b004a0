// A stand is a window-less window on a session, whose frames become pictures. picture.cpp calls it.
#pragma once

#include <string>

#include "app/cli/terminal.h"
#include "app/commands/picture.h"
#include "app/headless/frame.h"
#include "app/headless/raster.h"
#include "app/headless/ui_driver.h"
#include "app/shell/app_state.h"

namespace normscope::commands {

inline constexpr int kSettle = 4;  ///< frames until sizes and textures have come to rest

/// Shows the session alone: nothing remembered, nothing that moves, no clock. There can be one at a time,
/// because ImGui has one context.
struct Stand {
  Stand(Lab& lab, const PictureOptions& options)
      : loop({static_cast<float>(options.width), static_cast<float>(options.height)}),
        ui(ui::load_fonts()),
        driver(loop, ui, [this] { shell::draw_app(state, ui); }) {
    state.session.lab = &lab;
    state.look.dark = options.dark;
    state.look.scale = static_cast<float>(options.scale);
    state.look.reduced_motion = true;
    state.screens.lessons.remembers = false;
    state.screens.lessons.language = options.language;
    shell::speak(state.screens.lessons);
    state.switches.clock = false;
  }

  /// The frame that was drawn last. It says once when the scale does not fit the window.
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
  std::string said;  ///< what was last said of the scale
};

}  // namespace normscope::commands
