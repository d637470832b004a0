// The parts of one sub-layer in the architecture diagram: branch, function, scales, micro-bars. Used by
// diagram_picture.cpp; the bar of a gradient by diagram_chain.cpp too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/diagram/diagram_tokens.h"

namespace normscope::lab {

// Log, a millionth to 3, in the colour of the layer (from 0); `lit`: it is under the hand elsewhere.
void paint_gradient_bar(ui::Ui&, const ui::Rect&, float value, int layer, int layers, bool lit);

// `run` gives the numbers.
struct SublayerPainter : TokenPainter {
  SublayerPainter(const TokenPainter& tokens, const StackLayout& stack_layout, const RunView& view)
      : TokenPainter(tokens), d(stack_layout), run(view), compact(tokens.input.compact) {}

  const StackLayout& d;
  const RunView& run;
  bool compact;

  int layers() const { return stack.layers(); }
  const Wiring& wiring(int layer, Sub sub) const { return wiring_of(stack.wiring, layer, sub); }

  void branch(const SublayerLayout&, int layer);
  // The function, with the norms that stand inside it: they cannot be moved.
  void function_box(const SublayerLayout&, int layer);
  void plus(ui::Vec centre);
  // ResiDual: what every branch adds up to, never normalised on the way; one norm, then it joins.
  void second_stream();
  // From a memory of the segment before, right of the layers, into the attention of each.
  void memory_ways();
  // A box below or above the layers: its name, and what it holds where that has room.
  void end_box(const ui::Rect&, const char* key, const std::string& what);
  std::string memory_words() const;  // as many as have room in its box
  // Skip scale on the residual stream; scale of the branch, LayerNorm Scaling's factor and DeepNorm's init gain
  // beside it.
  void scales(const SublayerLayout&, int layer);
  void size_bar(const ui::Rect&, int layer, Sub sub);  // variance of the residual stream, log, 0.01 to 100
  void gradient_bar(const ui::Rect&, int layer, Sub sub);  // norm, log, a millionth to 3

 private:
  float branch_width(Sub sub, int layer) const;
  void add_memory(std::vector<std::string>& inside, float width) const;
  void pill(const ui::Rect&, const std::string& text);
};

}  // namespace normscope::lab
