// These tests hold the rates at which rotary positions turn to numbers of an independent implementation (transformers,
// in float32), and the table to its formula.
#include "addons/published/engine/rotary.h"
#include "engine/support/model_check.h"

namespace normscope::test {
namespace {

void check_rates(const RotaryConfig& config, const std::vector<double>& expected, double factor = 1) {
  const Init init = rotary_table(config, 16, 4096, false);
  REQUIRE(init.rates.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK(std::abs(init.rates[i] - expected[i]) <= 2e-7 * expected[i]);  // theirs are rounded to float twice
  }
  CHECK(std::abs(init.value - factor) <= 1e-7);
}

TEST_CASE("rotary: the rates of every scaling are the published ones") {
  // Each list differs from all others, so a scaling taken for another fails.
  check_rates({.scaling = RotaryScaling::Linear, .factor = 4},
              {0.25, 0.0790569415, 0.025, 0.00790569415, 0.0025, 0.000790569415, 0.00025, 7.90569415e-05});
  check_rates({.scaling = RotaryScaling::Llama3, .factor = 8, .trained = 512},
              {1, 0.316227764, 0.100000001, 0.0184966773, 0.00124999997, 0.000395284733, 0.000125000006,
               3.95284733e-05});
  check_rates(
      {.scaling = RotaryScaling::Yarn, .factor = 4, .trained = 512, .low = 1, .high = 32},
      {1, 0.25693506, 0.0625, 0.0138349654, 0.00249999994, 0.000790569466, 0.000250000012, 7.90569466e-05},
      1.138629436);
  check_rates(
      {.base = 500000, .scaling = RotaryScaling::Yarn, .factor = 16, .trained = 2048, .low = 2, .high = 16},
      {1, 0.193922758, 0.0258541442, 0.00273474911, 8.83883404e-05, 1.71405118e-05, 3.32393483e-06,
       6.44586578e-07},
      1.277258872);
}

TEST_CASE("rotary: YaRN's ramp goes on beyond the last pair, to the head's last number") {
  // By the published formula: with a base that small, its end lies at place 12 of 16, and there are 8 pairs.
  check_rates(
      {.base = 100, .scaling = RotaryScaling::Yarn, .factor = 4, .trained = 4096, .low = 1, .high = 32},
      {1, 0.562341325, 0.316227766, 0.177827941, 0.1, 0.0562341325, 0.028234622, 0.0139721954}, 1.138629436);
}

TEST_CASE("rotary: a share of a head turns, in pairs, and windows may have a base of their own") {
  CHECK(rotary_numbers({.share = 0.25f}, 16) == 4);
  CHECK(rotary_numbers({.share = 0.25f}, 14) == 2);  // 3.5 numbers are one pair
  CHECK(rotary_numbers({}, 15) == 14);
  const RotaryConfig config{.base = 100, .local_base = 10, .scaling = RotaryScaling::Linear, .factor = 2};
  CHECK(rotary_table(config, 4, 8, false).rates == std::vector<double>{0.5, 0.05});
  const std::vector<double> local = rotary_table(config, 4, 8, true).rates;  // which is not scaled
  CHECK(std::abs(local[1] - std::pow(10.0, -0.5)) <= 1e-15);
}

TEST_CASE("rotary: a row of the table has the cosines of a position's angles, then their sines") {
  const Init init{.kind = Init::Kind::Turns, .value = 2, .rates = {0.5, 0.25}};
  const std::vector<float> table = initial_values("rotary", {3, 4}, init, 1);
  const std::vector<double> expected{2 * std::cos(1.0), 2 * std::cos(0.5), 2 * std::sin(1.0),
                                     2 * std::sin(0.5)};
  for (size_t i = 0; i < 4; ++i) CHECK(table[8 + i] == static_cast<float>(expected[i]));
}

// Whole decoders with rotary positions against the double reference model, each way of turning beside learned
// positions.

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

TEST_CASE("rotary: every way of turning equals the double reference, and no learned position does") {
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

TEST_CASE("alibi: a decoder equals the double reference, with a window too") {
  using Change = void (*)(ModelConfig&);
  for (const Change change :
       {Change([](ModelConfig& c) { c.positions = Positions::Alibi; }), Change([](ModelConfig& c) {
          c.positions = Positions::Alibi;
          c.attention.window = 4;
        })})
    check_model({.placement = Placement::Pre, .optimizer = Optimizer::None, .change = change});
}

TEST_CASE("alibi: an encoder, and capped scores, are refused") {
  ModelConfig c = tiny_config({});
  c.positions = Positions::Alibi;
  CHECK_NOTHROW(validate(c));
  c.attention.cap = 2;
  CHECK(error_of([&] { validate(c); }).starts_with("[model.positions] alibi"));
  c.attention.cap = 0;
  c.architecture = Architecture::Encoder;
  set_placement(c, Placement::Pre);
  CHECK(error_of([&] { validate(c); }).starts_with("[model.positions] alibi"));
}

TEST_CASE("rotary: a wrong shape is refused in one line that names the node and both shapes") {
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

TEST_CASE("rotary: a share of less than a pair is refused") {
  ModelConfig c = tiny_config({});
  turn(c);
  c.of<RotaryConfig>().share = 0.1f;
  CHECK(error_of([&] { validate(c); }).starts_with("[model.rotary_share] "));
}

}  // namespace normscope::test
