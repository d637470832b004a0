// The diagram's captions and its footer's phrases; the words of every kind of norm come from assets/words/norms.toml. See
// diagram_model.h.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/words/words.h"

namespace normscope::view {

GlyphSlots glyph_slots(const Stack& stack) {
  GlyphSlots all{true, true, true, count_fixed_norms(stack) > 0};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs()) {
      const Wiring& wiring = wiring_of(stack.wiring, layer, sub);
      all.before &= wiring.before != NormKind::None;
      all.after &= wiring.after != NormKind::None;
      all.stream &= wiring.stream != NormKind::None;
    }
  if (stack.layers() == 0) all = {};
  return all;
}

std::string placement_caption(const Stack& stack) {
  const GlyphSlots all = glyph_slots(stack);
  const int per_sublayer = all.before + all.after + all.stream;
  const int total = count_norms(stack);
  if (total == 0) return tr(count_fixed_norms(stack) > 0 ? "norms inside" : "no norm");
  if (total != per_sublayer * static_cast<int>(stack.subs().size()) * stack.layers())
    return tr("norms mixed");
  if (per_sublayer == 3) return tr("in every slot");
  if (per_sublayer == 2) return tr(all.stream ? "branch, stream" : "before, after");
  if (all.stream) return tr("norm on stream");
  return tr(all.before ? "norm in branch" : "after branch");
}

std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what) {
  const words::Place count{"count", only_this ? 1 : change.count()};
  switch (to) {
    case Slot::Before:
      return tr("this norm before its branch | all {count} norms{what} before their branch",
                {count, {"what", what}});
    case Slot::After:
      return tr("this norm after its branch | all {count} norms{what} after their branch",
                {count, {"what", what}});
    case Slot::Stream:
      break;
  }
  return tr("this norm onto the stream | all {count} norms{what} onto the stream", {count, {"what", what}});
}

std::string layers_text(std::vector<int> layers) {
  std::ranges::sort(layers);
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  if (layers.empty()) return tr("no layer");
  if (layers.size() == 1) return tr("layer {layer}", {{"layer", layers.front() + 1}});
  if (layers.back() - layers.front() + 1 == static_cast<int>(layers.size()))
    return tr("layers {first} to {last}", {{"first", layers.front() + 1}, {"last", layers.back() + 1}});
  return tr("{number} layers", {{"number", layers.size()}});
}

const KindWords& kind_words(NormKind kind) {
  static const std::vector<KindWords> all = [] {
    std::vector<KindWords> rows;
    for (const NormKind one : kNormKinds) {
      const auto of = [&](std::string_view what) -> std::string_view {
        const std::string* text = words::of_window().find(fmt::format("norms.{}.{}", short_name(one), what));
        return text ? std::string_view(*text) : std::string_view{};
      };
      rows.push_back({of("token"), of("name"), of("help"), of("group")});
    }
    return rows;
  }();
  return all[static_cast<size_t>(kind)];
}

std::string_view token_text(NormKind kind) {
  return kind_words(kind == NormKind::None ? NormKind::LayerNorm : kind).token;
}

namespace {

const std::string& slot_place(SlotId at) {
  if (at.layer == kFinal) return tr("after the last layer");
  if (at.layer == kEmbedding) return tr("on the embedding");
  switch (at.slot) {
    case Slot::Before:
      return tr("before the branch");
    case Slot::After:
      return tr("after the branch");
    case Slot::Stream:
      break;
  }
  return tr("on the stream");
}

}  // namespace

std::string slot_help(const Stack& stack, SlotId at) {
  const NormKind kind = norm_at(stack.wiring, at);
  const words::Place place{"place", slot_place(at)};
  const Term* const term = term_at(fmt::format("diagram/kind/{}", short_name(kind)));
  const std::string what = kind == NormKind::None || !term ? what_is("slot") : std::string(term->text);
  std::string how;
  if (stack.is_locked(at))
    how = tr("The norm {place} is locked: it stays when others move. L unlocks it.", {place});
  else if (at.layer == kFinal)
    how = tr(kind == NormKind::None
                 ? "No final norm. Enter puts one after the last layer, as Pre-LN has it."
                 : "The final norm, after the last layer. Enter takes it off, T chooses its kind, L locks "
                   "it.");
  else if (at.layer == kEmbedding)
    how = tr(kind == NormKind::None
                 ? "No norm on the embedding. Enter puts one there, as Peri-LN has it."
                 : "The norm on the embedding. Enter takes it off, T chooses its kind, L locks it.");
  else if (kind == NormKind::None)
    how =
        tr("Empty slot {place}. Enter fills it in all identical layers, Alt+Enter in this one; I, "
           "O, P: before, after, stream.",
           {place});
  else
    how =
        tr("The norm {place}: {kind}. Drag it along its branch: identical layers follow, Alt moves "
           "this one, Ctrl paints the layers that you pass, Shift starts run D from step 0. Keys: I "
           "before, O after, P stream, Enter off, T its kind, L lock, Ctrl+Up paints the layer "
           "above.",
           {place, {"kind", kind_words(kind).name}});
  return fmt::format("{}\n{}", what, how);
}

}  // namespace normscope::view
