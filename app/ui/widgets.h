// The app's own widgets, because ImGui's slider, tab bar and combo look like a debug window. Each control takes the Ui,
// a stable name, its rectangle in logical px and a help text; it is in the registry, can be reached by Tab, and shows
// the focus.
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
  bool primary = false;   // yellow: the main action
  bool selected = false;  // 2 px ink outline
  bool quiet = false;     // no box until hovered
  bool left = false;      // the label is aligned left, as in the row of a list
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

/// The text shown for a segment or a list entry, by its name, which is the same in every language. Returns the name
/// itself where assets/words/controls.toml has no label for it.
std::string_view shown_label(std::string_view name);
/// Returns these names, each with its label.
std::vector<words::Label> labels_of(const std::vector<std::string>& names);

/// Draws a choice of one segment from several in a rounded box and returns true on a change. Each segment is registered
/// as NAME/NAME OF ITS LABEL; arrow keys move the choice. selected = -1: none. `helps`, when given, has the help of
/// each segment; `refusals` why a segment cannot be chosen, empty where it can.
bool segmented(Ui&, std::string_view name, const Rect&, std::span<const words::Label> labels, int& selected,
               std::string_view help, std::span<const std::string> helps = {},
               std::span<const std::string> refusals = {});
/// The width that fits the labels with the usual padding.
float segmented_width(Ui&, std::span<const words::Label> labels);

/// Draws a drop-down: a small box with the choice and a chevron, which opens a list. Returns true on a change.
bool choice(Ui&, std::string_view name, const Rect&, std::span<const words::Label> labels, int& selected,
            std::string_view help);

/// A number field: the user drags, types, or presses arrow keys. The label is on the left, value and unit on the right,
/// and a track of 2 px at the bottom edge shows the value within its range.
struct FieldOptions {
  double lo = 0, hi = 1;  // the range of track and drag
  double step = 1;        // of an arrow key on a linear field; a log field steps through 1, 2, 5 per decade
  bool log = false;
  bool integer = false;
  double least = NAN, most = INFINITY;  // of a typed value; what lies beyond is refused in a sentence. NAN: lo
  std::string unit{};                    // after the number, in ink3
  std::string note{};                    // after the label, e.g. "differs"
  bool enabled = true;
  bool track = true;
  std::function<std::string(double)> format{};  // default: number(v, 4)
};
enum class Change { None, Live, Done };  // Live: changed by a drag that goes on; Done: committed
Change field(Ui&, std::string_view name, const Rect&, std::string_view label, double& value,
             std::string_view help, const FieldOptions& = {});
double next_value(const FieldOptions&, double value, int by);  // after an arrow key
double to_track(const FieldOptions&, double value);            // the position on the track, from 0 to 1
double from_track(const FieldOptions&, double place);
/// A field for text (search, file path). `value` follows every key; true when Enter commits it. `secret` shows dots.
bool text_field(Ui&, std::string_view name, const Rect&, std::string_view hint, std::string& value,
                std::string_view help, bool secret = false);
/// A row with its label on the left and a value on the right, which opens a list or a box. True when activated.
bool row(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view note,
         std::string_view value, std::string_view help, bool chevron = false);

/// `file_menu` draws a file icon that opens a list of file formats to save, one row per file name ending: NAME/svg. It
/// returns the ending that was chosen in this frame, or "". The key chord `shortcut` opens the list too; `foot` draws a
/// strip of `foot_height` px below the rows.
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

/// Draws a run's state as a badge: solid where the user should act, else an outline. `at` is its upper left corner, its
/// height badge_height or badge_height_compact; returns its width. `flash`, 0..1: opacity of a new badge's ring.
inline constexpr float badge_height = 20, badge_height_compact = 17;
enum class BadgeKind { Solid, Outline, Error };
float badge(Ui&, Vec at, std::string_view text, BadgeKind, Icon icon = Icon::None, bool compact = false,
            float flash = 0);
float badge_width(Ui&, std::string_view text, Icon icon = Icon::None, bool compact = false);

/// Draws the letter tile of a run (0 = A). Dashed: the run does not exist yet, or is switched off.
void tile(Painter&, const Theme&, const Rect&, int run, bool dashed = false);
inline void tile(Ui& ui, const Rect& r, int run, bool dashed = false) {
  tile(ui.paint(), ui.theme(), r, run, dashed);
}
/// A run's letter tile as a button; the selected tile has a ring.
bool tile_button(Ui&, std::string_view name, const Rect&, int run, bool selected, std::string_view help);
/// Draws a small square in a layer's depth colour, for the legend of plots with a line for each layer.
void depth_square(Ui&, const Rect&, int layer, int layers);

/// `panel` draws background, border, title row and, when not empty, a sentence below. It returns the rectangle for the
/// content. `right` px of the title row stay free for controls.
struct PanelOptions {
  std::string title{}, note{}, sentence{};
  float right = 0;
  bool raised = false;
  std::string question{}, brief{};  // see behind_title
  std::string term{};               // glossary entry of the title; empty: looked up by the title
};
/// The first text that is no wider than `width`; else "".
std::string fitting(const Painter&, TextStyle, float width, std::initializer_list<std::string> texts);
/// The longest text that fits behind a title in `room` px: question and note, else the question, else its brief form,
/// else the note, uncut; "" where none fits.
std::string behind_title(const Painter&, float room, std::string_view question, std::string_view brief,
                         std::string_view note);
/// Writes one line, or two smaller ones where the text is longer. Returns false where even those do not hold it: then
/// its paths are shortened in their middle, so that the reason behind them is read, and the end is cut.
bool text_whole(Ui&, const Rect&, Colour, const std::string&, Align = Align::Left);
Rect panel(Ui&, const Rect&, const PanelOptions&);

/// Draws a colour scale in pieces along its longer side, from share 0 at the left or the bottom to share 1. A piece has
/// the colour of its middle; `to_ends`: the outer pieces have the colours of 0 and 1.
void colour_scale(Painter&, const Rect&, int pieces, bool to_ends,
                  const std::function<Colour(float share)>& colour);

/// Draws a double frame around a rectangle that a lesson points out.
void spotlight(Painter&, const Theme&, const Rect&);

/// A screen divided into a bar at the bottom and the rest within its margins.
struct ScreenRoom {
  Rect bar, rest;
  float gap;  ///< between the panels in `rest`
};
ScreenRoom screen_room(const Rect& area, Size size);

/// Draws a timeline's playhead at x, with `text` (its step) in a flag above the track.
void flag(Painter&, const Theme&, const Rect& track, float x, const std::string& text);

}  // namespace normscope::ui
