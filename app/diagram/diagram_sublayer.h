// Draws the parts of one sub-layer in the architecture diagram: branch, function, scales,
// micro-bars. diagram_picture.cpp uses it; diagram_chain.cpp uses the bar of a gradient too.
#pragma once

#include <string>
#include <vector>

#include "app/diagram/diagram_tokens.h"
#include "engine/model/residual.h"

namespace normscope::diagram {

// Draws on a log scale, a millionth to 3, in the colour of the layer (from 0). `lit`: the layer
// is under the mouse elsewhere.
void paint_gradient_bar(ui::Ui&, const ui::Rect&, float value, int layer, int layers, bool lit);

// Reads its numbers from `run`.
struct SublayerPainter : TokenPainter {
  SublayerPainter(const TokenPainter& tokens, const StackLayout& stack_layout, const RunView& view)
      : TokenPainter(tokens), d(stack_layout), run(view), compact(tokens.input.compact) {}

  const StackLayout& d;
  const RunView& run;
  bool compact;

  int layers() const { return stack.layers(); }
  const Wiring& wiring(int layer, view::Sub sub) const { return view::wiring_of(stack.wiring, layer, sub); }

  // Leaves the stream at from_y; for a parallel sub-layer, where the layer begins.
  void branch(const SublayerLayout&, int layer, float from_y);
  // Draws the function with the norms that stand inside it, which cannot be moved.
  void function_box(const SublayerLayout&, int layer);
  void plus(ui::Vec centre);
  // Whether norms may stand on the residual stream: not on several.
  bool takes_norms() const { return stream_layout(stack.wiring).one(); }
  bool is_empty_slot(view::SlotId on_stream) const {
    return takes_norms() && view::norm_at(stack.wiring, on_stream) == NormKind::None;
  }
  // Draws the residual stream, or several of them (diagram_streams.cpp).
  void streams(ui::Colour ink);
  // Draws ResiDual's sum of all branches, which is never normalised on the way; after one norm it
  // joins.
  void second_stream();
  // Leads from a memory of the segment before, right of the layers, into the attention of each layer.
  void memory_ways();
  // Draws a box below or above the layers: its name, and what it holds where there is room.
  void end_box(const ui::Rect&, const std::string& title, const std::string& what);
  std::string memory_words() const;  // as many words as its box has room for
  // Draws the skip scale on the residual stream. The branch's scale, LayerNorm Scaling's factor and
  // DeepNorm's init gain stand beside the branch.
  void scales(const SublayerLayout&, int layer);
  void size_bar(const ui::Rect&, int layer,
                view::Sub sub);  // variance of the residual stream, log, 0.01 to 100
  void gradient_bar(const ui::Rect&, int layer,
                    view::Sub sub);  // norm of the gradient, log, a millionth to 3

 private:
  // The sizes of the weights that the streams are read with behind a sub-layer; empty where they are
  // not known. Of more streams than `count` they belong to the input and to the newest.
  std::vector<float> read_weights(int layer, view::Sub sub, int count, int all) const;
  void lines(float from, float to, const std::vector<float>& weights, int count, ui::Colour ink);
  float branch_width(view::Sub sub, int layer) const;
  void add_ingredients(std::vector<std::string>& inside, view::Sub sub, int layer, float width) const;
  void pill(const ui::Rect&, const std::string& text);
};

}  // namespace normscope::diagram
