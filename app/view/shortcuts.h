// The one table of shortcuts, which key handling, the sheet of shortcuts and the palette read. A screen calls
// pressed(ui, Act::Play) and names no key itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/ui/ui.h"

namespace normscope::view {

enum class Act {
  /// Training and the step cursor.
  Play,
  Step,
  Back,
  Newest,
  Bookmark,
  Instant,
  MeasureBatch,
  /// The norm in focus.
  NormBefore,
  NormAfter,
  NormStream,
  NormKind,
  NormEmpty,
  NormLock,
  LayerOut,
  /// Edits.
  Undo,
  Redo,
  /// Anywhere.
  Palette,
  Sheet,
  Save,
  SaveAs,
  SavePlacement,
  OpenFile,
  CopyCommand,
  CopyLink,
  Bigger,
  Smaller,
  NaturalSize,
  Glossary,
  CopyPlot,
  Theme,
/// The acts of add-ons: rows of their shortcuts.def.
#define SHORTCUT(Name, id, chord, control) Name,
#include "chosen/shortcuts.def"
#undef SHORTCUT
  /// Without a key: only the palette runs them.
  ReducedMotion,
  Measurements,
  Restore,
  FirstLesson,
  Gesture,  // a row of the sheet for mouse gestures or several keys; it has no chord
};

struct Shortcut {
  Act act;
  std::string_view id;       // of its words: assets/words/shortcuts.toml
  std::string_view chord{};  // "Ctrl+Z"; empty: none
  std::string_view
      control{};  // that the key acts for: where the control is locked, so is the key; "command/..."
                  // where the screen has no such control; empty: the key acts on the focused control
  std::string_view second{};  // another chord
  bool command = false;       // listed in the palette as a command; the others are reached by their control
  std::string_view shown{};   // keys as printed on the sheet, where the chord alone is not enough
  std::string_view title{};   // "Undo"
  std::string_view help{};    // one sentence
  std::string_view words{};   // other names that the palette finds it by
  std::string_view group{};   // title of the group of which this is the first row on the sheet
};

std::span<const Shortcut> shortcuts();
const Shortcut& shortcut_of(Act act);
/// True when a chord of the act was pressed in this frame, no text is typed, and its control is not locked or hidden.
bool pressed(ui::Ui&, Act);
/// Writes the keys as the sheet does: "Ctrl Z".
std::string keys_text(const Shortcut&);

/// Draws the sheet as the popup "app/help", which ui.open_popup opens. `foot` is a line below the keys; empty: none.
void draw_sheet(ui::Ui&, ui::Vec top_right, const std::string& foot = "");

}  // namespace normscope::view
