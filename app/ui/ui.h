// The thin layer between the screens and Dear ImGui. One object lives as long as its ImGui context; each frame is
//   ui.begin_frame({...}); draw(ui); ui.end_frame();      (between ImGui::NewFrame and ImGui::Render)
// All coordinates are logical px; (0,0) is the window's upper left corner. Everything is drawn into one full-window
// ImGui window, and widgets take an explicit rectangle: screens own the layout. The widgets (app/ui/widgets.h) stand
// on Ui::hit(), which any screen may use for controls of its own (norm tokens, timeline, plot handles).
//
// Ui has a focus ring of its own, because ImGui's navigation would take Space and the arrows from the transport. Tab
// and Shift+Tab walk the enabled controls in drawing order, Enter activates, arrows go to a focused control that asked
// for them, Escape leaves. The ring is drawn only after the keyboard was used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/ui/geometry.h"
#include "app/ui/paint.h"
#include "app/ui/theme.h"

namespace normscope::ui {

/// Whether a control may be reached, as a part of the window says by its name (FrameOptions::policy). Ui obeys in its
/// hit test, so no control knows of it.
enum class Hold : uint8_t {
  Shown,   // answers as always
  Locked,  // drawn pale, its tooltip says who locked it
  Hidden,  // not drawn; out of the registry and the Tab order
};

struct Control {
  std::string name;   // path-like and stable: "transport/play", "diagram/layer3/ffn/stream"
  Rect rect;          // logical px
  std::string value;  // state as text: "6", "on", "Post"; empty where there is none
  std::string help;   // one or two sentences, shown as tooltip
  bool enabled = true;
  bool interactive = true;  // false: a region that only has a name (plots, panels)
};

/// Holds the named controls: in each frame every widget records its stable name, rectangle, value and help. Tests click
/// by name, lessons spotlight by name, a test demands help for every name, and a text dump lists the screen.
class Registry {
 public:
  void clear();
  /// Records a control. A name recorded twice in one frame is an error of the screen; duplicates() keeps it for a
  /// test to find.
  void add(Control);
  const Control* find(std::string_view name) const;
  std::span<const Control> all() const { return controls_; }
  std::span<const std::string> duplicates() const { return duplicates_; }
  /// Writes one line "name = value" per control, in drawing order.
  std::string to_text() const;

 private:
  std::vector<Control> controls_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<std::string> duplicates_;
};

struct FrameOptions {
  bool dark = false;
  float scale = 1;  // as requested; Ui::scale() is the effective one
  float least_scale =
      0;  // never drawn smaller: a window without the room shows a part, which follows the mouse
  bool reduced_motion = false;
  bool record_text = false;  // keep a TextRecord of every text (tests)
  // Says what is locked or hidden, until the next frame; empty: nothing is.
  std::function<std::optional<Hold>(std::string_view control)> policy{};
  const std::string& (*locked)() = nullptr;  // why a locked control does not answer
  // Whether a click or Enter only names a control, for Ui::take_picked; empty: no control.
  std::function<bool(std::string_view control)> pointing{};
};

struct HitOptions {
  bool enabled = true;
  bool arrows = false;     // this control wants the arrow keys while it has the focus
  bool focusable = true;   // part of the Tab order
  bool overlap = false;    // later controls may lie on top of this one (a surface under tokens)
  bool draw_focus = true;  // draw the focus ring around the rectangle
  bool tooltip = true;     // show the help once the mouse has rested on it
  float radius = 6;        // of the focus ring
  Rect beside{};           // not to be covered by the help; empty: the control
};

/// The user's actions on one control in this frame.
struct Hit {
  bool hovered = false, held = false, focused = false;
  bool pressed = false;  // the left button went down on it in this frame
  bool clicked = false;  // the button was released over it, or Enter was pressed while it had the focus
  bool by_key = false;   // the click came from Enter
  bool double_clicked = false;  // this was the second press on it
  bool right_clicked = false;
  bool dragging = false;         // held and moved by more than 3 px since the press
  bool released = false;         // it was held until now (the end of a drag or a click)
  Vec drag{};                    // from the press to the mouse, while held or released
  int arrow_x = 0, arrow_y = 0;  // arrow key of this frame (+1 right, +1 up); Shift multiplies by 10
  bool shift = false, alt = false, ctrl = false;
};

class Ui {
 public:
  explicit Ui(Fonts fonts);
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  void begin_frame(const FrameOptions&);
  void end_frame();

  const Theme& theme() const { return *theme_; }
  float scale() const { return scale_; }
  Vec size() const {
    return size_;
  }  // logical px of everything drawn: the window's size, or more than it shows
  /// Where the window begins in what is drawn, `panned` how far it moved at the end of the last frame; px.
  Vec pan() const { return pan_; }
  Vec panned() const { return panned_; }
  bool reduced_motion() const { return options_.reduced_motion; }
  const Fonts& fonts() const { return fonts_; }
  double time() const;  // seconds of UI time (fixed steps without a window)
  Vec mouse() const;    // logical px
  bool shift() const;
  bool alt() const;
  bool ctrl() const;

  Painter& paint() { return *paint_; }  // the current layer: window, or the open popup
  ScreenPainter paint_unrecorded() const { return paint_->unrecorded(); }  // its texts are not recorded
  Painter& paint_top() { return *paint_top_; }  // above everything but tooltips: dragged tokens, halos

  /// The primitive under every widget: hit test, focus, registry entry, tooltip.
  Hit hit(std::string_view name, const Rect&, std::string_view value, std::string_view help,
          const HitOptions& = {});
  /// Registers a region without interaction (a plot, a panel, a number worth spotlighting).
  /// It returns false where it is hidden.
  bool mark(std::string_view name, const Rect&, std::string_view value, std::string_view help);
  /// A mark that answers the mouse with its help, as a control does.
  void tell(std::string_view name, const Rect&, std::string_view value, std::string_view help);

  /// The topmost interactive control under the mouse in this frame; empty: none.
  const std::string& under_mouse() const { return under_mouse_; }

  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }
  const std::vector<TextRecord>& texts() const { return texts_; }

  /// Why a control does not answer that this frame's policy locked.
  const std::string& locked_help() const;
  /// The policy of this frame for a control. A key that stands for a control asks it first.
  Hold hold_of(std::string_view control) const;
  bool held(std::string_view control) const { return hold_of(control) != Hold::Shown; }
  /// Whether a user or a key wanted a held control since the last call.
  bool take_refused() { return std::exchange(refused_, false); }
  /// The control that was clicked while pointing since the last call, or "".
  std::string take_picked() { return std::exchange(picked_, {}); }
  bool pointing() const { return options_.pointing != nullptr; }

  /// Moves the focus to a name (empty: none). It does not show the ring until the keyboard is used.
  const std::string& focused() const { return focus_; }
  void focus(std::string_view name);
  bool focus_visible() const { return focus_visible_; }
  /// Acts as Enter does on the control when it is next drawn, even if Tab does not reach it.
  void press(std::string_view name) { press_ = name; }
  /// True while a text field takes the keys: global shortcuts (Space, letters) must then stay quiet.
  bool typing() const;
  /// Whether a global shortcut was pressed in this frame, and never while typing. Chords are text:
  /// "Space", "Ctrl+K", "Right", "Shift+Right", "?". Arrow keys that the focused control asked for do not count, nor
  /// does a chord whose `control` is held.
  bool shortcut(std::string_view chord, std::string_view control = {});

  /// Popups are opened by name and drawn while begin_popup is true, which end_popup must then follow. Escape or a click
  /// outside closes them.
  void open_popup(std::string_view name);
  void close_popup();
  bool popup_open(std::string_view name) const;
  bool popup_open() const { return !popup_.empty() || !popup_request_.empty(); }  // any popup
  bool begin_popup(std::string_view name, const Rect&);
  void end_popup();

  /// Starts a window of its own above the screens, which leaves the rest of the window to the user;
  /// end_layer must follow. Popups are opened outside of it.
  void begin_layer(std::string_view name, const Rect&);
  void end_layer();

  /// Moves a value of 0..1 smoothly towards `target`: ease-out over `ms`, at once under reduced motion. It
  /// returns the present value.
  float ease(std::string_view key, float target, float ms);

  /// True while something moves by itself or waits for a delay (easing, tooltip): draw the next frame soon.
  bool animating() const { return animating_; }
  /// Says that something moves with the clock: draw the next frame soon.
  void animate() { animating_ = true; }

  /// Shows a reading at the mouse in this frame, in inverse colours, wrapped to 280 px. A help does not come
  /// this way: it waits until the mouse rests, and stands beside what it explains.
  void tooltip(std::string_view text);

  /// The state of the text field being typed into (used by widgets.h).
  struct Edit {
    std::string name, buffer;
    bool fresh = false;   // opened this frame: select all, take the keyboard
    bool tab = false;     // the field's owner takes Tab (to complete a path), so Tab does not commit
    bool reload = false;  // the buffer was changed from outside: show it, with the caret at its end
    bool secret = false;  // a dot is drawn for each character
  };
  Edit& edit() { return edit_; }
  double& press_value() { return press_value_; }  // value of the held field at its press

 private:
  /// A value that ease() moves.
  struct Easing {
    float from = 0, to = 0;
    double start = 0;
  };
  /// Has a help and lies under the mouse in this frame. Of several the smallest counts.
  struct Explanation {
    std::string name, help;
    Rect rect, beside;
  };
  /// A held control's place in this frame, for the drawing in it.
  struct HeldArea {
    ImDrawList* list;
    Rect rect, clip;
    Hold hold;
  };
  void move_focus();
  void follow_hand();
  void draw_part(Vec window_px, Vec whole_px);
  Hold note_place(std::string_view name, const Rect&, bool interactive);
  std::optional<Hit> stopped_hit(const std::string& name, const Rect&, std::string_view value,
                                 std::string_view help, const HitOptions&);
  Hit pointed_hit(const std::string& name, const Rect&, HitOptions, Hit);
  void draw_held();
  void forget_hidden_texts();
  bool drawn_under_mouse(const Rect& beside) const;
  void keyboard(Hit&, const std::string& name, const HitOptions&);
  void explain(std::string_view name, std::string_view help, const Rect&, const Rect& beside);
  void await_help();
  void draw_tooltip();

  Fonts fonts_;
  FrameOptions options_;
  const Theme* theme_;
  float scale_ = 0;
  bool styled_dark_ = false;
  Vec size_{}, pan_{}, panned_{}, shown_{};  // shown_: pan_ of the last frame
  std::optional<ScreenPainter> paint_window_, paint_popup_, paint_top_, paint_layer_;
  ScreenPainter* paint_ = nullptr;
  Registry registry_, last_registry_;
  std::vector<TextRecord> texts_;
  std::string focus_, press_, shown_focus_;
  bool focus_visible_ = false;
  std::vector<std::string> order_;              // Tab order of the frame
  std::string arrow_owner_, last_arrow_owner_;  // focused control that takes the arrow keys
  std::string tooltip_, under_mouse_;
  Rect beside_{};  // not to be covered by the tooltip; empty: it stands at the mouse
  std::optional<Explanation> explained_;
  std::string last_explained_;
  double rests_since_ = 0;  // the mouse, on what was explained last
  Vec press_at_{};          // mouse position of the press on the held control
  Edit edit_;
  double press_value_ = 0;
  std::string popup_, popup_request_, inside_popup_;
  bool popup_seen_ = false, animating_ = false;
  std::vector<HeldArea> areas_;
  bool refused_ = false;
  std::string picked_;
  std::unordered_map<std::string, Easing> easings_;
};

/// Where a box of this size stands in the window: below `asked`, else above it, to its right or its left, and
/// never on it; at the mouse where nothing is asked about, or a place of a large surface.
Rect beside(const Rect& asked, Vec mouse, Vec size, Vec window);

// Reads a key chord written as text ("Ctrl+Shift+Z", "Space", "?"). Shortcuts, the shortcut sheet and
// the UI driver all use this notation.

struct Chord {
  int key = 0;             // an ImGuiKey, or 0 when it is only a character
  unsigned character = 0;  // for a text field; 0: nothing
  bool ctrl = false, shift = false, alt = false;
};

/// Throws Error for an unknown key name.
Chord parse_chord(std::string_view text);

/// Writes a chord as the keys are called in the window's language: "Ctrl Shift Z", "Strg Umschalt Z".
std::string shown_keys(std::string_view chord);

/// Calls ImGui::NewFrame for a user who is quicker than a frame: a modifier released after its key waits
/// for the next frame, or Ctrl+K would arrive as K. The window's loop and Frame call it. A window that shows only part
/// of the drawing passes where that part begins and how far it has just moved (Ui::pan, Ui::panned), because its mouse
/// is reported in window px.
void new_frame(Vec pan = {}, Vec panned = {});

}  // namespace normscope::ui
