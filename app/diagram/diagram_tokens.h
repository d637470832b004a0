// Draws the tokens of the architecture diagram in each of their states (rest, hover, drag, origin,
// legal slot, target, locked), large and small. SublayerPainter is built on it.
#pragma once

#include <string>
#include <vector>

#include "app/diagram/diagram.h"

namespace normscope::diagram {

inline constexpr ui::Dash kSlotDash{3, 2.5f};

struct TokenPainter {
  TokenPainter(ui::Ui&, const DiagramState&, const DiagramInput&, const view::Stacks&, view::Stack);

  ui::Ui& ui;
  ui::Painter &p, &top;
  const ui::Theme& t;
  const DiagramState& state;
  const DiagramInput& input;
  const view::Stacks& stacks;
  view::Stack stack;

  // They let the open layer lie deeper than the panel: lighter on white, darker in the dark theme.
  ui::Colour ground() const { return t.dark ? t.sunk : t.raised; }
  ui::Colour solid() const { return t.dark ? t.field : t.sunk; }

  bool ghost(view::SlotId at) const;   // a norm leaves this slot
  bool target(view::SlotId at) const;  // a norm arrives in this slot
  bool legal(view::SlotId at) const;   // the held norm may go there
  bool lit(view::SlotId at) const;     // hovered, or it would follow the hovered norm

  void token(const ui::Rect&, NormKind, bool halo);
  void locked_token(const ui::Rect&, NormKind);
  // Draws a norm of a collapsed row that cannot be moved.
  void small_fixed(const ui::Rect&);
  // Draws everything of a slot but the break of the residual stream.
  void slot(const ui::Rect&, view::SlotId at, ui::Colour behind);
  void small_slot(const ui::Rect&, view::SlotId at);
  // Draws the held norm.
  void held_token(const DiagramLayout&);
  // Leads keys and values from the encoder into the decoder's cross-attention.
  void memory_line(const DiagramLayout&);
};

// Puts norms and scales inside a function into words for small tokens: "q", "k", "v", "out", "×h", "+b".
std::vector<std::string> inner_words(const Wiring& wiring);
// Puts what the function of a layer, from 0, has beside norms: "rotary", "4:2 heads", "silu gate".
std::vector<std::string> ingredient_words(const ModelConfig& model, view::Sub sub, int layer);
// Puts them into words for a collapsed row, the longest first: the first that fits is used. It is empty
// where nothing stands inside.
std::vector<std::string> inner_brief(const Wiring& wiring);

}  // namespace normscope::diagram
