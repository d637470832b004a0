// The screens, which are rows of screens.def, and ScreenRequests: the requests of a screen in a frame to the trainer,
// the disk, the clipboard and other screens. draw_app carries them out, so a screen knows none of these, and a test can
// check what a click requests.
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

enum class PlotFormat {
  Svg,
  Png,
  Csv,
  Pdf
};  // Pdf: a figure of a paper, with its data and facts in files of their own
/// Saves a plot as a file.
struct SavePlot {
  std::shared_ptr<const std::vector<plot::PlotSpec>> plots;
  plot::View view;
  PlotFormat format = PlotFormat::Svg;
  plot::FigureStyle style{};  // of a PDF
  std::string facts{};        // for its caption: what the runs were, how they are made again
  std::string csv{};  // text of the CSV file, where the plots' own values are not the data; empty: to_csv()
};

}  // namespace view

struct ScreenRequests {
  /// A text file, saved under a free name in the pictures folder.
  struct File {
    std::string name, text;
  };
  std::vector<session::Command> commands{};  ///< for the trainer
  std::vector<view::SavePlot> saves{};       ///< figures for the pictures folder
  std::vector<File> files{};
  std::string copied{};                             ///< for the clipboard
  Message notice{};                                 ///< for the title bar
  std::optional<session::ReplaceRuns> replacing{};  ///< runs that replace all of the Lab's
  std::optional<Screen> shown{};                    ///< the screen to switch to
  bool opens_file = false;                          ///< opens the prompt for a file's path
};

}  // namespace normscope

// A learner's prediction in a lesson, in the form that lessons and links exchange.

namespace normscope::view {

struct Answer {
  std::vector<double> drawn{};       ///< y at the points of the grid, from the first on
  std::vector<std::string> order{};  ///< ids of the cards
  std::optional<double> value{};     ///< of the slider
  bool empty() const { return drawn.empty() && order.empty() && !value; }
  bool operator==(const Answer&) const = default;
};

}  // namespace normscope::view

// The interface of an add-on's screen to the shell, links, sessions and pictures. For each row NAME of the add-on's
// screens.def there is a function NAME_kind() with its factory. Lab and Lessons are no AppScreens; the shell has them.

namespace normscope {
namespace lab {
struct TransportState;
}

/// The settings of a screen, as pairs of key and value; a key may occur several times. app/link/link.h reads them.
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
  /// Whether a requested result is still being computed: a screenshot waits until it is there.
  virtual bool busy() const { return false; }

  /// The settings that a session keeps of the screen. restore() gets empty ones where it kept none. It throws Error.
  virtual ScreenSettings kept() const { return {}; }
  virtual void restore(const ScreenSettings&) {}
  /// The settings that a link carries of the screen. open_link() throws Error.
  virtual ScreenSettings linked() const { return {}; }
  virtual void open_link(const ScreenSettings& link) { restore(link); }

  /// A screen with an undo history of its own: while it is shown, undo and redo (`undo` false) act on the screen.
  virtual bool has_changes() const { return false; }
  virtual bool can_take_back(bool /*undo*/) const { return false; }
  virtual void take_back(bool /*undo*/) {}

  /// Opens a file of ScreenKind::opens.
  virtual void open(const std::string& /*path*/, const LabView&) {}
  /// Sets the screen up as `screenshot --screen NAME:WHAT` or a line of a script asks; empty: a new one. Throws Error.
  virtual void begin(const std::string& what);
};

struct ScreenSetup {
  std::function<void()> wake;  ///< requests a frame; a screen's own threads call it when they have a result
  bool keeps = false;          ///< uses the store of results that all programs share; true in a window
  std::shared_ptr<Trainer> trainer{};  ///< the Lab's; null where no Lab is there
};

/// The static properties of a screen and its factory.
struct ScreenKind {
  std::unique_ptr<AppScreen> (*make)(const ScreenSetup&) = nullptr;
  /// Throws Error for settings that a link may not have; null: no link can have settings of this screen.
  void (*check)(const ScreenSettings&) = nullptr;
  std::optional<FileKind> opens{};  ///< the kind of files that this screen opens
  bool own_runs = false;            ///< shows nothing of the Lab's runs
};

/// Null for Lab and Lessons.
const ScreenKind* kind_of(Screen screen);
/// The screen that opens a kind of file, if there is one.
std::optional<Screen> screen_for(FileKind kind);
std::optional<Screen> screen_named(std::string_view name);
const std::vector<Screen>& screens_by_key();

#define SCREEN(Name, name, key) ScreenKind name##_kind();
#include "chosen/screens.def"
#undef SCREEN

}  // namespace normscope
