#include "addons/classroom/app/shell/presentation.h"
#include "app/words/words.h"

#include <imgui.h>

namespace normscope::shell::classroom {
namespace {

using namespace ui;

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

}  // namespace

void switch_presentation(Presentation& presentation) {
  const bool begins = !presentation.on;
  presentation = {};
  presentation.on = begins;
}

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

}  // namespace normscope::shell::classroom
