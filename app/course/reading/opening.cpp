#include "app/course/reading/opening.h"

#include <fmt/format.h>

namespace normscope::course {
namespace {

using view::Side;
using view::SlotId;

constexpr size_t kMostPictures = 2;  // that fit beside each other

/// Searches layer by layer, from the bottom up.
std::optional<OpeningPlace> place_in(const view::Stack& stack, std::string_view name) {
  for (const int end : {view::kFinal, view::kEmbedding})
    if (const SlotId at{end, view::Sub::Attention, Slot::Stream, stack.side}; view::slot_name(at) == name)
      return OpeningPlace{at};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (const view::Sub sub : stack.subs()) {
      for (const Slot slot : view::kSlots)
        if (const SlotId at{layer, sub, slot, stack.side}; view::slot_name(at) == name)
          return OpeningPlace{at};
      const std::string scale = fmt::format("{}layer{}/{}/skip-scale", view::side_prefix(stack.side),
                                            layer + 1, view::to_string(sub));
      const bool scaled =
          view::wiring_of(stack.wiring, layer, sub).skip.kind != Scale::Kind::One && scale == name;
      if (scaled) return OpeningPlace{{layer, sub, Slot::Stream, stack.side}, true};
    }
  return {};
}

}  // namespace

std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name) {
  if (!is_transformer(model.architecture)) return {};
  const view::Stacks stacks = view::stacks_of(model);
  if (const auto place = place_in(stacks.of(Side::Main), name)) return place;
  return stacks.both ? place_in(stacks.of(Side::Encoder), name) : std::nullopt;
}

std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t) {
  std::vector<OpeningRun> opening;
  size_t room = kMostPictures;
  for (Table& one : t.tables("opening")) {
    OpeningRun picture{one.text("run"), one.text("slot")};
    one.done();
    if (!lesson.has_letter(picture.run))
      one.refuse("run", fmt::format("'{}' is not in this lesson: expected a run with a letter", picture.run));
    const ModelConfig& model = lesson.run(picture.run)->spec.model;
    if (!opening_place(model, picture.slot))
      one.refuse("slot", fmt::format("'{}' is no place of its diagram: expected one as layer1/ffn/trunk, "
                                     "before or after, final, embedding, or of a scaled skip path "
                                     "layer1/ffn/skip-scale",
                                     picture.slot));
    const size_t wide = has_both(model) ? kMostPictures : 1;
    if (wide > room)
      one.refuse("run", "has no room: expected two runs at most, or one with an encoder and a decoder");
    room -= wide;
    opening.push_back(std::move(picture));
  }
  return opening;
}

}  // namespace normscope::course
