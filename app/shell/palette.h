// The command palette (Ctrl+K) finds every named control and every command by a few letters and runs it with Enter. It
// is drawn last in a frame, when the registry knows all controls of the screen.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/lab_screen.h"
#include "app/ui/ui.h"
#include "app/view/shortcuts.h"
#include "engine/model/wiring.h"

namespace normscope::shell {

struct PaletteItem {
  std::string title{};   // "learning rate"
  std::string detail{};  // value or keys, at the right
  std::string help{};
  std::string control{};           // name of the control; empty: something else
  std::optional<view::Act> act{};  // a command of the table of shortcuts
  std::string term{};              // id of a glossary entry
  std::optional<Placement> preset{};
  std::string words{};    // other names that find it
  std::string refusal{};  // why it cannot be chosen now; empty: it can
};

struct PaletteState {
  std::string query;
  int selected = 0;
  std::string pending;  // control to activate as soon as the keyboard is free
  int wait = 0;
};

// How well an item fits the query; 0: not at all. Every word must be found: at the start of a word of the
// title, as another name, inside a word, as letters in order, or in the help.
int match(std::string_view query, const PaletteItem& item);
// The items that fit, best first; all of them for an empty query.
std::vector<const PaletteItem*> matches(std::string_view query, const std::vector<PaletteItem>& items);

using Refusal = std::function<std::string(const PaletteItem&)>;

// Lists commands, the enabled controls of the frame and those in `elsewhere`, settings that are out of sight, every
// placement, and the glossary. A chosen control that is out of sight must first be brought into view by the app; then
// it is pressed. `no_cuda` says why CUDA cannot be chosen. `view` limits settings to those with a row for its runs,
// and presets to those that one of them can have. `refusal` returns why the app would refuse an item now.
std::vector<PaletteItem> palette_items(const ui::Ui&, std::span<const lab::Elsewhere> elsewhere = {},
                                       const std::string& no_cuda = {}, const LabView* view = nullptr,
                                       const Refusal& refusal = {});
// Puts a control into words: "settings/train.lr" -> "learning rate", "diagram/layers3-6" -> "diagram: layers 3 to 6".
std::string control_title(std::string_view name);

void open_palette(ui::Ui&, PaletteState&);
// Returns the choice for the app to carry out; the palette itself presses a chosen control. A refused item is grey
// and shows the reason, which the app repeats if the item is chosen.
std::optional<PaletteItem> draw_palette(ui::Ui&, PaletteState&,
                                        const std::function<std::vector<lab::Elsewhere>()>& elsewhere,
                                        const std::string& no_cuda, const LabView& view,
                                        const Refusal& refusal);

}  // namespace normscope::shell
