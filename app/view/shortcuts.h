// Gives the one table of shortcuts, which key handling, the sheet of shortcuts and the palette all read. A
// screen asks pressed(ui, Act::Play) and names no key itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/ui/ui.h"

namespace normscope::view {

enum class Act {
  /// Time.
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
  /// Without a key; the palette has them.
  ReducedMotion,
  Measurements,
  Restore,
  FirstLesson,
  Gesture,  // a row of the sheet that no key stands for
};

struct Shortcut {
  Act act;
  std::string_view id;       // of its words: assets/words/shortcuts.toml
  std::string_view chord{};  // "Ctrl+Z"; empty: none
  std::string_view
      control{};              // that it stands for: a key or the palette reaches no more than the mouse does;
                              // without a control of its own "command/..."; empty: acts on what has the focus
  std::string_view second{};  // another chord
  bool command = false;       // the palette runs it; the others belong to a named control
  std::string_view shown{};   // on the sheet, where the chord alone would not say it
  std::string_view title{};   // "Undo"
  std::string_view help{};    // one sentence
  std::string_view words{};   // other names that the palette finds it by
  std::string_view group{};   // title of the group that begins with it on the sheet
};

std::span<const Shortcut> shortcuts();
const Shortcut& shortcut_of(Act act);
/// True when the key was pressed in this frame, nothing is being typed, and the act's control is not held.
bool pressed(ui::Ui&, Act);
/// Writes the keys as the sheet does: "Ctrl Z".
std::string keys_text(const Shortcut&);

/// Draws the sheet as the popup "app/help", which ui.open_popup opens. `foot` is a line below the keys; empty: none.
void draw_sheet(ui::Ui&, ui::Vec top_right, const std::string& foot = "");

}  // namespace normscope::view
