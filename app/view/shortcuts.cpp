#include "app/view/shortcuts.h"

#include <algorithm>
#include <array>

#include "app/ui/widgets.h"

namespace normscope::shell {
namespace {

constexpr std::array<Shortcut, 49> kShortcuts{{
    {Act::Play, "Space", "", "", "Train or pause", "All runs go on together, or rest."},
    {Act::Step, "Right", "", "", "One step on", "The cursor's next step; at the newest all runs train one."},
    {Act::Back, "Left", "", "", "One step back", "The cursor goes; what was trained stays.", true},
    {Act::Newest, "End", "", "", "Cursor to the newest step", "The step cursor follows the training again.",
     true},
    {Act::Bookmark, "B", "", "", "Bookmark at the cursor", "Sets one, or removes the one that is there.",
     true},
    {Act::MeasureBatch, "", "", "", "Measure the whole batch",
     "Residual dependency over every sequence of this step, not over one alone.", true},
    {Act::Gesture, "", "", "drag a norm", "Move it in all identical layers, as run D", ""},
    {Act::Gesture, "", "", "Alt, Shift", "This norm alone; run D from step 0", ""},
    {Act::NormBefore, "I", "", "", "Norm in focus: before its branch", "In all identical layers."},
    {Act::NormAfter, "O", "", "", "Norm in focus: after its branch", "In all identical layers."},
    {Act::NormStream, "P", "", "", "Norm in focus: on the stream", "In all identical layers."},
    {Act::NormKind, "T", "", "", "Kind of the norm in focus", "LayerNorm, RMSNorm and others."},
    {Act::NormEmpty, "Delete", "", "", "Remove the norm in focus", "Enter fills the slot again."},
    {Act::NormLock, "L", "", "", "Lock the norm in focus", "It stays when others move."},
    {Act::LayerOut, "X", "", "", "Leave out the layer in focus",
     "The loss without it; nothing of the run changes. With Alt the sub-layer alone."},
    {Act::Gesture, "", "", "Ctrl drag", "Paint: the norm moves in every layer you pass", ""},
    {Act::Gesture, "", "", "Ctrl Up, Down", "Paint the layer above or below like this one", ""},
    {Act::Gesture, "", "", "Tab, arrows", "Move the focus, change what is in focus", ""},
    {Act::Gesture, "", "", "Enter", "Press, fill or type into what is in focus", ""},
    {Act::Undo, "Ctrl+Z", "", "", "Undo",
     "Takes back the last edit, from this step on; what was trained stays.", true},
    {Act::Redo, "Ctrl+Shift+Z", "Ctrl+Y", "", "Redo", "Makes the edit that was taken back again.", true},
    {Act::Palette, "Ctrl+K", "", "", "Find a control or command", "Type a few letters, Enter runs it."},
    {Act::Save, "Ctrl+S", "", "", "Save the runs",
     "Settings and edits, into this session's .toml; asks for a name first.", true},
    {Act::SaveAs, "Ctrl+Shift+S", "", "", "Save the runs as", "Under a name that you type.", true},
    {Act::OpenFile, "Ctrl+O", "", "", "Open a file",
     "Runs saved as .toml, a session, a log to compare, or a text to learn from.", true},
    {Act::CopyCommand, "Ctrl+Shift+C", "", "", "Copy the command that reproduces the runs",
     "One line for a terminal, with every edit at its step.", true},
    {Act::CopyLink, "Ctrl+Shift+L", "", "", "Copy a link to what is shown",
     "The runs with their edits, step, cursor, screen and theme, in one line.", true},
    {Act::Bigger, "Ctrl+=", "Ctrl+Shift+=", "Ctrl +", "Everything larger", "At most 250 %.", true},
    {Act::Smaller, "Ctrl+-", "", "Ctrl -", "Everything smaller", "At least 75 %.", true},
    {Act::NaturalSize, "Ctrl+0", "", "", "Size of the display", "100 % of what the display asks for.", true},
    {Act::Glossary, "F1", "", "", "Explain what is in focus",
     "The glossary's entry of the term, where it has one."},
    {Act::CopyPlot, "Ctrl+T", "", "", "Plot, grid or step as text",
     "Its sentence and values; the plot under the mouse, the Sweep's grid, the Tape's step."},
    {Act::Gesture, "", "", "1 to 5", "Lab, Lessons, Compare, Sweep, Tape", ""},
    {Act::Gesture, "", "", "A to H", "In Compare: this run is the baseline", ""},
    {Act::Gesture, "", "", "P, W, X", "In Compare: next place, matrix, axis", ""},
    {Act::Gesture, "", "", "C, S, +", "Sweep: copy, stop, one seed more", ""},
    {Act::Gesture, "", "", "F, N, O", "Tape: fold, not finite, other side", ""},
    {Act::Gesture, "", "", "arrows, Enter", "Tape: along the step, open a layer", ""},
    {Act::Theme, "", "", "", "Light or dark", "Changes the theme.", true},
    {Act::ReducedMotion, "", "", "", "Reduced motion", "Nothing glides: changes are shown at once.", true},
    {Act::Restore, "", "", "", "Restore the last session", "The runs of the last window, as they stood.",
     true},
    {Act::GuessingGame, "", "", "", "Guess the next letter", "Two minutes; your own line on the loss plot.",
     true},
    {Act::FirstLesson, "", "", "", "Begin the first lesson", "Predict, measure, compare, explain.", true},
    {Act::Gesture, "", "", "wheel, drag", "Zoom and pan a plot; double-click resets", ""},
    {Act::Gesture, "", "", "drop a file", "Your own text, runs saved as .toml, a log", ""},
    {Act::Gesture, "", "", "Escape", "Leave, close, let go without a change", ""},
    {Act::Present, "F5", "", "", "Presentation mode",
     "Larger, a ring around the mouse, no bar; Escape ends it.", true},
    {Act::Teacher, "", "", "Ctrl K teacher", "Teacher mode",
     "Lock or hide controls for a lesson; a code ends it.", true},
    {Act::Sheet, "?", "", "", "This sheet", "Every key in one place."},
}};

}  // namespace

std::span<const Shortcut> shortcuts() { return kShortcuts; }

const Shortcut& shortcut_of(Act act) {
  return *std::find_if(kShortcuts.begin(), kShortcuts.end(), [&](const Shortcut& s) { return s.act == act; });
}

bool pressed(ui::Ui& ui, Act act) {
  const Shortcut& s = shortcut_of(act);
  const std::string_view control = control_of(act);
  return (!s.chord.empty() && ui.shortcut(s.chord, control)) ||
         (!s.second.empty() && ui.shortcut(s.second, control));
}

std::string keys_text(const Shortcut& s) {
  std::string text(s.shown.empty() ? s.chord : s.shown);
  if (s.shown.empty()) std::replace(text.begin(), text.end(), '+', ' ');
  return text;
}

void draw_sheet(ui::Ui& ui, ui::Vec top_right, const std::string& foot) {
  using namespace ui;
  const auto listed = [](const Shortcut& s) { return !keys_text(s).empty(); };
  constexpr float kLine = 19, column = 404;
  const float head = foot.empty() ? 52.f : 52.f + 2 * kLine;
  const auto rows = static_cast<int>(std::count_if(kShortcuts.begin(), kShortcuts.end(), listed));
  // A low window has them side by side.
  const float below = ui.size().y - top_right.y - head - 8;
  const int columns = kLine * static_cast<float>(rows) > below ? 2 : 1;
  const int each = (rows + columns - 1) / columns;
  const float line = std::min(kLine, below / static_cast<float>(each));  // closer together in the lowest
  const float width = column * static_cast<float>(columns) + 16;
  const Rect sheet{top_right.x - width, top_right.y, width, line * static_cast<float>(each) + head};
  if (!ui.begin_popup("app/help", sheet)) return;
  Painter& p = ui.paint();
  Rect rest = sheet.inset(16, 12);
  p.text_in(rest.take_top(24, 4), {Face::Bold, type::title}, ui.theme().ink, "Hands and keys");
  int n = 0;
  for (const Shortcut& s : kShortcuts) {
    if (!listed(s)) continue;
    const auto across = static_cast<float>(n / each), down = static_cast<float>(n % each);
    Rect row{rest.x + across * column, rest.y + down * line, column - 24, line};
    ++n;
    ui.mark("sheet/" + std::string(s.title), row, keys_text(s), s.help);
    p.text_in(row.take_left(116), {Face::Mono, type::body}, ui.theme().ink, keys_text(s));
    p.text_in(row, {Face::Sans, type::body}, ui.theme().ink2, s.title);
  }
  if (!foot.empty()) {
    const Rect room{rest.x, rest.bottom() - 2 * kLine, rest.w, 2 * kLine};
    ui.mark("sheet/about", room, foot,
            "The same number wherever the same instructions compute the same bits.");
    p.text_wrapped(room, {Face::Sans, type::tick}, ui.theme().ink3, foot, kLine);
  }
  ui.end_popup();
}

}  // namespace normscope::shell
