// The screens, which are rows of screens.def, and what a screen asks of the rest of the app within a frame: the one way
// from a screen to the trainer, the disk, the clipboard and another screen. draw_app carries it out, so a screen knows
// none of these, and a test reads what a click meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/plot_spec.h"
#include "engine/core/error.h"
#include "training/session/lab.h"

namespace normscope {

enum class Screen : uint8_t {
#define SCREEN(Name, name, key) Name,
#include "app/view/screens.def"
#undef SCREEN
};

inline constexpr std::string_view kScreenNames[] = {
#define SCREEN(Name, name, key) #name,
#include "app/view/screens.def"
#undef SCREEN
};
inline constexpr int kScreenKeys[] = {
#define SCREEN(Name, name, key) key,
#include "app/view/screens.def"
#undef SCREEN
};
inline constexpr size_t kScreens = std::size(kScreenNames);
inline constexpr std::string_view name_of(Screen screen) { return kScreenNames[static_cast<size_t>(screen)]; }

namespace view {

enum class PlotFormat { Svg, Png, Csv };
/// Saves a plot as a file.
struct SavePlot {
  std::shared_ptr<const std::vector<plot::PlotSpec>> plots;
  plot::View view;
  PlotFormat format = PlotFormat::Svg;
  std::string csv{};  // the numbers as a file, where the plot shows them in another way
};

}  // namespace view

struct ScreenRequests {
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
