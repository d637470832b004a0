#include "app/settings/backend_switch.h"
#include "app/words/words.h"

namespace normscope::settings {
namespace {

using namespace ui;

std::string help_of(const BackendSwitch& s) {
  std::string help =
      tr("Where the runs train. The same steps on an NVIDIA GPU, equal within rounding; runs move "
         "there with their weights.");
  if (!s.reason.empty()) help += " " + not_here(s.reason);
  if (!s.note.empty()) help += " " + s.note + ".";
  return help;
}

// Looks like segmented(). Where there is no CUDA, its half is grey and arrows move nothing.
void draw_segments(Ui& ui, const BackendSwitch& s, const Rect& box, std::optional<BackendChoice>& choice) {
  const Theme& t = ui.theme();
  Painter& p = ui.paint();
  const std::string help = help_of(s);
  HitOptions outer;
  outer.arrows = true;
  outer.overlap = true;
  outer.tooltip = false;
  outer.enabled = s.reason.empty();
  const Hit arrows = ui.hit("app/backend", box, s.now.cuda ? "CUDA" : "CPU", help, outer);
  p.fill(box, t.field, 6);
  p.outline(box, t.border, 1, 6);
  Rect rest = box.inset(2);
  const float half = rest.w / 2;
  bool wants_cuda = s.now.cuda;
  for (const bool cuda : {false, true}) {
    const Rect segment = rest.take_left(half);
    const bool on = cuda == s.now.cuda, possible = !cuda || s.reason.empty();
    HitOptions inner;
    inner.focusable = false;
    inner.enabled = possible;
    const Hit hit = ui.hit(cuda ? "app/backend/CUDA" : "app/backend/CPU", segment,
                           on         ? "on"
                           : possible ? ""
                                      : tr("not here"),
                           help, inner);
    if (hit.clicked && possible) wants_cuda = cuda;
    if (on)
      p.fill(segment, t.inverse, 5);
    else if (hit.hovered && possible)
      p.fill(segment, t.trough, 5);
    p.text_in(segment, {on ? Face::Bold : Face::Sans, type::body},
              on         ? t.on_inverse
              : possible ? t.ink2
                         : t.slot,
              cuda ? "CUDA" : "CPU", Align::Centre);
  }
  if (const int move = arrows.arrow_x - arrows.arrow_y; move != 0 && s.reason.empty()) wants_cuda = move > 0;
  if (wants_cuda != s.now.cuda) choice = BackendChoice{wants_cuda, false};
}

}  // namespace

std::string not_here(const std::string& reason) { return tr("Not here: {reason}.", {{"reason", reason}}); }

float draw_backend_switch(Ui& ui, const BackendSwitch& s, const Rect& room, float words,
                          std::optional<BackendChoice>& choice) {
  constexpr float h = 28, gap = 6;
  float x = room.right();
  const float y = room.y + (room.h - h) / 2;
  if (s.now.cuda) {
    x -= kTf32Width;
    ButtonOptions options;
    options.style = {Face::Sans, type::body};
    options.selected = s.now.tf32;
    if (button(ui, "app/tf32", {x, y, kTf32Width, h}, "TF32",
               tr("Matrix products with 10 bits of mantissa instead of 23: faster, and no longer the CPU's "
                  "numbers. Off at first."),
               options))
      choice = BackendChoice{true, !s.now.tf32};
    x -= gap;
  }
  x -= kBackendWidth;
  draw_segments(ui, s, {x, y, kBackendWidth, h}, choice);
  // The segment's help says why there is no CUDA; this line reports only a device that was lost while runs were on it.
  if (s.note.empty() || words < 40) return x;
  const Rect place{x - 10 - words, room.y, words, room.h};
  const TextStyle style{Face::Sans, type::body};
  // Half a reason says nothing, so a long one is left to the help.
  const std::string shown = ui.paint().text_width(style, s.note) <= words ? s.note : tr("on the CPU now");
  ui.paint().text_in(place, style, ui.theme().ink3, shown, Align::Right);
  ui.mark("app/backend/reason", place, s.note, help_of(s));
  return x - 10 - ui.paint().text_width(style, shown);
}

}  // namespace normscope::settings
