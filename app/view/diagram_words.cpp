// The diagram's captions and its footer's phrases come from assets/words/diagram.toml, the words of every kind of norm
// from norms.toml. See diagram_model.h.
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
  if (total == 0)
    return words::say(count_fixed_norms(stack) > 0 ? "diagram.caption.inside" : "diagram.caption.none");
  if (total != per_sublayer * static_cast<int>(stack.subs().size()) * stack.layers())
    return words::say("diagram.caption.mixed");
  if (per_sublayer == 3) return words::say("diagram.caption.all");
  if (per_sublayer == 2)
    return words::say(all.stream ? "diagram.caption.branch_stream" : "diagram.caption.before_after");
  if (all.stream) return words::say("diagram.caption.stream");
  return words::say(all.before ? "diagram.caption.before" : "diagram.caption.after");
}

std::string drop_text(const WiringChange& change, Slot to, bool only_this, const std::string& what) {
  const words::Place count{"count", only_this ? 1 : change.count()};
  switch (to) {
    case Slot::Before:
      return words::say("diagram.drop.before", {count, {"what", what}});
    case Slot::After:
      return words::say("diagram.drop.after", {count, {"what", what}});
    case Slot::Stream:
      break;
  }
  return words::say("diagram.drop.stream", {count, {"what", what}});
}

std::string layers_text(std::vector<int> layers) {
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  if (layers.empty()) return words::say("diagram.layers.none");
  if (layers.size() == 1) return words::say("diagram.layers.one", {{"layer", layers.front() + 1}});
  if (layers.back() - layers.front() + 1 == static_cast<int>(layers.size()))
    return words::say("diagram.layers.range", {{"first", layers.front() + 1}, {"last", layers.back() + 1}});
  return words::say("diagram.layers.several", {{"number", layers.size()}});
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
  if (at.layer == kFinal) return words::say("diagram.place.final");
  if (at.layer == kEmbedding) return words::say("diagram.place.embedding");
  switch (at.slot) {
    case Slot::Before:
      return words::say("diagram.place.before");
    case Slot::After:
      return words::say("diagram.place.after");
    case Slot::Stream:
      break;
  }
  return words::say("diagram.place.stream");
}

}  // namespace

std::string slot_help(const Stack& stack, SlotId at) {
  const NormKind kind = norm_at(stack.wiring, at);
  const words::Place place{"place", slot_place(at)};
  const Term* const term = term_at(fmt::format("diagram/kind/{}", short_name(kind)));
  const std::string what = kind == NormKind::None || !term ? what_is("slot") : std::string(term->text);
  std::string how;
  if (stack.is_locked(at))
    how = words::say("diagram.help.locked", {place});
  else if (at.layer == kFinal)
    how = words::say(kind == NormKind::None ? "diagram.help.no_final" : "diagram.help.final");
  else if (at.layer == kEmbedding)
    how = words::say(kind == NormKind::None ? "diagram.help.no_embedding" : "diagram.help.embedding");
  else if (kind == NormKind::None)
    how = words::say("diagram.help.empty", {place});
  else
    how = words::say("diagram.help.norm", {place, {"kind", kind_words(kind).name}});
  return fmt::format("{}\n{}", what, how);
}

}  // namespace normscope::view
