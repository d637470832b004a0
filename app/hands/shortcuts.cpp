#include "app/hands/shortcuts.h"

#include <algorithm>
#include <array>

#include "app/ui/widgets.h"

namespace normscope::hands {
namespace {

constexpr std::array<Shortcut, 29> kShortcuts{{
    {Act::play, "Space", "", "", "Train or pause", "All runs go on together, or rest."},
    {Act::step, "Right", "", "", "One step of every run", "Trains one step and rests."},
    {Act::newest, "End", "", "", "Cursor to the newest step", "The step cursor follows the training again."},
    {Act::gesture, "", "", "drag a norm", "Move it in all alike layers, as run D", ""},
    {Act::gesture, "", "", "Alt, Shift", "This norm alone; run D from step 0", ""},
    {Act::norm_before, "I", "", "", "Norm in focus: before its branch", "In all alike layers."},
    {Act::norm_after, "O", "", "", "Norm in focus: after its branch", "In all alike layers."},
    {Act::norm_trunk, "P", "", "", "Norm in focus: on the trunk", "In all alike layers."},
    {Act::norm_kind, "T", "", "", "Kind of the norm in focus", "LayerNorm, RMSNorm and others."},
    {Act::norm_empty, "Delete", "", "", "Remove the norm in focus", "Enter fills the slot again."},
    {Act::gesture, "", "", "Tab, arrows", "Move the focus, change what is in focus", ""},
    {Act::gesture, "", "", "Enter", "Press, fill or type into what is in focus", ""},
    {Act::undo, "Ctrl+Z", "", "", "Undo", "Takes the last edit back from now on; nothing is untrained.",
     true},
    {Act::redo, "Ctrl+Shift+Z", "Ctrl+Y", "", "Redo", "Makes the edit that was taken back again.", true},
    {Act::palette, "Ctrl+K", "", "", "Find a control or command", "Type a few letters, Enter runs it."},
    {Act::save, "Ctrl+S", "", "", "Save the runs",
     "As normscope.toml, with their edits; drop it here to open it.", true},
    {Act::copy_command, "Ctrl+Shift+C", "", "", "Copy the command that reproduces the runs",
     "One line for a terminal, with every edit at its step.", true},
    {Act::bigger, "Ctrl+=", "Ctrl+Shift+=", "Ctrl +", "Everything larger", "At most 250 %.", true},
    {Act::smaller, "Ctrl+-", "", "Ctrl -", "Everything smaller", "At least 75 %.", true},
    {Act::natural_size, "Ctrl+0", "", "", "Size of the display", "100 % of what the display asks for.", true},
    {Act::glossary, "F1", "", "", "Explain what is in focus",
     "The glossary's entry of the term, where it has one."},
    {Act::theme, "", "", "", "Light or dark", "Changes the theme.", true},
    {Act::reduced_motion, "", "", "", "Reduced motion", "Nothing glides: changes are shown at once.", true},
    {Act::restore, "", "", "", "Restore the last session", "The runs of the last window, as they stood.",
     true},
    {Act::opener, "", "", "", "Guess the next letter", "Two minutes; your own line on the loss plot.", true},
    {Act::gesture, "", "", "wheel, drag", "Zoom and pan a plot; double click resets", ""},
    {Act::gesture, "", "", "drop a file", "Your own text (UTF-8), or runs saved as .toml", ""},
    {Act::gesture, "", "", "Escape", "Leave, close, let go without a change", ""},
    {Act::sheet, "?", "", "", "This sheet", "Every key in one place."},
}};

}  // namespace

std::span<const Shortcut> shortcuts() { return kShortcuts; }

const Shortcut& shortcut_of(Act act) {
  return *std::find_if(kShortcuts.begin(), kShortcuts.end(), [&](const Shortcut& s) { return s.act == act; });
}

bool pressed(ui::Ui& ui, Act act) {
  const Shortcut& s = shortcut_of(act);
  return (!s.chord.empty() && ui.shortcut(s.chord)) || (!s.second.empty() && ui.shortcut(s.second));
}

std::string keys_text(const Shortcut& s) {
  std::string text(s.shown.empty() ? s.chord : s.shown);
  if (s.shown.empty()) std::replace(text.begin(), text.end(), '+', ' ');
  return text;
}

void draw_sheet(ui::Ui& ui, ui::Vec top_right) {
  using namespace ui;
  const auto listed = [](const Shortcut& s) { return !keys_text(s).empty(); };
  const float line = 19;
  const auto rows = static_cast<float>(std::count_if(kShortcuts.begin(), kShortcuts.end(), listed));
  const Rect sheet{top_right.x - 420, top_right.y, 420, line * rows + 52};
  if (!ui.begin_popup("app/help", sheet)) return;
  Painter& p = ui.paint();
  Rect rest = sheet.inset(16, 12);
  p.text_in(rest.take_top(24, 4), {Face::bold, type::title}, ui.theme().ink, "Hands and keys");
  for (const Shortcut& s : kShortcuts) {
    if (!listed(s)) continue;
    Rect row = rest.take_top(line);
    ui.mark("sheet/" + std::string(s.title), row, keys_text(s), s.help);
    p.text_in(row.take_left(116), {Face::mono, type::body}, ui.theme().ink, keys_text(s));
    p.text_in(row, {Face::sans, type::body}, ui.theme().ink2, s.title);
  }
  ui.end_popup();
}

}  // namespace normscope::hands
