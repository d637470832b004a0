// These tests cover the diagram without window and trainer: rows, alike layers, legal moves, what a drop does.

#include "app/diagram/diagram_layout.h"
#include "app/view/diagram_model.h"
#include "catch.hpp"
#include "engine/model/model_config.h"

using namespace normscope;
using namespace normscope::view;

namespace {

StackWiring stack(Placement placement, int layers = 6) {
  StackContext context;
  context.layers = layers;
  return preset_stack(placement, NormKind::LayerNorm, context);
}

}  // namespace

TEST_CASE("equal neighbours of the open layer collapse into one row") {
  const auto rows = diagram_rows(stack(Placement::Post), 1);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == DiagramRow{0, 0, false});
  CHECK(rows[1] == DiagramRow{1, 1, true});
  CHECK(rows[2] == DiagramRow{2, 5, false});
  CHECK(diagram_rows(stack(Placement::Post), -1).size() == 1);
  CHECK(diagram_rows(stack(Placement::Post), 5).size() == 2);
}

TEST_CASE("an edited layer stands alone") {
  StackWiring mixed =
      move_norm(stack(Placement::Post), {3, Sub::Attention, Slot::Stream}, Slot::Before, true).wiring;
  const auto rows = diagram_rows(mixed, -1);
  REQUIRE(rows.size() == 3);
  CHECK(rows[1] == DiagramRow{3, 3, false});
  CHECK(alike_layers(mixed, 3) == std::vector<int>{3});
  CHECK(alike_layers(mixed, 0) == std::vector<int>{0, 1, 2, 4, 5});
}

TEST_CASE("a move takes all norms of all identical layers along") {
  const StackWiring post = stack(Placement::Post);
  const WiringChange change = move_norm(post, {1, Sub::Attention, Slot::Stream}, Slot::Before, false);
  CHECK(change.count() == 12);
  CHECK(change.note == "12 norms moved, final norm added");
  CHECK(change.from.size() == 12);
  CHECK(count_norms(change.wiring) == 12);
  const StackWiring pre = stack(Placement::Pre);
  CHECK(same_wiring(change.wiring, pre, false));
  CHECK(drop_text(change, Slot::Before, false) == "all 12 norms before their branch");
}

TEST_CASE("the final norm comes where no norm is left on the stream, and goes where norms come back") {
  const StackWiring post = stack(Placement::Post), pre = stack(Placement::Pre);
  const SlotId on{1, Sub::Attention, Slot::Stream}, before{1, Sub::Attention, Slot::Before};
  CHECK(move_norm(post, on, Slot::Before, true).wiring.final == NormKind::None);  // eleven are left
  const WiringChange back = move_norm(pre, before, Slot::Stream, false);
  CHECK(back.note == "12 norms moved, final norm removed");
  CHECK(same_wiring(back.wiring, post, false));
  const std::vector<SlotId> locked{{kFinal}};
  CHECK(move_norm({post, false, Side::Main, locked}, on, Slot::Before, false).wiring.final == NormKind::None);
}

TEST_CASE("alone means alone") {
  const WiringChange change =
      move_norm(stack(Placement::Post), {1, Sub::Attention, Slot::Stream}, Slot::After, true);
  CHECK(change.count() == 1);
  CHECK(change.note == "1 norm moved");
  REQUIRE(change.to.size() == 1);
  CHECK(change.to[0] == SlotId{1, Sub::Attention, Slot::After});
  CHECK(placement_caption(change.wiring) == "norms mixed");
}

TEST_CASE("illegal moves change nothing") {
  const StackWiring sandwich = stack(Placement::Sandwich);
  CHECK_FALSE(legal_move(sandwich, {0, Sub::Attention, Slot::Before}, Slot::After));   // taken
  CHECK_FALSE(legal_move(sandwich, {0, Sub::Attention, Slot::Stream}, Slot::Before));  // nothing to move
  CHECK_FALSE(legal_move(sandwich, {0, Sub::Attention, Slot::Before}, Slot::Before));
  CHECK_FALSE(legal_move(sandwich, {9, Sub::Attention, Slot::Before}, Slot::Stream));
  CHECK(legal_move(sandwich, {0, Sub::Attention, Slot::Before}, Slot::Stream));
  const WiringChange change = move_norm(sandwich, {0, Sub::Attention, Slot::Before}, Slot::After, false);
  CHECK(change.empty());
  CHECK(change.wiring == sandwich);
}

TEST_CASE("filling, emptying and changing the kind of a slot follow the alike ones") {
  const StackWiring post = stack(Placement::Post);
  const SlotId after{2, Sub::FeedForward, Slot::After};
  const WiringChange filled = set_norm(post, after, NormKind::LayerNorm, false);
  CHECK(filled.note == "12 norms added");
  CHECK(count_norms(filled.wiring) == 24);
  CHECK(set_norm(filled.wiring, after, NormKind::None, false).wiring == post);
  CHECK(set_norm(filled.wiring, after, NormKind::None, false).note == "12 norms removed");
  const WiringChange rms = set_norm(post, {2, Sub::FeedForward, Slot::Stream}, NormKind::Rms, true);
  CHECK(rms.note == "1 norm changed");
  CHECK(norm_at(rms.wiring, {2, Sub::FeedForward, Slot::Stream}) == NormKind::Rms);
  CHECK(set_norm(post, after, NormKind::None, false).empty());
}

TEST_CASE("captions name where the norms are") {
  CHECK(placement_caption(stack(Placement::Post)) == "norm on stream");
  CHECK(placement_caption(stack(Placement::Pre)) == "norm in branch");
  CHECK(placement_caption(stack(Placement::Sandwich)) == "before, after");
  CHECK(placement_caption(stack(Placement::None)) == "no norm");
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

TEST_CASE("a factor of the place makes no layer another kind, and norms inside a function are named") {
  const StackWiring scaled = stack(Placement::LayerNormScaling);
  CHECK(alike_layers(scaled, 0).size() == 6);
  CHECK(diagram_rows(scaled, -1).size() == 1);
  CHECK(move_norm(scaled, {2, Sub::Attention, Slot::Before}, Slot::Stream, false).count() == 12);
  const StackWiring hybrid = stack(Placement::HybridNorm);
  CHECK(count_norms(hybrid) == 0);
  CHECK(count_fixed_norms(hybrid) == 6 * 4);  // q, k, v, and where the feed-forward begins
  CHECK(placement_caption(hybrid) == "norms inside");
  CHECK(diagram_rows(stack(Placement::Mix, 8), -1).size() == 2);
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
