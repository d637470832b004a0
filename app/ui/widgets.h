// The widgets of the app are drawn by ourselves, because ImGui's slider, tab bar and combo look like a debug window.
// Each takes the Ui, a stable name, its rectangle in logical px and help; each is in the registry, can be reached by
// Tab, and shows focus.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/numbers.h"
#include "app/ui/ui.h"
#include "app/words/words.h"

namespace normscope::ui {

enum class Icon {
  None,
  Play,
  Pause,
  Step,
  First,
  Reset,
  Theme,
  Help,
  Search,
  ChevronRight,
  ChevronDown,
  Undo,
  Close,
  Bookmark,
  Minus,
  Learning,
  File
};

void draw_icon(Painter&, Icon, Vec centre, float size, Colour);

struct ButtonOptions {
  bool enabled = true;
  bool primary = false;   // yellow: the main thing to press
  bool selected = false;  // 2 px ink outline
  bool quiet = false;     // no box until hovered
  bool left = false;      // the label stands left, as in the row of a list
  Icon icon = Icon::None;
  TextStyle style{Face::Bold, type::title};
};
/// Draws a text button, with an optional icon before the text. It returns true when activated by mouse or Enter.
bool button(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view help,
            const ButtonOptions& = {});
/// Draws a button with an icon only. `value` is its state for the registry ("playing").
bool icon_button(Ui&, std::string_view name, const Rect&, Icon, std::string_view help,
                 const ButtonOptions& = {}, std::string_view value = {});

/// Draws a tab of the top bar: text, underlined by the accent when selected.
bool tab(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view key_hint,
         bool selected, std::string_view help);

/// The words shown for a segment or a list entry of this name, because names stay the same in
/// every language. It returns the name itself where assets/words/controls.toml has no label for it.
std::string_view shown_label(std::string_view name);
/// Returns these names, each with its label.
std::vector<words::Label> labels_of(const std::vector<std::string>& names);

/// Draws one choice of several in one rounded box and returns true on a change. It registers each segment
/// as NAME/NAME OF ITS LABEL; arrows walk the segments. selected = -1: none is active. `helps`, when given, is the help
/// of each segment; `refusals` say why a segment cannot be chosen, and are empty where it can.
bool segmented(Ui&, std::string_view name, const Rect&, std::span<const words::Label> labels, int& selected,
               std::string_view help, std::span<const std::string> helps = {},
               std::span<const std::string> refusals = {});
/// The width that fits the labels with the usual padding.
float segmented_width(Ui&, std::span<const words::Label> labels);

/// Draws a drop-down: a small box with the choice and a chevron, which opens a list. It returns true on a change.
bool choice(Ui&, std::string_view name, const Rect&, std::span<const words::Label> labels, int& selected,
            std::string_view help);

/// A number to drag, type or change by arrows. The label stands left, value and unit right, a
/// track of 2 px at the bottom edge.
struct FieldOptions {
  double lo = 0, hi = 1;  // the range of track and drag
  double step = 1;        // of an arrow key on a linear field; a log field steps through 1, 2, 5 per decade
  bool log = false;
  bool integer = false;
  bool hard_lo = true, hard_hi = false;  // a typed value may pass a soft end
  std::string unit{};                    // after the number, in ink3
  std::string note{};                    // after the label, e.g. "differs"
  bool enabled = true;
  bool track = true;
  std::function<std::string(double)> format{};  // default: number(v, 4)
};
enum class Change { None, Live, Done };  // Live: during a drag, the value has changed; Done: committed
Change field(Ui&, std::string_view name, const Rect&, std::string_view label, double& value,
             std::string_view help, const FieldOptions& = {});
double next_value(const FieldOptions&, double value, int by);  // after an arrow key
double to_track(const FieldOptions&, double value);            // the place along the track, from 0 to 1
double from_track(const FieldOptions&, double place);
/// Takes a typed text (search, file path) and returns true when Enter commits it. `secret` shows dots.
bool text_field(Ui&, std::string_view name, const Rect&, std::string_view hint, std::string& value,
                std::string_view help, bool secret = false);
/// Shows something and opens something: label left, free drawing right. It returns true when activated.
bool row(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view note,
         std::string_view value, std::string_view help, bool chevron = false);

/// `file_menu` draws a file icon that opens a list of what can be saved, a row an ending: NAME/svg. It returns the
/// ending that was chosen in this frame, or an empty text. `shortcut` opens it too; `foot` draws what stands below the
/// rows, in a strip of that height.
struct FileRow {
  const char* ending;
  std::string label, help;
};
struct FileMenuOptions {
  bool enabled = true;
  const char* shortcut = "";
  float foot_height = 0;
  std::function<void(const Rect&)> foot{};
};
std::string file_menu(Ui&, std::string_view name, const Rect& icon, std::string_view help,
                      std::span<const FileRow>, const FileMenuOptions& = {});

/// Draws a state: solid needs you, outline is fine. `at` is its upper left corner, its height badge_height or
/// badge_height_compact; its width is returned. `flash` in 0..1 draws the one-time flash of a new badge.
inline constexpr float badge_height = 20, badge_height_compact = 17;
enum class BadgeKind { Solid, Outline, Error };
float badge(Ui&, Vec at, std::string_view text, BadgeKind, Icon icon = Icon::None, bool compact = false,
            float flash = 0);
float badge_width(Ui&, std::string_view text, Icon icon = Icon::None, bool compact = false);

/// Draws the letter tile of a run (0 = A). Dashed: the run does not exist yet.
void tile(Painter&, const Theme&, const Rect&, int run, bool dashed = false);
inline void tile(Ui& ui, const Rect& r, int run, bool dashed = false) {
  tile(ui.paint(), ui.theme(), r, run, dashed);
}
/// Draws the tile as a choice of run; it is registered, and the selected one has a ring.
bool tile_button(Ui&, std::string_view name, const Rect&, int run, bool selected, std::string_view help);
/// Draws a small square in a layer's depth colour, the key of all plots by depth.
void depth_square(Ui&, const Rect&, int layer, int layers);

/// `panel` draws background, border, title row and, when not empty, one sentence below. It returns what is left for the
/// content. `right` px of the title row are kept free for controls.
struct PanelOptions {
  std::string title{}, note{}, sentence{};
  float right = 0;
  bool raised = false;
  std::string question{}, brief{};  // see behind_title
  std::string term{};               // glossary entry of the title; empty: looked up by the title
};
/// The first text that is no wider than `width`; else "".
std::string fitting(const Painter&, TextStyle, float width, std::initializer_list<std::string> texts);
/// The most that fits behind a title in `room` px: question and note, else the question, else its brief
/// form, else the note. It cuts none of them and returns "" where none fits.
std::string behind_title(const Painter&, float room, std::string_view question, std::string_view brief,
                         std::string_view note);
/// Writes one line, or two smaller ones where the text is longer. It returns false where it had to cut.
bool text_whole(Ui&, const Rect&, Colour, const std::string&, Align = Align::Left);
Rect panel(Ui&, const Rect&, const PanelOptions&);

/// Draws the colours of a scale in pieces along its longer side, from a share of 0 at the left or the bottom to 1: each
/// in the colour of its middle, or `to_ends` the outer ones in those of the ends.
void colour_scale(Painter&, const Rect&, int pieces, bool to_ends,
                  const std::function<Colour(float share)>& colour);

/// Draws a double frame around what is meant.
void spotlight(Painter&, const Theme&, const Rect&);

/// `screen_room` divides a screen into the bar at its bottom and what is left within its margins.
struct ScreenRoom {
  Rect bar, rest;
  float gap;  ///< between what stands in `rest`
};
ScreenRoom screen_room(const Rect& area, Size size);

/// Says above a timeline's track where its play head at x stands.
void flag(Painter&, const Theme&, const Rect& track, float x, const std::string& text);

}  // namespace normscope::ui
