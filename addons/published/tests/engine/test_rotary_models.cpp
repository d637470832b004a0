// These tests hold whole decoders with rotary positions against the double reference model, each way of turning beside
// learned positions.
#include "addons/published/engine/rotary.h"
#include "engine/support/helpers.h"
#include "engine/support/model_check.h"

namespace normscope::test {
namespace {

void turn(ModelConfig& c) { c.positions = Positions::Rotary; }

void add_turns(const ModelConfig& c, DecoderSpec& s) {
  const auto& turns = c.of<RotaryConfig>();
  s.rotary_base = static_cast<double>(turns.base);
  s.local_base = static_cast<double>(turns.local_base);
  s.rotary_share = static_cast<double>(turns.share);
  s.first_stays = turns.pattern == "nr";
  s.neighbours = turns.pairing == RotaryPairing::Neighbours;
}

/// One way of turning.
struct Way {
  const char* name;
  void (*change)(ModelConfig&);
};
const Way kWays[] = {{"all alike", turn},
                     {"a smaller base",
                      [](ModelConfig& c) {
                        turn(c);
                        c.of<RotaryConfig>().base = 100;
                      }},
                     {"neighbours",
                      [](ModelConfig& c) {
                        turn(c);
                        c.of<RotaryConfig>().pairing = RotaryPairing::Neighbours;
                      }},
                     {"a quarter",
                      [](ModelConfig& c) {
                        turn(c);
                        c.of<RotaryConfig>().share = 0.25f;
                      }},
                     {"in every other layer",
                      [](ModelConfig& c) {
                        turn(c);
                        c.of<RotaryConfig>().pattern = "nr";
                      }},
                     {"another base in windows", [](ModelConfig& c) {
                        turn(c);
                        c.attention.window = 4;
                        c.attention.pattern = "wf";
                        c.of<RotaryConfig>().local_base = 10;
                      }}};

}  // namespace

TEST_CASE("rotary: every way of turning equals the double reference, and no learned position does",
          "[model]") {
  const TinyOptions learned{.placement = Placement::Pre, .optimizer = Optimizer::None};
  for (const Way& way : kWays) {
    INFO(way.name);
    TinyOptions turned = learned;
    turned.change = way.change;
    check_model(turned, 0, add_turns);
    Tiny with(turned), without(learned);
    for (Tiny* tiny : {&with, &without}) {
      tiny->fill(1);
      tiny->program->replay(tiny->inputs(1));
    }
    CHECK(std::abs(with.program->loss() - without.program->loss()) > 1e-5 * without.program->loss());
  }
}

TEST_CASE("rotary: a wrong shape is refused in one line that names the node and both shapes", "[tape]") {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  Tape tape(store);
  const auto real = [&](const char* name, Shape shape) { return tape.input(name, shape, DType::F32); };
  const ValueId x = real("x", {2, 3, 8}), flat = real("flat", {2, 3}), turns = real("turns", {3, 4});
  store.declare("table", {9, 8}, {Init::Kind::Normal, 1.0});
  const auto refuses = [&](ValueId of, ValueId table, RotarySpec spec, std::vector<const char*> words) {
    for (const char* word : words)
      CHECK_THAT(error_of([&] { rotary(tape, "n", of, table, spec); }), Catch::Contains(word));
  };
  refuses(flat, turns, {}, {"[rotary n]", "(2,3)", "(B,T,D)"});
  refuses(x, turns, {.heads = 3}, {"8", "3 heads"});
  refuses(x, turns, {.heads = 4}, {"(3,4)", "heads of 2", "at most 2"});
  refuses(x, real("short", {2, 8}), {}, {"(2,8)", "3 positions"});
  refuses(x, tape.parameter("table"), {}, {"table is trained"});
  refuses(x, tape.input("tokens", {2, 3}, DType::I32), {}, {"(2,3)"});
}

TEST_CASE("rotary: a share of less than a pair is refused", "[model]") {
  ModelConfig c = tiny_config({});
  turn(c);
  c.of<RotaryConfig>().share = 0.1f;
  CHECK(error_of([&] { validate(c); }).starts_with("[model.rotary_share] "));
}

}  // namespace normscope::test
