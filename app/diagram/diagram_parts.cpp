// What the words and signs of the diagram mean, under the mouse: stream, branch, sum, functions, ends, slots.
#include <fmt/format.h>

#include "app/diagram/diagram.h"
#include "app/view/glossary.h"
#include "app/words/words.h"

namespace normscope::diagram {
namespace {

using namespace ui;

struct Parts {
  Ui& ui;
  const DiagramInput& input;
  const ModelConfig& model;
  const StackLayout& d;
  const Rect& clip;

  std::string where(const std::string& place = "") const {
    return "diagram/" + view::side_prefix(d.side) + (place.empty() ? "part" : place);
  }
  void tell(const std::string& place, const Rect& rect, const char* term) const {
    if (const Rect seen = rect.intersect(clip); !seen.empty()) view::tell_term(ui, where(place), seen, term);
  }

  void sublayer(int layer, const SublayerLayout& s) const {
    const std::string place = fmt::format("layer{}/{}", layer + 1, view::to_string(s.sub));
    const bool feeds = s.sub == view::Sub::FeedForward;
    const char* const function = feeds                       ? "feed-forward"
                                 : s.sub == view::Sub::Cross ? "cross-attention"
                                                             : "attention";
    const float left = d.stream_x + 16, top = s.plus.y - 6;
    tell(place, {left, top, s.return_x + 4 - left, s.box.bottom() + 14 - top}, "branch");
    tell(place, s.box, function);
    tell(place, centred(s.plus, 16, 16), "residual");
    if (d.narrow) return;
    tell(place + "/bars", {s.size_bar.x, s.bar.bottom() + 2, s.bar.right() - s.size_bar.x, 15}, function);
  }

  // They stand at the lowest sub-layer of the open layer.
  void slot_names(const RowLayout& row) const {
    const SublayerLayout& s = row.subs.front();
    const float below = s.box.bottom() + 1;
    for (const auto& [name, rect] : {std::pair{"before", Rect{s.before.x - 4, below, s.before.w + 8, 12}},
                                     {"after", Rect{s.after.x - 4, below, s.after.w + 8, 12}},
                                     {"stream", Rect{s.stream.right() + 4, s.stream.y, 84, s.stream.h}}})
      tell(fmt::format("part/{}", name), rect, "slot");
  }

  void ends() const {
    const bool placed = model.positions == Positions::Learned || model.positions == Positions::Sinusoidal;
    ui.tell(where("part/embedding"), d.embedding.intersect(clip), "",
            view::what_is("embedding") + (placed ? " " + view::what_is("positions") : ""));
    const float beside = d.final_slot.right() + 6, end = d.narrow ? d.right : d.size_head.x;
    if (const Rect seen = Rect{beside, d.final_slot.y, end - beside, d.final_slot.h}.intersect(clip);
        !seen.empty())
      ui.tell(where("final/name"), seen, "",
              view::slot_help(view::stacks_of(model).of(d.side),
                              {view::kFinal, view::Sub::Attention, Slot::Stream, d.side}));
    if (!d.output.empty())
      ui.tell(where("part/output"), d.output.intersect(clip), "",
              tr("The last matrix turns every state into a score for each {unit}: the higher it is, the "
                 "likelier the model takes that one to be.",
                 {{"unit", words::spoken(input.view.unit)}}));
    if (!d.size_head.empty()) {
      ui.tell(where("size"), d.size_head, "",
              tr("How large the numbers on the residual stream are where each branch joins it: their "
                 "variance, on a logarithmic scale from 0.01 to 100."));
      ui.tell(where("gradient"), d.gradient_head, "",
              tr("How large the loss's gradient is on its way down: ‖∂L/∂W‖ at each layer or sub-layer, "
                 "on a logarithmic scale from a millionth to 3."));
    }
  }
};

}  // namespace

void explain_parts(Ui& ui, const DiagramInput& input, const ModelConfig& model,
                   const StackLayout& stack_layout, const Rect& clip) {
  const Parts parts{ui, input, model, stack_layout, clip};
  const float x = stack_layout.stream_x, top = stack_layout.stream_top;
  parts.tell("part", {x - 6, top, 12, stack_layout.stream_bottom - top}, "stream");
  parts.ends();
  for (const RowLayout& row : stack_layout.rows) {
    for (const SublayerLayout& s : row.subs) parts.sublayer(row.row.first, s);
    if (!row.subs.empty() && !stack_layout.narrow) parts.slot_names(row);
  }
}

}  // namespace normscope::diagram
