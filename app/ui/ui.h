// Ui: the thin layer between the screens and Dear ImGui. One object lives as long as its ImGui context; each frame
// is
//   ui.begin_frame({...}); draw(ui); ui.end_frame();      (between ImGui::NewFrame and ImGui::Render)
// All coordinates are logical px; (0,0) is the window's upper left corner. Everything is drawn into one
// full-window ImGui window, widgets take an explicit rectangle: screens own the layout. Widgets are in
// app/ui/widgets.h and stand on Ui::hit(), which any screen may use for controls of its own (norm tokens,
// timeline, plot handles).
//
// Keyboard: own focus ring, not ImGui's navigation (which would take Space and the arrows from the transport). Tab
// and Shift+Tab walk the enabled controls in drawing order, Enter activates, arrows go to the focused control when
// that asked for them, Escape leaves. The ring is drawn only after the keyboard was used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/ui/fonts.h"
#include "app/ui/geometry.h"
#include "app/ui/paint.h"
#include "app/ui/policy/control_policy.h"
#include "app/ui/registry.h"
#include "app/ui/theme.h"

namespace normscope::ui {

struct FrameOptions {
  bool dark = false;
  float scale = 1;  // asked; the effective one is Ui::scale()
  float least_scale =
      0;  // never drawn smaller: a window without the room shows a part, which follows the hand
  bool reduced_motion = false;
  bool record_text = false;               // keep a TextRecord of every text (tests)
  const ControlPolicy* policy = nullptr;  // what is locked or hidden; read until the next frame
  bool pointing = false;  // controls do nothing: a click or Enter names them, see Ui::take_picked
};

struct HitOptions {
  bool enabled = true;
  bool arrows = false;     // this control wants the arrow keys while it has the focus
  bool focusable = true;   // part of the Tab order
  bool overlap = false;    // later controls may lie on top of this one (a surface under tokens)
  bool draw_focus = true;  // draw the focus ring around the rectangle
  bool tooltip = true;     // show the help after 0.35 s of hover
  float radius = 6;        // of the focus ring
};

// What the hand did to one control this frame.
struct Hit {
  bool hovered = false, held = false, focused = false;
  bool pressed = false;         // left button went down on it this frame
  bool clicked = false;         // released over it, or Enter while focused
  bool by_key = false;          // clicked by Enter
  bool double_clicked = false;  // second press on it
  bool right_clicked = false;
  bool dragging = false;         // held and moved by more than 3 px since the press
  bool released = false;         // was held until now (end of a drag or a click)
  Vec drag{};                    // from the press to the mouse, while held or released
  int arrow_x = 0, arrow_y = 0;  // arrow key this frame (+1 right, +1 up); Shift multiplies by 10
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
  Vec size() const { return size_; }  // of all that is drawn, logical px: the window's, or more than it shows
  // Where the window begins in what is drawn, and how far it was moved at the end of the last frame; px.
  Vec pan() const { return pan_; }
  Vec panned() const { return panned_; }
  bool reduced_motion() const { return options_.reduced_motion; }
  const Fonts& fonts() const { return fonts_; }
  double time() const;  // seconds of UI time (fixed steps in the window-less loop)
  Vec mouse() const;    // logical px
  bool shift() const;
  bool alt() const;
  bool ctrl() const;

  Painter& paint() { return *paint_; }          // the current layer: window, or the open popup
  ScreenPainter paint_unrecorded() const { return paint_->unrecorded(); }  // its texts are none of the screen's
  Painter& paint_top() { return *paint_top_; }  // dragged tokens, halos: above everything but tooltips

  // The primitive under every widget: hit test, focus, registry entry, tooltip.
  Hit hit(std::string_view name, const Rect&, std::string_view value, std::string_view help,
          const HitOptions& = {});
  // A named region without interaction (a plot, a panel, a number worth spotlighting).
  void mark(std::string_view name, const Rect&, std::string_view value, std::string_view help);

  // The interactive control that the mouse is over in this frame; the topmost, empty over none.
  const std::string& under_mouse() const { return under_mouse_; }

  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }
  const std::vector<TextRecord>& texts() const { return texts_; }

  // What the policy of this frame says about a control. A key that stands for one asks before it acts.
  Hold hold_of(std::string_view control) const;
  bool held(std::string_view control) const { return hold_of(control) != Hold::Shown; }
  // A hand or a key wanted a held control since this was asked last.
  bool take_refused() { return std::exchange(refused_, false); }
  // While pointing: the control that was clicked since this was asked last, or empty.
  std::string take_picked() { return std::exchange(picked_, {}); }
  bool pointing() const { return options_.pointing; }

  // Focus by name (empty = none). `focus` does not show the ring until the keyboard is used.
  const std::string& focused() const { return focus_; }
  void focus(std::string_view name);
  bool focus_visible() const { return focus_visible_; }
  // As Enter on it does, when it is drawn next, whether Tab comes to it or not.
  void press(std::string_view name) { press_ = name; }
  // True while a text field takes the keys: global shortcuts (Space, letters) must then stay quiet.
  bool typing() const;
  // Global shortcut: pressed this frame, not while typing; chord as text: "Space", "Ctrl+K", "Right",
  // "Shift+Right", "?". Arrow keys that the focused control asked for are not reported here, nor are those that
  // stand for a `control` that is held.
  bool shortcut(std::string_view chord, std::string_view control = {});

  // Popups: open by name, draw while begin_popup is true (then always end_popup). Closed by Escape or a click
  // outside.
  void open_popup(std::string_view name);
  void close_popup();
  bool popup_open(std::string_view name) const;
  bool popup_open() const { return !popup_.empty() || !popup_request_.empty(); }  // any
  bool begin_popup(std::string_view name, const Rect&);
  void end_popup();

  // What lies above the screens and leaves the rest of the window to the hand: a window of its own, then always
  // end_layer. Popups are opened outside of it.
  void begin_layer(std::string_view name, const Rect&);
  void end_layer();

  // Smooth change of a 0..1 value by name: ease-out over `ms`; jumps under reduced motion. Returns the present
  // value.
  float ease(std::string_view key, float target, float ms);

  // True while something moves by itself or waits for its delay (easing, tooltip): draw the next frame soon.
  bool animating() const { return animating_; }
  // Somebody moves something by the clock: draw the next frame soon.
  void animate() { animating_ = true; }

  // Tooltip at the mouse this frame (inverse colours), wrapped to 280 px.
  void tooltip(std::string_view text);

  // Field editing state (used by widgets.h): which control is being typed into.
  struct Edit {
    std::string name, buffer;
    bool fresh = false;   // opened this frame: select all, take the keyboard
    bool tab = false;     // Tab belongs to who draws the field (it completes a path), and does not commit
    bool reload = false;  // the buffer was changed from outside: show it, with the caret at its end
    bool secret = false;  // a dot is drawn for each character
  };
  Edit& edit() { return edit_; }
  double& press_value() { return press_value_; }  // value of the held field when it was pressed

 private:
  // A value on its way, by ease().
  struct Easing {
    float from = 0, to = 0;
    double start = 0;
  };
  // A control's place this frame, for what is drawn in it (policy/held_drawing.cpp).
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
  void hover(const std::string& name, std::string_view help, const Hit&);
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
  std::vector<std::string> order_;                // Tab order of the frame
  std::string arrow_owner_, last_arrow_owner_;    // focused control that takes the arrow keys
  std::string hovered_, last_hovered_, tooltip_;  // control under the mouse, for the help's delay
  std::string under_mouse_;
  double hovered_since_ = 0;
  Vec press_at_{};  // mouse position of the press on the held control
  Edit edit_;
  double press_value_ = 0;
  std::string popup_, popup_request_, inside_popup_;
  bool popup_seen_ = false, animating_ = false;
  std::vector<HeldArea> areas_;
  bool refused_ = false;
  std::string picked_;
  std::unordered_map<std::string, Easing> easings_;
};

}  // namespace normscope::ui
