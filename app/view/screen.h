// The screens, which are rows of screens.def, and what a screen asks of the rest of the app within a frame: the one way
// from a screen to the trainer, the disk, the clipboard and another screen. draw_app carries it out, so a screen knows
// none of these, and a test reads what a click meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/plot_spec.h"
#include "app/ui/ui.h"
#include "engine/core/error.h"
#include "training/files/file_kind.h"
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

// A learner's prediction in a lesson, as the lesson and a link to it hand it on.

namespace normscope::view {

struct Answer {
  std::vector<double> drawn{};       ///< y at the points of the grid, from the first on
  std::vector<std::string> order{};  ///< ids of the cards
  std::optional<double> value{};     ///< of the slider
  bool empty() const { return drawn.empty() && order.empty() && !value; }
  bool operator==(const Answer&) const = default;
};

}  // namespace normscope::view

// A screen that an add-on brings, as the shell, links, sessions and pictures know it. Its row of screens.def
// has a function NAME_kind(), which says how it is made. Lab and Lessons are the core's own and known by name.

namespace normscope {
namespace lab {
struct TransportState;
}

/// How a screen is set, as KEY and VALUE; a key may stand there several times. app/link/link.h reads them.
using ScreenSettings = std::vector<std::pair<std::string, std::string>>;

class AppScreen {
 public:
  AppScreen() = default;
  AppScreen(const AppScreen&) = delete;
  AppScreen& operator=(const AppScreen&) = delete;
  virtual ~AppScreen() = default;

  /// Fills `area`, the window below the top bar. `transport` has the Lab's cursor. Without `clock`, figures that depend
  /// on the machine's speed print as a dash.
  virtual ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view, bool clock,
                              lab::TransportState& transport) = 0;
  /// Runs once a frame, whichever screen is shown.
  virtual void turn(const LabView&) {}
  virtual void posted(const session::Command&, session::Ticket) {}
  /// Something that was asked for is not there yet: a picture waits for it.
  virtual bool busy() const { return false; }

  /// The settings that a session keeps of the screen. Empty ones were never kept. restore() throws Error.
  virtual ScreenSettings kept() const { return {}; }
  virtual void restore(const ScreenSettings&) {}
  /// The settings that a link carries of it. Setting them throws Error.
  virtual ScreenSettings linked() const { return {}; }
  virtual void open_link(const ScreenSettings& link) { restore(link); }

  /// A screen with changes of its own takes them back, or makes them again, while it is shown, in place of the session.
  virtual bool has_changes() const { return false; }
  virtual bool can_take_back(bool /*undo*/) const { return false; }
  virtual void take_back(bool /*undo*/) {}

  /// Opens a file of ScreenKind::opens.
  virtual void open(const std::string& /*path*/, const LabView&) {}
  /// Begins as `screenshot --screen NAME:WHAT` or a line of a script says; empty: anew. Throws Error.
  virtual void begin(const std::string& what);
};

struct ScreenSetup {
  std::function<void()> wake;  ///< called from a screen's own threads when something is new
  bool keeps = false;          ///< with the results that all programs share: in a window
};

/// A screen before it is made.
struct ScreenKind {
  std::unique_ptr<AppScreen> (*make)(const ScreenSetup&) = nullptr;
  /// Throws Error for settings that no link may ask for; null: a link has none.
  void (*check)(const ScreenSettings&) = nullptr;
  std::optional<FileKind> opens{};  ///< files that lead there
  bool own_runs = false;            ///< it shows nothing of the Lab's runs
};

/// Null for Lab and Lessons.
const ScreenKind* kind_of(Screen screen);
/// The screen that a kind of file leads to, if there is one.
std::optional<Screen> screen_for(FileKind kind);
std::optional<Screen> screen_named(std::string_view name);
const std::vector<Screen>& screens_by_key();

#define SCREEN(Name, name, key) ScreenKind name##_kind();
#include "chosen/screens.def"
#undef SCREEN

}  // namespace normscope
