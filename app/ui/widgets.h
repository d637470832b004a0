// The widgets of the app, drawn by ourselves (the stock slider, tab bar and combo give the debug-window
// look). Each takes the Ui, a stable name, its rectangle in logical px and help; each is in the registry,
// reachable by Tab, and shows focus.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/ui.h"

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
  bool primary = false;   // yellow: the one thing to press
  bool selected = false;  // 2 px ink outline
  bool quiet = false;     // no box until hovered
  bool left = false;      // the label stands left: a row of a list
  Icon icon = Icon::None;
  TextStyle style{Face::Bold, type::title};
};
// Text button (with an optional icon before the text); true when activated by mouse, Enter or its `chord`.
bool button(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view help,
            const ButtonOptions& = {});
// Button with an icon only. `value` tells the registry what it stands at ("playing").
bool icon_button(Ui&, std::string_view name, const Rect&, Icon, std::string_view help,
                 const ButtonOptions& = {}, std::string_view value = {});

// Tab of the top bar: text, underlined by the accent when selected.
bool tab(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view key_hint,
         bool selected, std::string_view help);

// What is shown for a segment, or an entry of a list, that is named so: a name stays when the language is another. Itself
// where assets/words/controls.toml has no label for it.
std::string_view shown_label(std::string_view name);

// One choice of several in one rounded box. Registers each segment as NAME/LABEL; arrows walk the segments.
// Returns true on a change. `widths` empty: segments share the width by their labels. selected = -1: none is
// active. `helps`, when given, is the help of each segment; `refusals` say why one cannot be chosen, empty where it can.
bool segmented(Ui&, std::string_view name, const Rect&, std::span<const std::string> labels, int& selected,
               std::string_view help, std::span<const std::string> helps = {},
               std::span<const std::string> refusals = {});
// Width that fits the labels with the usual padding.
float segmented_width(Ui&, std::span<const std::string> labels);

// Drop-down of choices: a small box with the choice and a chevron, a popup list on activation. True on a change.
bool choice(Ui&, std::string_view name, const Rect&, std::span<const std::string> labels, int& selected,
            std::string_view help);

// A number to drag, type or change by arrows. Label left, value and unit right, 2 px track at the bottom edge.
struct FieldOptions {
  double lo = 0, hi = 1;  // of the track and the drag
  double step = 1;        // of arrows (linear) ; for log fields a step is one of 1, 2, 5 per decade
  bool log = false;
  bool integer = false;
  bool hard_lo = true, hard_hi = false;  // typed values may pass a soft end
  std::string unit{};                    // after the number, in ink3
  std::string note{};                    // after the label, e.g. "differs"
  bool enabled = true;
  bool track = true;
  std::function<std::string(double)> format{};  // default: number(v, 4)
};
enum class Change { None, Live, Done };  // live: while dragging (value already changed); done: committed
Change field(Ui&, std::string_view name, const Rect&, std::string_view label, double& value,
             std::string_view help, const FieldOptions& = {});
// A text to type (search, file path). True when committed with Enter. `secret`: dots are shown for it.
bool text_field(Ui&, std::string_view name, const Rect&, std::string_view hint, std::string& value,
                std::string_view help, bool secret = false);
// A row that shows something and opens something: label left, free drawing right. True when activated.
bool row(Ui&, std::string_view name, const Rect&, std::string_view label, std::string_view note,
         std::string_view value, std::string_view help, bool chevron = false);

// State badge: solid = needs you, outline = fine. Returns its width; `at` is its upper left corner, height
// badge_height (compact: badge_height_compact). `flash` 0..1 draws the one-time flash of a new badge.
inline constexpr float badge_height = 20, badge_height_compact = 17;
enum class BadgeKind { Solid, Outline, Error };
float badge(Ui&, Vec at, std::string_view text, BadgeKind, Icon icon = Icon::None, bool compact = false,
            float flash = 0);
float badge_width(Ui&, std::string_view text, Icon icon = Icon::None, bool compact = false);

// Letter tile of a run (0 = A). Dashed: the run does not exist yet.
void tile(Painter&, const Theme&, const Rect&, int run, bool dashed = false);
inline void tile(Ui& ui, const Rect& r, int run, bool dashed = false) {
  tile(ui.paint(), ui.theme(), r, run, dashed);
}
// The same as a choice of run; registered, ring around the selected one.
bool tile_button(Ui&, std::string_view name, const Rect&, int run, bool selected, std::string_view help);
// Small square of a layer's depth colour, the key of all plots by depth.
void depth_square(Ui&, const Rect&, int layer, int layers);

// Panel: background, border, title row with what fits behind the title and, when not empty, one sentence
// below. Returns what is left for the content. `right` px of the title row are kept free for controls.
struct PanelOptions {
  std::string title{}, note{}, sentence{};
  float right = 0;
  bool raised = false;
  std::string question{}, brief{};  // see behind_title
  std::string term{};  // entry of the glossary that the title means; empty: looked up by the title
};
// The first of the texts that is no wider than that, whole; else empty.
std::string fitting(const Painter&, TextStyle, float width, std::initializer_list<std::string> texts);
// What stands behind a title in `room` px: the question and the note, else the question, else its brief form,
// else the note. Never cut; empty where nothing fits.
std::string behind_title(const Painter&, float room, std::string_view question, std::string_view brief,
                         std::string_view note);
Rect panel(Ui&, const Rect&, const PanelOptions&);

// Small key cap such as "Ctrl K".
float key_cap(Ui&, Vec at, std::string_view text);

// 16000 -> "16 000" (thin spaces); for counters, factors, axes.
std::string grouped(long long n);
// A number as a person writes it: 0.003, 1.20, 16 000, 3.1×10⁻⁷; `digits` significant.
std::string number(double v, int digits = 3);
// A number that was formatted, with a real minus; what is shown as zero has none.
std::string with_minus(std::string text);
// Such a number as a person may type it: spaces of any kind between digits, a comma for the point, a real minus.
bool parse_number(std::string text, double& value);
// "10⁻⁴"
std::string power_of_ten(int exponent);

}  // namespace normscope::ui
