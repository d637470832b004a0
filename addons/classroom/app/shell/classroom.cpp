#include "addons/classroom/app/shell/classroom.h"

#include "training/io/codec.h"
#include <imgui.h>
#include "app/words/words.h"
#include "training/io/input_value.h"

namespace normscope::shell::classroom {

namespace {

using namespace ui;

constexpr float kLarger = 1.25f;  // times the chosen size, as far as the window allows
constexpr float kHalo = 20, kHaloWidth = 4, kGrown = 46;  // logical px
constexpr double kGrows = 0.4, kHint = 2;                 // seconds

// Yellow with the outline that every yellow shape has.
void draw_ring(Ui& ui, Vec at, float radius, float opacity) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint_top();
  p.ring(at, radius, t.accent.alpha(opacity), kHaloWidth);
  for (const float edge : {-kHaloWidth / 2, kHaloWidth / 2})
    p.ring(at, radius + edge, t.accent_outline.alpha(opacity), line::outline);
}

void draw_halo(Ui& ui, Presentation& presentation) {
  if (!ImGui::IsMousePosValid()) return;
  const Vec at = ui.mouse();
  draw_ring(ui, at, kHalo, 1);
  ui.mark("presentation/halo", centred(at, 2 * kHalo, 2 * kHalo), "", tr("Where the mouse is."));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ui.reduced_motion()) {
    presentation.click = at;
    presentation.clicked = ui.time();
  }
}

void draw_click(Ui& ui, Presentation& presentation) {
  if (!presentation.clicked) return;
  const auto share = static_cast<float>((ui.time() - *presentation.clicked) / kGrows);
  if (share >= 1 || ui.reduced_motion()) return presentation.clicked.reset();
  ui.animate();
  const float radius = kHalo + share * (kGrown - kHalo);
  draw_ring(ui, presentation.click, radius, 1 - share);
  ui.mark("presentation/click", centred(presentation.click, 2 * radius, 2 * radius), "",
          tr("Where the mouse was pressed."));
}

void draw_hint(Ui& ui, double shown_for) {
  if (shown_for >= kHint) return;
  ui.animate();
  Painter& p = ui.paint_top();
  const TextStyle style{Face::Sans, type::title};
  const float width = p.text_width(style, tr("Esc ends the presentation")) + 32;
  const Rect pill{(ui.size().x - width) / 2, 16, width, 30};
  ui.mark("presentation/hint", pill, tr("Esc ends the presentation"), tr("How the presentation ends."));
  p.fill(pill, ui.theme().inverse, pill.h / 2);
  p.text_in(pill, style, ui.theme().on_inverse, tr("Esc ends the presentation"), Align::Centre);
}

void switch_presentation(Presentation& presentation) {
  const bool begins = !presentation.on;
  presentation = {};
  presentation.on = begins;
}

/// Escape ends the mode, unless something else is open, typed or held.
void presentation_keys(Ui& ui, Presentation& presentation) {
  if (!presentation.on || ui.popup_open() || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  if (ui.shortcut("Escape")) presentation = {};
}

void draw_presentation(Ui& ui, Presentation& presentation) {
  if (!presentation.on) return;
  if (!presentation.since) presentation.since = ui.time();
  draw_halo(ui, presentation);
  draw_click(ui, presentation);
  draw_hint(ui, ui.time() - *presentation.since);
}

}  // namespace
}  // namespace normscope::shell::classroom

namespace normscope::shell {

std::unique_ptr<WindowPart> make_classroom() { return std::make_unique<classroom::Classroom>(); }

namespace classroom {

// ---- a teacher's rules and code as a row of the session's table [window]

namespace {

constexpr std::string_view kHoldWords[] = {"shown", "locked", "hidden"};  // as enum Hold

/// Accepts exactly `digits` hexadecimal digits, or none.
struct HexDigits {
  size_t digits;
  codec::Json write(const std::string& text) const { return text; }
  void read(const InputValue& json, std::string& text) const {
    text = json.text(digits);
    const bool hex = text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!text.empty() && (!hex || text.size() != digits))
      json.refuse(std::to_string(digits) + " hexadecimal digits");
  }
};

struct HoldRules {
  static constexpr codec::Map kRules{ui::kMostRules, codec::Words{kHoldWords}};
  codec::Json write(const ui::ControlPolicy& policy) const { return kRules.write(policy.rules()); }
  void read(const InputValue& json, ui::ControlPolicy& policy) const {
    std::map<std::string, ui::Hold> rules;
    kRules.read(json, rules);
    for (const auto& [name, hold] : rules) policy.set(name, hold);
  }
};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, KeptTeaching>& kept) {
  io("lesson", kept.lesson);
  io("salt", kept.code.salt, HexDigits{32});
  io("hash", kept.code.hash, HexDigits{64});
  io.require(!kept.lesson || !kept.code.hash.empty(), "hash", "the hash of a code, or no lesson");
  io("controls", kept.policy, HoldRules{});
}

void Classroom::begin(ui::FrameOptions& options) const {
  if (presentation.on) options.scale *= kLarger;
  set_rules(options, teaching);
}

void Classroom::keys(ui::Ui& ui) {
  if (!closed_by_key(ui, teaching)) presentation_keys(ui, presentation);
}

bool Classroom::run(view::Act act, ui::Ui& ui) {
  if (act == view::Act::Present)
    switch_presentation(presentation);
  else if (act == view::Act::Teacher)
    enter(ui, teaching);
  else
    return false;
  return true;
}

float Classroom::draw_in_bar(ui::Ui& ui, const ui::Rect& room) { return draw_lesson_bar(ui, room, teaching); }

void Classroom::draw(ui::Ui& ui, ShownSession& session, Screen shown, Message& notice) {
  draw_teacher(ui, teaching, session, shown, notice);
  draw_presentation(ui, presentation);
}

std::string Classroom::kept() const {
  return teaching.kept.empty() ? "" : codec::text_of(codec::write(teaching.kept));
}

void Classroom::restore(const InputValue* kept) {
  take_in(teaching, kept ? codec::read<KeptTeaching>(*kept) : KeptTeaching{});
}

}  // namespace classroom

}  // namespace normscope::shell
