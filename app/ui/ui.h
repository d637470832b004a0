// The thin layer between the screens and Dear ImGui. One object lives as long as its ImGui context; each frame is
//   ui.begin_frame({...}); draw(ui); ui.end_frame();      (between ImGui::NewFrame and ImGui::Render)
// All coordinates are logical px; (0,0) is the window's upper left corner. Everything is drawn into one full-window
// ImGui window, and widgets take an explicit rectangle: screens own the layout. The widgets (app/ui/widgets.h) are
// built on Ui::hit(), which any screen may use for controls of its own (norm tokens, timeline, plot handles).
//
// Ui has a focus ring of its own, because ImGui's navigation would take Space and the arrows from the transport. Tab
// and Shift+Tab walk the enabled controls in drawing order, F6 and Shift+F6 go from region to region, Enter activates,
// Escape leaves. A group is one stop of Tab: the arrows, Home and End walk it, but for the arrows that the focused
// control asked for, as a number does. The ring is drawn, and a group takes keys, only after the keyboard was used.
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

/// Whether a control works: FrameOptions::policy decides it by the control's name, for teachers and lessons. Ui applies
/// it in the hit test and in the drawing, so no control's code depends on it.
enum class Hold : uint8_t {
  Shown,   // works normally
  Locked,  // drawn pale and does not react; its tooltip is Ui::locked_help()
  Hidden,  // not drawn; out of the registry and the Tab order
};

/// The arrow keys that a control takes while it has the focus; the others walk its group.
enum class Arrows : uint8_t {
  None,
  Across,
  Up,
  Both,
  Either,  // all four change one value; in a group those across alone, so that those up and down walk it
};

struct Control {
  std::string name;   // path-like and stable: "transport/play", "diagram/layer3/ffn/stream"
  Rect rect;          // logical px
  std::string value;  // state as text: "6", "on", "Post"; empty where there is none
  std::string help;   // one or two sentences, shown as tooltip
  bool enabled = true;
  bool interactive = true;        // false: a named region that takes no clicks (plots, panels)
  std::string region{}, group{};  // that it stands in; empty: none
  Arrows arrows = Arrows::None;
  bool focusable = false;  // Tab, or the keys of its group, come to it
  bool selected = false;   // the one that is shown or chosen: where Tab enters the group
};

/// The named controls of a frame: every widget records its stable name, rectangle, value and help. Tests click by name,
/// lessons spotlight by name, a test requires a help for every name, and a text dump lists the screen.
class Registry {
 public:
  void clear();
  /// Records a control. A name recorded twice in one frame is an error of the screen, which a test finds by
  /// duplicates().
  void add(Control);
  const Control* find(std::string_view name) const;
  std::span<const Control> all() const { return controls_; }
  Control& last() { return controls_.back(); }
  std::span<const std::string> duplicates() const { return duplicates_; }
  /// One line per control in drawing order: "name = value", or "name" without a value; "(disabled)" at the end.
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
      0;  // lower limit of the scale: a window too small for it shows a part of the drawing, which follows the mouse
  bool reduced_motion = false;
  bool record_text = false;  // keep a TextRecord of every text (tests)
  // Which controls are locked or hidden in this frame; empty: none. nullopt: no rule for this control.
  std::function<std::optional<Hold>(std::string_view control)> policy{};
  const std::string& (*locked)() = nullptr;  // why a locked control does not answer
  // Whether a click or Enter picks the control for Ui::take_picked() instead of activating it; empty: for none.
  std::function<bool(std::string_view control)> pointing{};
};

struct HitOptions {
  bool enabled = true;
  Arrows arrows = Arrows::None;
  bool focusable = true;   // part of the Tab order
  bool selected = false;   // Control::selected
  bool overlap = false;    // later controls may lie on top of this one (a surface under tokens)
  bool draw_focus = true;  // draw the focus ring around the rectangle
  bool tooltip = true;     // show the help once the mouse has rested on it
  float radius = 6;        // of the focus ring
  Rect beside{};           // rectangle that the tooltip must not cover; empty: the control's
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
  Vec size() const { return size_; }  // logical px of the whole drawing, which may be larger than the window
  /// The upper left corner of the window in the drawing; `panned`: its move at the end of the last frame; device px.
  Vec pan() const { return pan_; }
  Vec panned() const { return panned_; }
  bool reduced_motion() const { return options_.reduced_motion; }
  const Fonts& fonts() const { return fonts_; }
  double time() const;  // seconds of UI time (fixed steps without a window)
  Vec pointer() const;  // of the mouse, in logical px
  /// The same for what is being drawn: nowhere for a screen where a popup or a layer lies above it, unless the screen
  /// itself was pressed there before.
  Vec mouse() const;
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
  /// Returns false where the region is hidden.
  bool mark(std::string_view name, const Rect&, std::string_view value, std::string_view help);
  /// A mark that shows its help as a tooltip, as a control does.
  void tell(std::string_view name, const Rect&, std::string_view value, std::string_view help);

  /// What is drawn from here on, to the next call, is one region of the screen. F6 goes to the control of a region that
  /// had the focus last, else to `entry`, a control or a group, else to its first.
  void begin_region(std::string_view name, std::string_view entry = {}) {
    region_ = name;
    if (!entry.empty()) entries_[region_] = entry;
  }
  /// What is drawn while it lives is one group of its region, which Tab enters where it was left, else at its selected
  /// control, else at its first. Arrows walk it in reading order. "": what takes all arrows stands in no group.
  class Group {
   public:
    Group(Ui& ui, std::string_view name) : Group(ui, name, ui.region_) {}
    Group(Ui& ui, std::string_view name, std::string_view region)
        : ui_(ui),
          region_(std::exchange(ui.region_, std::string(region))),
          group_(std::exchange(ui.group_, std::string(name))) {}
    ~Group() {
      ui_.region_ = std::move(region_);
      ui_.group_ = std::move(group_);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    Ui& ui_;
    std::string region_, group_;  // around it
  };

  /// The topmost interactive control under the mouse in this frame; empty: none.
  const std::string& under_mouse() const { return under_mouse_; }

  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }
  const std::vector<TextRecord>& texts() const { return texts_; }

  /// The tooltip of controls that this frame's policy locks: why they do not react.
  const std::string& locked_help() const;
  /// This frame's policy for a control. Code for a key checks the control that the key acts for.
  Hold hold_of(std::string_view control) const;
  bool held(std::string_view control) const { return hold_of(control) != Hold::Shown; }
  /// Whether, since the last call, the user has tried to use a locked or hidden control by mouse or key.
  bool take_refused() { return std::exchange(refused_, false); }
  /// The control that was picked since the last call (FrameOptions::pointing), or "".
  std::string take_picked() { return std::exchange(picked_, {}); }
  bool pointing() const { return options_.pointing != nullptr; }

  const std::string& focused() const { return focus_; }
  /// Moves the focus to a control (empty: none). The focus ring is not shown until the keyboard is used.
  void focus(std::string_view name);
  bool focus_visible() const { return focus_visible_; }
  /// Activates the control, as Enter does, when it is drawn next, even if Tab does not reach it. `alone`: as with Alt, so
  /// that what is like it does not follow.
  void press(std::string_view name, bool alone = false) {
    press_ = name;
    press_alone_ = alone;
  }
  /// True while a text field takes the keys: global shortcuts (Space, letters) must not act then.
  bool typing() const;
  /// Whether a global shortcut was pressed in this frame; always false while typing. Chords are text: "Space",
  /// "Ctrl+K", "Right", "Shift+Right", "?". Keys that the focused control or its group takes do not count, nor does a
  /// chord whose `control` is locked or hidden.
  bool shortcut(std::string_view chord, std::string_view control = {});

  /// Popups are opened by name and drawn while begin_popup is true, which end_popup must then follow. Escape or a click
  /// outside closes them.
  void open_popup(std::string_view name);
  void close_popup();
  bool popup_open(std::string_view name) const;
  bool popup_open() const { return !popup_.empty() || !popup_request_.empty(); }  // any popup
  bool begin_popup(std::string_view name, const Rect&);
  void end_popup();

  /// Begins a layer above the screens, such as a dialog; the controls outside its rectangle keep working. end_layer()
  /// must follow. Popups are opened outside of a layer.
  void begin_layer(std::string_view name, const Rect&);
  void end_layer();

  /// Animates the value `key` towards `target` with ease-out over `ms`, at once under reduced motion. Returns the
  /// present value.
  float ease(std::string_view key, float target, float ms);

  /// True while something moves by itself or waits for a delay (easing, tooltip): draw the next frame soon.
  bool animating() const { return animating_; }
  /// Requests the next frame soon, for a drawing that moves with the clock.
  void animate() { animating_ = true; }

  /// Shows a text at the mouse in this frame, in inverse colours, wrapped to 280 px: values read off a plot. The help
  /// of a control, in contrast, appears next to the control, once the mouse rests.
  void tooltip(std::string_view text);

  /// Says beside a control why it did not take what was typed, until the next key or press of a button.
  void object(std::string_view control, std::string why) {
    objection_ = {std::string(control), std::move(why)};
  }

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
  /// The state of a value that ease() animates.
  struct Easing {
    float from = 0, to = 0;
    double start = 0;
  };
  /// The smallest region with a help under the mouse in this frame.
  struct Explanation {
    std::string name, help;
    Rect rect, beside;
  };
  /// The rectangle of a control in this frame and its policy, by which draw_held() fades the drawing inside.
  struct HeldArea {
    ImDrawList* list;
    Rect rect, clip;
    Hold hold;
  };
  const Control* focused_stop() const;
  std::vector<const Control*> members_of(const Control&) const;
  const std::string& entry_of(const Control&) const;
  void move_focus();
  const std::string& next_stop() const;
  const std::string& next_region() const;
  void walk_group();
  void leave(const Control&);
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
  void show_objection();
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
  bool focus_visible_ = false, press_alone_ = false;
  std::vector<size_t> order_;  // what can have the focus in this frame, as places in the registry
  std::string region_, group_, outer_group_;  // outer_group_: around the popup
  std::unordered_map<std::string, std::string> left_,
      entries_;                                 // by region or group: the control left; to begin at
  bool group_took_keys_ = false;                // in this frame
  std::string arrow_owner_, last_arrow_owner_;  // focused control that takes the arrow keys
  std::string tooltip_, under_mouse_;
  std::vector<Rect> above_;  // popups and layers of this frame
  bool covered_ = false;     // by one of the last frame's, at the mouse
  Rect beside_{};            // rectangle that the tooltip must not cover; empty: the tooltip is at the mouse
  std::optional<Explanation> explained_;
  std::string last_explained_;
  double rests_since_ = 0;  // time since which the mouse rests on last_explained_
  Vec press_at_{};          // mouse position of the press on the held control
  Edit edit_;
  std::pair<std::string, std::string> objection_;  // of a control: why
  double press_value_ = 0;
  std::string popup_, popup_request_, inside_popup_;
  bool popup_seen_ = false, animating_ = false;
  std::vector<HeldArea> areas_;
  bool refused_ = false;
  std::string picked_;
  std::unordered_map<std::string, Easing> easings_;
};

/// The rectangle for a tooltip of this size: below `asked`, else above it, right or left of it, so that it covers
/// `asked` only as a last resort; next to the mouse where `asked` is empty or a large surface.
Rect beside(const Rect& asked, Vec mouse, Vec size, Vec window);

// Key chords as text ("Ctrl+Shift+Z", "Space", "?"), a notation that shortcuts, their sheet and the UI driver share.

struct Chord {
  int key = 0;             // an ImGuiKey, or 0 when it is only a character
  unsigned character = 0;  // typed into a text field; 0: none
  bool ctrl = false, shift = false, alt = false;
};

/// Throws Error for an unknown key name.
Chord parse_chord(std::string_view text);

/// A chord with the names of keys in the window's language: "Ctrl Shift Z", "Strg Umschalt Z".
std::string shown_keys(std::string_view chord);

/// Calls ImGui::NewFrame, but keeps all input from the first modifier event after a key press for the next frame:
/// otherwise Ctrl+K, pressed and released within one frame, would arrive as K. The window's loop and headless::Frame
/// call it. A window that shows a part of the drawing passes Ui::pan() and Ui::panned(): its mouse is in window px.
void new_frame(Vec pan = {}, Vec panned = {});

}  // namespace normscope::ui
