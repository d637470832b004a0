// A screen that an add-on brings, as the shell, links, sessions and pictures know it. Its row of screens.def
// has a function NAME_kind(), which says how it is made. Lab and Lessons are the core's own and known by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/ui/ui.h"
#include "app/view/screen.h"
#include "training/files/file_kind.h"

namespace normscope {
namespace lab {
struct TransportState;
}

/// How a screen is set, as KEY and VALUE; a key may stand there several times. app/link/screen_settings.h reads them.
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
  /// Gives the ticket of a command that was posted in this frame.
  virtual void posted(const session::Command&, session::Ticket) {}
  /// Something that was asked for is not there yet: a picture waits for it.
  virtual bool busy() const { return false; }

  /// What a session keeps of the screen, and brings back. Settings that are empty were never kept. Throws Error.
  virtual ScreenSettings kept() const { return {}; }
  virtual void restore(const ScreenSettings&) {}
  /// What a link carries of it, and sets. Throws Error.
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
/// The screen of that name, if there is one.
std::optional<Screen> screen_named(std::string_view name);
/// All screens, in the order of their keys.
const std::vector<Screen>& screens_by_key();

#define SCREEN(Name, name, key) ScreenKind name##_kind();
#include "chosen/screens.def"
#undef SCREEN

}  // namespace normscope
