// Where a screen lays what it asks of the rest of the app within a frame: the one way from a screen to the
// trainer, the disk, the clipboard and another screen. draw_app carries out what lies there, so a screen knows none of
// these, and a test reads what a click meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/view/commands.h"
#include "app/view/screen.h"
#include "engine/core/error.h"

namespace normscope {

struct Desk {
  /// An export, saved under a free name in the pictures folder.
  struct File {
    std::string name, text;
  };
  std::vector<session::Command> commands{};  ///< for the trainer
  std::vector<view::SavePlot> saves{};       ///< figures for the pictures folder
  std::vector<File> files{};
  std::string copied{};                             ///< for the clipboard
  Message notice{};                                 ///< for the title bar
  std::optional<session::ReplaceRuns> replacing{};  ///< runs in the place of all that the Lab has
  std::optional<Screen> shown{};                    ///< another screen
  bool opens_file = false;                          ///< the prompt for a file's path
};

}  // namespace normscope
