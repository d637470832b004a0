#include "app/view/wiring_glyph.h"

#include "app/view/chain.h"

namespace normscope::view {

using namespace ui;

namespace {

// Draws boxes on a line, without a way around them, and the norms between them.
void draw_chain_glyph(Ui& ui, Vec at, const ModelConfig& model, Colour line) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float y = at.y + 20;
  p.fill({at.x, y - 3, 70, 6}, line);
  const Vec head[] = {{at.x + 70, y - 6.5f}, {at.x + 79, y}, {at.x + 70, y + 6.5f}};
  p.polygon(head, line);
  for (const float x : {12.f, 52.f}) {
    const Rect box = centred({at.x + x, y}, 18, 18);
    p.fill(box, t.sunk, 3);
    p.outline(box, t.wire, 1.4f, 3);
  }
  if (chain_placement(model, model.stack()) == Placement::None) return;
  p.fill({at.x + 25, y - 4, 14, 8}, t.panel);
  p.accent_box(t, centred({at.x + 32, y}, 12, 17), 3.5f);
}

}  // namespace

void draw_wiring_glyph(Ui& ui, Vec at, const ModelConfig& model, Colour line, Side side) {
  if (!is_transformer(model.architecture)) return draw_chain_glyph(ui, at, model, line);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const GlyphSlots slots = glyph_slots(stacks_of(model).of(side));
  const float stream = at.y + 31;
  const float left = at.x + 8, right = at.x + 53, roof = at.y + 8;
  const Vec path[] = {{left, stream - 3}, {left, roof + 4},  {left + 4, roof},
                      {right - 4, roof},  {right, roof + 4}, {right, stream - 3}};
  p.polyline(path, t.wire, 1.6f);
  p.fill({at.x, stream - 3, 70, 6}, line);
  const Vec head[] = {{at.x + 70, stream - 6.5f}, {at.x + 79, stream}, {at.x + 70, stream + 6.5f}};
  p.polygon(head, line);
  const float shift = slots.after ? (slots.before ? 1.f : -6.f) : 9.f;
  const Rect box = centred({at.x + 30 + shift, roof}, 19, 14);
  p.fill(box, t.sunk, 3);
  p.outline(box, t.wire, 1.4f, 3);
  auto norm = [&](Vec centre) { p.accent_box(t, centred(centre, 12, 17), 3.5f); };
  if (slots.inside && !slots.before && !slots.after && !slots.stream) {  // not yellow: they cannot be moved
    const Rect inside = centred(box.centre(), 8, 8);
    p.fill(inside, t.panel, 2);
    p.outline(inside, t.ink2, 1.2f, 2);
  }
  if (slots.before) norm({left + 10 - (slots.after ? 4.f : 0.f), roof + 1});
  if (slots.after) norm({right - 5, roof + 1});
  if (slots.stream) {
    p.fill({at.x + 54, stream - 4, 17, 8}, t.panel);
    norm({at.x + 62.5f, stream});
  }
}

}  // namespace normscope::view
