// These tests use the diagram by hand: every norm to every slot that it may go to, by mouse and by keyboard, in one
// stack and in two; painting, locking, the kinds of a norm, undo.
#include "app/support/both_view.h"
#include "app/support/lab_fixture.h"
#include "engine/model/residual.h"
#include "skip.h"

using namespace normscope;
using namespace normscope::view;
using namespace session;
using fixture::LabDriver;

namespace {

const ForkRequest& fork_of(const LabDriver& lab) {
  REQUIRE(lab.last<ForkRequest>());
  return *lab.last<ForkRequest>();
}

// The diagram as if nobody had touched it, on a run, with one layer of a stack open.
void fresh(LabDriver& lab, char run, Side side, int open) {
  diagram::DiagramState& state = lab.state.screens.lab.diagram();
  state = {};
  state.selected = run;
  state.open(side) = open;
  state.shown = side;
  lab.log.clear();
  lab.driver.move_to({4, 4});
  lab.driver.frames(2);
}

struct Move {
  SlotId from;
  Slot to;
};

// Pairs every norm of a stack with every slot that it may go to.
std::vector<Move> legal_moves(const Stack& stack) {
  std::vector<Move> moves;
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (Sub sub : stack.subs())
      for (Slot from : kSlots)
        for (Slot to : kSlots)
          if (const SlotId at{layer, sub, from, stack.side}; legal_move(stack, at, to))
            moves.push_back({at, to});
  return moves;
}

std::string name(SlotId at, Slot slot) {
  at.slot = slot;
  return "diagram/" + slot_name(at);
}

void check_all(LabDriver& lab, char run, Side side, const std::function<void(const Move&)>& hand,
               bool alone) {
  const ModelConfig& model =
      lab.state.session.view->runs[static_cast<size_t>(find_run(*lab.state.session.view, run))].spec->model;
  const Stacks stacks = stacks_of(model);
  const std::vector<Move> moves = legal_moves(stacks.of(side));
  CHECK(moves.size() == 2 * stacks.of(side).subs().size() * static_cast<size_t>(stacks.of(side).layers()));
  for (const Move& move : moves) {
    fresh(lab, run, side, move.from.layer);
    INFO(run << " " << slot_name(move.from) << " to " << to_string(move.to));
    hand(move);
    ModelConfig after = fork_of(lab).spec.model;
    const WiringChange expected = move_norm(stacks.of(side), move.from, move.to, alone);
    CHECK(same_wiring(stack_of(after, side), expected.wiring, stacks.of(side).cross));
    CHECK(fork_of(lab).note == expected.note);
    if (stacks.both) {
      const Side other = side == Side::Main ? Side::Encoder : Side::Main;
      CHECK(same_wiring(stack_of(after, other), stacks.wiring(other), other == Side::Main));
    }
  }
}

void by_mouse(LabDriver& lab, const Move& m, const char* modifiers) {
  lab.driver.drag(name(m.from, m.from.slot), name(m.from, m.to), modifiers);
}

void by_key(LabDriver& lab, const Move& m, const std::string& modifiers) {
  lab.ui.focus(name(m.from, m.from.slot));
  lab.driver.frames(2);
  lab.driver.key(modifiers + (m.to == Slot::Before ? "I" : m.to == Slot::After ? "O" : "P"));
}

}  // namespace

TEST_CASE("every norm goes to every slot that it may go to, by mouse and by keyboard") {
  LabDriver lab(fixture::lab_view());
  for (char run : {'A', 'C'}) {
    check_all(
        lab, run, Side::Main, [&](const Move& m) { by_mouse(lab, m, ""); }, false);
    check_all(
        lab, run, Side::Main, [&](const Move& m) { by_mouse(lab, m, "Alt"); }, true);
    check_all(
        lab, run, Side::Main, [&](const Move& m) { by_key(lab, m, ""); }, false);
    check_all(
        lab, run, Side::Main, [&](const Move& m) { by_key(lab, m, "Alt+"); }, true);
  }
}

TEST_CASE("the same in both stacks of an encoder-decoder, the other one untouched") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LabDriver lab(fixture::both_view(), size);
    for (Side side : {Side::Encoder, Side::Main}) {
      check_all(
          lab, 'A', side, [&](const Move& m) { by_mouse(lab, m, ""); }, false);
      check_all(
          lab, 'B', side, [&](const Move& m) { by_key(lab, m, "Alt+"); }, true);
    }
  }
}

TEST_CASE("while a norm hovers over a target, every slot that will change says so") {
  LabDriver lab(fixture::lab_view());
  fresh(lab, 'A', Side::Main, 1);
  lab.driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before\nframes 2");
  const diagram::DiagramState& state = lab.state.screens.lab.diagram();
  REQUIRE(state.preview);
  CHECK(state.preview->from.size() == 12);
  CHECK(state.preview->to.size() == 12);
  lab.driver.script("drop");
}

TEST_CASE("the brush changes the layers that it passes and no others, by mouse and by keyboard") {
  LabDriver mouse(fixture::lab_view()), keys(fixture::lab_view());
  fresh(mouse, 'A', Side::Main, 1);
  const ui::Vec first = mouse.driver.control("diagram/layer1/attn/before").rect.centre();
  const ui::Vec second = mouse.driver.control("diagram/layer2/attn/before").rect.centre();
  const ui::Rect group = mouse.driver.control("diagram/layers3-6").rect;
  mouse.driver.move_to("diagram/layer1/attn/stream");
  mouse.driver.hold("Ctrl", true);
  mouse.driver.press();
  mouse.driver.move_to({first.x - 3, first.y});
  mouse.driver.move_to(first);
  mouse.driver.move_to(second);
  mouse.driver.move_to({group.x, group.bottom() - 3});  // the lowest of the four: layer 3
  mouse.driver.frames(2);
  CHECK(mouse.driver.value("diagram/footer").find("Paint: layers 1 to 3, 6 norms moved.") == 0);
  mouse.driver.release();
  mouse.driver.hold("Ctrl", false);
  mouse.driver.frames(1);

  fresh(keys, 'A', Side::Main, 0);
  keys.ui.focus("diagram/layer1/attn/stream");
  keys.driver.frames(2);
  keys.driver.key("Ctrl+I");
  CHECK(fork_of(keys).note == "2 norms moved");
  keys.driver.frames(2);
  CHECK(keys.ui.focused() == "diagram/layer1/attn/before");
  for (int layer : {2, 3}) {
    keys.key("Ctrl+Up");
    CHECK(keys.ui.focused() == fmt::format("diagram/layer{}/attn/before", layer));
  }
  CHECK(fork_of(keys).note == "layer 3 as layer 2");
  CHECK(fork_of(mouse).spec.model.stack() == fork_of(keys).spec.model.stack());
  const StackWiring& wiring = fork_of(mouse).spec.model.stack();
  for (int layer = 0; layer < 6; ++layer)
    for (Sub sub : subs_of(false))
      CHECK((norm_at(wiring, {layer, sub, Slot::Before}) != NormKind::None) == (layer < 3));
  mouse.driver.key("Ctrl+Z");
  CHECK(mouse.last<Undo>());
}

TEST_CASE("the list of kinds has every kind of the engine, with a line of its own") {
  LabDriver lab(fixture::lab_view());
  for (NormKind kind : kNormKinds) {
    fresh(lab, 'A', Side::Main, 1);
    lab.click("diagram/layer2/attn/stream", {0.5f, 0.5f}, 1);
    const std::string row = fmt::format("diagram/kind/{}", kind == NormKind::None ? "off" : short_name(kind));
    INFO(row);
    CHECK(lab.driver.control(row).help.size() > 12);
    lab.click(row);
    if (kind == NormKind::LayerNorm) {
      CHECK_FALSE(lab.last<ForkRequest>());  // it is one already
      continue;
    }
    CHECK(norm_at(fork_of(lab).spec.model.stack(), {4, Sub::FeedForward, Slot::Stream}) == kind);
    for (NormKind other : kNormKinds)
      if (other != kind) CHECK(std::string(kind_words(other).name) != kind_words(kind).name);
  }
}

TEST_CASE("a layer is clicked away and back: the loss with and without it, and the run as it was") {
  fixture::LiveDriver lab;
  lab.train(3);
  const double before = lab.view().runs[0].loss;
  lab.click("diagram/layer1/skip");
  CHECK(lab.driver.value("diagram/layer1/skip") == "out");
  const std::string words = lab.driver.value("diagram/footer");
  CHECK(words.find("Without layer 1: loss ") == 0);
  CHECK(test::contains(words, " instead of "));
  CHECK(test::contains(words, ", at step 3."));
  lab.click("diagram/layer2/attn/skip");
  CHECK(lab.driver.value("diagram/footer").find("Without layer 1 and attention of layer 2: loss ") == 0);
  lab.driver.click("diagram/layer1/skip");
  lab.click("diagram/layer2/attn/skip");
  CHECK(lab.driver.value("diagram/footer").find("Drag a norm") == 0);
  CHECK(lab.view().runs[0].step == 3);
  CHECK(lab.view().runs[0].loss == before);
  CHECK(lab.view().runs[0].edits.empty());

  lab.ui.focus("diagram/layer2/ffn/stream");
  lab.driver.frames(2);
  lab.key("X");
  CHECK(lab.driver.value("diagram/layer2/skip") == "out");
  lab.key("Alt+X");
  CHECK(lab.driver.value("diagram/layer2/ffn/skip") == "out");
}

TEST_CASE("attention's menu changes how far it mixes from here on, and how W_O starts from the start") {
  LabDriver lab(fixture::lab_view());
  fresh(lab, 'A', Side::Main, 1);
  const auto choose = [&](const std::string& segment) {
    fresh(lab, 'A', Side::Main, 1);
    lab.driver.click("diagram/layer2/attn/mixing");
    lab.driver.click("diagram/attention/" + segment);
    return fork_of(lab);
  };
  const ForkRequest alone = choose("mixing/to itself");
  CHECK(alone.spec.model.attention.mixing == 0);
  CHECK(alone.spec.model.attention.start == 1);
  CHECK_FALSE(alone.from_start);
  CHECK(alone.note == "each to itself");
  CHECK(choose("mixing/0.25").spec.model.attention.mixing == 0.25f);
  const ForkRequest small = choose("start/0.1");
  CHECK(small.spec.model.attention.start == 0.1f);
  CHECK(small.spec.model.attention.mixing == 1);
  CHECK(small.from_start);
}

TEST_CASE("the embedding is dragged to a layer, which then reads it, where a form of the wiring has that") {
  if (words_reading_start() == 0) SKIP_CASE("no add-on of this program has such a form");
  LabDriver lab(fixture::lab_view());
  fresh(lab, 'A', Side::Main, 5);
  const auto readers = [](const ModelConfig& model) {
    std::vector<int> layers;
    for (int layer = 0; layer < 6; ++layer)
      if (diagram::reads_embedding(model.stack(), layer)) layers.push_back(layer + 1);
    return layers;
  };
  lab.driver.drag("diagram/arrow", "diagram/layer6/attn/mixing", "");
  const ModelConfig after = fork_of(lab).spec.model;
  CHECK(readers(after) == std::vector{6});
  CHECK(fork_of(lab).note == "layer 6 reads the embedding too");
  fresh(lab, 'A', Side::Main, 5);
  lab.driver.drag("diagram/arrow", "diagram/preset/Post", "");
  CHECK_FALSE(lab.last<ForkRequest>());
  lab.driver.script("grab diagram/arrow diagram/layer6/attn/mixing\nframes 2");
  CHECK(lab.driver.value("diagram/footer") == "Embedding: layer 6 reads the embedding too");
  lab.driver.script("key Escape\ndrop");
  CHECK_FALSE(lab.last<ForkRequest>());
  lab.driver.click("diagram/arrow");  // the same without a drag: for the top layer
  CHECK(readers(fork_of(lab).spec.model) == std::vector{6});
  fresh(lab, 'A', Side::Main, 5);
  lab.driver.click("diagram/layer6/attn/mixing");  // and for any
  lab.driver.click("diagram/attention/reads");
  CHECK(same_wiring(fork_of(lab).spec.model.stack(), after.stack()));
  CHECK(readers(fork_of(lab).spec.model) == std::vector{6});
}
