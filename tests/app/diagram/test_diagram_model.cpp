// These tests cover the diagram without window and trainer: rows, alike layers, legal moves, what a drop does.

#include <fmt/format.h>

#include <algorithm>

#include "answers.h"
#include "app/diagram/diagram.h"
#include "app/view/diagram_model.h"
#include "engine/core/error.h"
#include "engine/model/model_config.h"

using namespace normscope;
using namespace normscope::view;

namespace {

StackWiring stack(Placement placement, int layers = 6) {
  StackContext context;
  context.layers = layers;
  return preset_stack(placement, NormKind::LayerNorm, context);
}

Slot slot_from(const std::string& name) {
  const auto at = std::ranges::find_if(kSlots, [&](Slot slot) { return to_string(slot) == name; });
  if (at == std::end(kSlots)) throw Error("there is no slot " + name);
  return *at;
}

/// A stack that the lines of tests/answers/diagram.txt change, and what is said of it.
struct DiagramScript {
  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name, sub, slot, to;
    int layer = 0;
    words >> verb;
    if (verb == "stack") {  // "stack post 6"
      int layers = 6;
      words >> name >> layers;
      wiring = stack(placement_from(name), layers);
      return placement_caption(wiring) +
             fmt::format("; {} norms, {} inside", count_norms(wiring), count_fixed_norms(wiring));
    }
    if (verb == "rows") {  // with a layer open
      int open = -1;
      words >> open;
      for (const DiagramRow& row : diagram_rows(wiring, open))
        name += fmt::format("{}-{}{} ", row.first, row.last, row.open ? " open" : "");
      return name;
    }
    words >> layer;
    if (verb == "alike") return fmt::format("{}", fmt::join(alike_layers(wiring, layer), " "));
    words >> sub >> slot >> to;
    const SlotId at{layer, sub == "ffn" ? Sub::FeedForward : Sub::Attention, slot_from(slot)};
    std::string word;
    const bool alone = words >> word && word == "alone", locked = word == "locked";
    const std::vector<SlotId> locks = locked ? std::vector<SlotId>{{kFinal}} : std::vector<SlotId>{};
    const Stack from{wiring, false, Side::Main, locks};
    if (verb == "try") return legal_move(from, at, slot_from(to)) ? "yes" : "no";
    const bool moves = verb == "move";
    const WiringChange change =
        moves ? move_norm(from, at, slot_from(to), alone) : set_norm(from, at, norm_from(to), alone);
    if (change.empty()) return change.wiring == wiring ? "nothing" : "another wiring";
    std::string text = fmt::format("{} ({}); {} from, {} to; {}", change.note, change.count(),
                                   change.from.size(), change.to.size(), placement_caption(change.wiring));
    if (moves) text += "; " + drop_text(change, slot_from(to), alone);
    wiring = change.wiring;
    for (const Placement known : {Placement::None, Placement::Post, Placement::Pre, Placement::Sandwich})
      if (same_wiring(wiring, stack(known), false)) text += fmt::format("\nas {}", to_string(known));
    return text + fmt::format("\n{}: {}; final {}", at.layer,
                              to_string(wiring.layers[static_cast<size_t>(layer)].*
                                        (at.sub == Sub::FeedForward ? &LayerWiring::feed_forward
                                                                    : &LayerWiring::attention)),
                              short_name(wiring.final));
  }
  StackWiring wiring;
};

}  // namespace

TEST_CASE("the diagram's stack changes as told", "[listing]") {
  DiagramScript dragged;
  test::check_answers("diagram", [&](const std::string& line) { return dragged.obey(line); });
}

TEST_CASE("every move that is legal can be undone by its reverse") {
  for (Placement placement : kPresets)
    for (Slot from : kSlots)
      for (Slot to : kSlots) {
        const StackWiring before = stack(placement);
        const SlotId at{1, Sub::Attention, from};
        // Mix-LN: once its norms stand alike its two kinds of layers are one, and go back as one.
        if (!legal_move(before, at, to) || alike_layers(before, 1).size() != before.layers.size()) continue;
        const WiringChange there = move_norm(before, at, to, false);
        const WiringChange back = move_norm(there.wiring, {1, Sub::Attention, to}, from, false);
        INFO(label(placement) << " " << to_string(from) << " to " << to_string(to));
        CHECK(back.wiring == before);
        CHECK(back.count() == there.count());
      }
}

TEST_CASE("the layout keeps rows apart and inside, at every height that fits") {
  const auto rows = diagram_rows(stack(Placement::Post), 1);
  for (bool compact : {false, true})
    for (float height : {370.f, 400.f, 520.f, 700.f}) {
      const ui::Rect area{14, 100, compact ? 302.f : 436.f, height};
      const diagram::DiagramLayout d = diagram::layout_diagram(area, rows, compact);
      INFO("compact " << compact << " height " << height);
      const diagram::StackLayout& stack_layout = d.stack_layouts.front();
      if (d.content_height <= height + 0.5f) CHECK(stack_layout.embedding.bottom() <= area.bottom() + 0.5f);
      float below = stack_layout.embedding.y;
      for (const diagram::RowLayout& row : stack_layout.rows) {
        CHECK(row.box.bottom() < below);
        below = row.box.y;
        CHECK(row.box.right() < stack_layout.size_head.x);
        if (!row.row.open) continue;
        for (const diagram::SublayerLayout& sub : row.subs) {
          CHECK(row.box.contains(sub.box));
          CHECK_FALSE(sub.before.overlaps(sub.box));
          CHECK_FALSE(sub.after.overlaps(sub.box));
          CHECK_FALSE(sub.before.overlaps(sub.stream));
        }
      }
      CHECK(stack_layout.output.bottom() < below);
    }
}

TEST_CASE("a deep, mixed stack asks to scroll instead of overlapping") {
  StackWiring mixed = stack(Placement::Post, 24);
  for (int layer = 0; layer < 24; layer += 2)
    mixed = set_norm(mixed, {layer, Sub::Attention, Slot::Before}, NormKind::LayerNorm, true).wiring;
  const auto rows = diagram_rows(mixed, 4);
  CHECK(rows.size() == 24);
  const diagram::DiagramLayout d = diagram::layout_diagram({0, 0, 436, 400}, rows, false);
  CHECK(d.content_height > 400);
}

TEST_CASE("a brush changes the layers that it was led over, a copy gives a layer the norms of another") {
  StackContext context;
  context.other_layers = 6;
  const StackWiring post = preset_stack(Placement::Post, NormKind::LayerNorm, context);
  const Stack decoder(post, true);
  const int layers[] = {1, 4};
  const WiringChange painted = paint_move(decoder, {1, Sub::Cross, Slot::Stream}, Slot::After, layers, false);
  CHECK(painted.count() == 6);
  const WiringChange one_kind = paint_move(decoder, {1, Sub::Cross, Slot::Stream}, Slot::After, layers, true);
  CHECK(one_kind.count() == 2);
  CHECK(norm_at(one_kind.wiring, {4, Sub::Cross, Slot::After}) == NormKind::LayerNorm);
  CHECK(norm_at(one_kind.wiring, {4, Sub::Attention, Slot::Stream}) == NormKind::LayerNorm);
  const WiringChange copied = copy_layer(Stack(painted.wiring, true), 1, 2);
  CHECK(same_layer(Stack(copied.wiring, true), 1, 2));
  CHECK(copied.note == "layer 3 as layer 2");
  const SlotId kept[] = {{2, Sub::Cross, Slot::Stream}};  // a lock keeps its norm
  const WiringChange locked = copy_layer(Stack(painted.wiring, true, Side::Main, kept), 1, 2);
  CHECK(norm_at(locked.wiring, kept[0]) == NormKind::LayerNorm);
  CHECK(locked.from.size() + 1 == copied.from.size());
  CHECK(layers_text({4, 2, 3}) == "layers 3 to 5");
  CHECK(layers_text({0, 5}) == "2 layers");
}
