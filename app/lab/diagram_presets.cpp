// The row of presets above the diagram: a segment a method where all have room, the rest in a list; for an
// encoder-decoder with the choice of the stack that they change. See diagram.h.
#include <fmt/format.h>

#include <algorithm>

#include "app/lab/diagram.h"
#include "app/ui/widgets.h"

namespace normscope::lab {
namespace {

using namespace ui;

constexpr const char* kHelp =
    "Puts the norms of all layers where this method has them, the final norm too, and forks run D from "
    "there.";
constexpr const char* kStackHelp = "Which stack of the encoder-decoder a preset changes.";
constexpr int kCustom = -1;

std::string preset_label(Placement placement) { return row_of(placement).short_label; }

StackContext context_for(const ModelConfig& model, Side side) {
  return context_of(model, side == Side::main && model.architecture != Architecture::Encoder);
}

// Index of the preset that these stacks are, or kCustom.
int preset_of(const ModelConfig& model, const Stacks& stacks, int which) {
  const auto placement = [&](Side side) {
    return placement_of(stacks.wiring(side), context_for(model, side));
  };
  Placement now = placement(which == 1 ? Side::encoder : Side::main);
  if (stacks.both && which == 0 && placement(Side::encoder) != now) now = Placement::Custom;
  const auto at = std::find(std::begin(kPresets), std::end(kPresets), now);
  return at == std::end(kPresets) ? kCustom : static_cast<int>(at - std::begin(kPresets));
}

// A list of presets from the `first` on; one that is not among them shows as `other`.
bool preset_list(Ui& ui, const char* name, const Rect& rect, size_t first, const char* other, int& selected) {
  std::vector<std::string> labels;
  for (size_t i = first; i < std::size(kPresets); ++i) labels.push_back(preset_label(kPresets[i]));
  int at = selected - static_cast<int>(first);
  if (at < 0) at = static_cast<int>(labels.size()), labels.push_back(other);
  if (!choice(ui, name, rect, labels, at, kHelp) || at + first >= std::size(kPresets)) return false;
  selected = at + static_cast<int>(first);
  return true;
}

// Whether segments with these labels have room: ten of the usual 22 px around a label suffice.
bool has_room(Ui& ui, const std::vector<std::string>& labels, float width) {
  return segmented_width(ui, labels) - 12 * static_cast<float>(labels.size()) <= width;
}

// Segments for as many as have room, a list for the others.
bool preset_row(Ui& ui, Rect rect, int& selected) {
  std::vector<std::string> labels;
  for (Placement placement : kPresets) labels.push_back(preset_label(placement));
  const bool all = has_room(ui, labels, rect.w);
  constexpr int kUsual =
      7;  // those that nobody has to look for; a rarer one shows its name where it is chosen
  const Rect more = all ? Rect{} : rect.take_right(selected < kUsual ? 62.f : 112.f, 6);
  while (labels.size() > 2 && !has_room(ui, labels, rect.w)) labels.pop_back();
  const size_t shown = labels.size();
  int at = selected < static_cast<int>(shown) ? selected : kCustom;
  if (segmented(ui, "diagram/preset", rect, labels, at, kHelp)) return selected = at, true;
  return !all &&
         preset_list(ui, "diagram/preset-more", more, shown, selected < 0 ? "Custom" : "more", selected);
}

}  // namespace

void draw_presets(Ui& ui, DiagramState& state, const DiagramInput& input, const Rect& rect, bool as_list,
                  std::vector<Command>& commands) {
  const int run = shown_run(state, input.view);
  if (run < 0) return;
  const ModelConfig& model = input.view.runs[static_cast<size_t>(run)].spec->model;
  const Stacks stacks = shown_stacks(state, input.view, run);
  Rect row = rect;
  int which = 0;
  if (stacks.both && !as_list) {  // a list alone has no room for it: it changes both
    const std::vector<std::string> both{"both stacks", "encoder", "decoder"};
    choice(ui, "diagram/stack", row.take_left(104.f, 6), both, state.preset_stack, kStackHelp);
    which = state.preset_stack;
  }
  int selected = preset_of(model, stacks, which);
  const int now = selected;
  const bool list = as_list || (stacks.both && row.w < 380);
  if (list) row.w = std::min(row.w, as_list ? 110.f : 150.f);
  const bool changed =
      list ? preset_list(ui, "diagram/preset", row, 0, "Custom", selected) : preset_row(ui, row, selected);
  if (!changed || selected < 0 || selected == now) return;
  const Placement chosen = kPresets[selected];
  ModelConfig next = model;
  if (which == 0) {
    set_placement(next, chosen);
  } else {
    const Side side = which == 1 ? Side::encoder : Side::main;
    stack_of(next, side) = preset_stack(chosen, model.norm, context_for(model, side));
  }
  WiringChange change{next.stack()};
  change.note = fmt::format("{} in {}", label(chosen),
                            which == 0   ? "all layers"
                            : which == 1 ? "the encoder"
                                         : "the decoder");
  commit_change(state, input, &next, change, ui.shift(), ui.time(), commands);
}

}  // namespace normscope::lab
