// These tests cover recording: shapes, names, and errors that say in one line where, what and what was expected. The
// Store: names, initial values, random numbers.
#include "engine/cpu/backend_cpu.h"
#include "engine/support/five_nodes.h"
#include "engine/support/op_harness.h"
#include "engine/tape/seal.h"
#include "training/spec/update_rule.h"

namespace normscope::test {
namespace {

struct Recording {
  std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store{*backend};
  Tape tape{store};
  ValueId parameter(const std::string& name, Shape shape) {
    store.declare(name, shape, {Init::Kind::Normal, 1.0});
    return tape.parameter(name);
  }
  ValueId real(const std::string& name, Shape shape) { return tape.input(name, shape, DType::F32); }
  ValueId integer(const std::string& name, Shape shape) { return tape.input(name, shape, DType::I32); }
};

}  // namespace

TEST_CASE("tape: a node names its inputs, and index order is topological", "[tape]") {
  Recording r;
  FiveNodes f(r.store);
  REQUIRE(f.tape.nodes().size() == 5);
  for (size_t i = 0; i < f.tape.nodes().size(); ++i) {
    const Node& node = f.tape.nodes()[i];
    CHECK(f.tape.value(node.out).node == static_cast<int32_t>(i));
    for (ValueId v : node.in)
      if (v != kNone) CHECK(f.tape.value(v).node < static_cast<int32_t>(i));
  }
  CHECK(f.tape.shape(f.logits) == Shape{2, 3, 7});
  CHECK(f.tape.shape(f.loss) == Shape{1});
  CHECK(f.tape.find("logits") == f.logits);
  CHECK(f.tape.find("nothing") == kNone);
}

TEST_CASE("tape: a wrong shape is refused in one line that names the node and both shapes", "[tape]") {
  Recording r;
  const ValueId x = r.real("x", {2, 3, 8}), tokens = r.integer("tokens", {2, 3}),
                real_tokens = r.real("real", {2, 3});
  const ValueId w = r.parameter("w", {8, 5}), narrow = r.parameter("narrow", {7, 5}),
                eight = r.parameter("eight", {8});
  const ValueId four = r.parameter("four", {4}), short_positions = r.parameter("short", {2, 8});
  const ValueId table = r.parameter("table", {9, 8}), other = r.real("other", {2, 3, 4});
  const float infinite = std::numeric_limits<float>::infinity();
  struct Case {
    std::function<void()> record;
    std::vector<const char*> words;
  };
  const std::vector<Case> cases = {
      {[&] { linear(r.tape, "L03.ffn.w1", x, narrow, kNone); },
       {"[linear L03.ffn.w1]", "(2,3,8)", "(7,5)", "expected"}},
      {[&] { linear(r.tape, "n", x, w, eight); }, {"bias", "(8)", "5"}},
      {[&] { linear(r.tape, "n", x, eight, kNone); }, {"weight", "(8)"}},
      {[&] { linear(r.tape, "n", x, w, kNone, true); }, {"(8,5)"}},
      {[&] { embedding(r.tape, "n", real_tokens, table, kNone, 1); }, {"[embedding n]", "integers"}},
      {[&] { embedding(r.tape, "n", tokens, table, short_positions, 1); }, {"positions", "(2,8)"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.heads = 3}); }, {"[attention n]", "8", "3 heads"}},
      {[&] { attention(r.tape, "n", x, other, other, kNone, {}); }, {"(2,3,8)", "(2,3,4)"}},
      {[&] { attention(r.tape, "n", x, x, x, tokens, {}); }, {"lengths", "2 integers"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.causal = true, .window = -1}); },
       {"[attention n]", "window of -1", "at least 1"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.alibi = true}); }, {"ALiBi", "causal"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.causal = true, .alibi = true, .cap = 1}); },
       {"no cap"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.cap = -1}); }, {"[attention n]", "cap -1", "positive"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.cap = infinite}); }, {"cap inf", "positive"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.cap = 1e30f, .scale = 1e-20f}); }, {"cap 1e+30"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.cap = 1e-40f}); }, {"cap 1e-40"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.scale = -0.5f}); },
       {"[attention n]", "scale -0.5", "1/sqrt(D/H)"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.scale = infinite}); }, {"scale inf", "positive"}},
      {[&] { attention(r.tape, "n", x, x, x, kNone, {.scale = std::nanf("")}); }, {"scale nan"}},
      {[&] { layer_norm(r.tape, "n", NormKind::LayerNorm, x, eight, kNone, 1e-5f); },
       {"[layer_norm n]", "bias"}},
      {[&] { layer_norm(r.tape, "n", NormKind::Rms, x, four, kNone, 1e-5f); }, {"four", "8"}},
      {[&] { layer_norm(r.tape, "n", NormKind::None, x, kNone, kNone, 1e-5f); }, {"none"}},
      {[&] { add(r.tape, "n", x, other); }, {"[add n]", "(2,3,8)", "(2,3,4)"}},
      {[&] {
         add(r.tape, "n", x, x, {1, four});
       },
       {"four", "1 or 8"}},
      {[&] { layer_norm(r.tape, "n", NormKind::Rms, x, eight, kNone, 1e-5f, 1, {.gain_offset = 0.5f}); },
       {"gain offset", "0.5", "0 or 1"}},
      {[&] { layer_norm(r.tape, "n", NormKind::Simple, x, kNone, kNone, 1e-5f, 1, {.gain_offset = 1}); },
       {"gain offset", "simple", "expected 0"}},
      {[&] { multiply(r.tape, "n", x, other); }, {"[multiply n]", "(2,3,8)", "(2,3,4)"}},
      {[&] { soft_cap(r.tape, "n", x, 0); }, {"[soft_cap n]", "cap of 0", "above zero"}},
      {[&] { soft_cap(r.tape, "n", x, INFINITY); }, {"finite"}},
      {[&] { append(r.tape, "n", x, other); }, {"[append n]", "(2,3,4)", "(2,3,8)"}},
      {[&] { append(r.tape, "n", x, x); }, {"behind itself"}},
      {[&] {
         reshape(r.tape, "n", x, {2, 3, 7});
       },
       {"[reshape n]", "(2,3,7)", "48 numbers"}},
      {[&] { softmax_xent(r.tape, "n", x, real_tokens, kNone); }, {"[softmax_xent n]", "integers"}},
      {[&] { softmax_xent(r.tape, "n", x, tokens, other); }, {"weights", "6"}},
      {[&] { r.tape.parameter("unknown"); }, {"unknown", "declared"}},
      {[&] { r.tape.input("x", {1}, DType::F32); }, {"'x'", "twice"}},
  };
  for (const Case& c : cases) {
    const std::string text = error_of(c.record);
    INFO(text);
    CHECK_FALSE(text.empty());
    CHECK_FALSE(test::contains(text, "\n"));
    for (const char* word : c.words) {
      INFO("misses: " << word);
      CHECK(test::contains(text, word));
    }
  }
  relu(r.tape, "twice", x);
  CHECK(test::contains(error_of([&] { relu(r.tape, "twice", x); }), "twice"));
}

TEST_CASE("tape: a node has as many inputs as the registry says, all of this tape", "[tape]") {
  Recording r;
  const ValueId x = r.real("x", {2, 3});
  const auto error = [&](std::vector<ValueId> in) {
    return error_of([&] { r.tape.add_node({.op = OpKind::Add, .name = "n", .in = std::move(in)}, {2, 3}); });
  };
  CHECK(test::contains(error({x, x, x, x, x}), "n has 5 inputs: expected 4"));
  CHECK(test::contains(error({x, x}), "has 2 inputs"));
  CHECK(test::contains(error({x, kNone, x, x}), "[add n] input 2 is"));
  CHECK(test::contains(error({x, 77, kNone, kNone}), "[add n] input 2 is"));
  CHECK(r.tape.nodes().empty());
  CHECK(error({x, x, kNone, x}) == "no error");
  cpu::Stages stages;
  for (int i = 0; i < cpu::kMaxStages; ++i) stages.add(nullptr, 1);
  CHECK(test::contains(error_of([&] { stages.add(nullptr, 1); }), "stages"));
}

TEST_CASE("tape: parameters go by name", "[tape]") {
  Recording r;
  const ValueId a = r.parameter("w", {2, 3});
  CHECK(r.tape.parameter("w") == a);
  CHECK(r.store.declare("w", {2, 3}, {}) == r.store.find("w"));
  CHECK(test::contains(error_of([&] { r.store.declare("w", {3, 2}, {}); }), "(3,2)"));
  r.store.materialize(1);
  CHECK(test::contains(error_of([&] { r.store.declare("late", {2}, {}); }), "late"));
  CHECK(test::contains(error_of([&] { r.store.materialize(1); }), "twice"));
  CHECK(test::contains(error_of([&] { r.store.write(0, std::vector<float>(5)); }), "6"));
}

TEST_CASE("store: a parameter's start depends on its name and the seed, on nothing else", "[tape]") {
  Recording alone, among;
  alone.parameter("L01.attn.wq", {33, 31});
  for (int i = 0; i < 5; ++i) among.parameter("other" + std::to_string(i), {7, i + 1});
  among.parameter("L01.attn.wq", {33, 31});
  alone.store.materialize(5);
  among.store.materialize(5);
  const auto a = alone.store.read(0), b = among.store.read(among.store.find("L01.attn.wq"));
  CHECK(same_bits(a, b));
  Recording other_seed;
  other_seed.parameter("L01.attn.wq", {33, 31});
  other_seed.store.materialize(6);
  CHECK_FALSE(same_bits(a, other_seed.store.read(0)));
  Recording other_name;
  other_name.parameter("L01.attn.wk", {33, 31});
  other_name.store.materialize(5);
  CHECK_FALSE(same_bits(a, other_name.store.read(0)));
}

TEST_CASE("store: initial values have the asked distribution", "[tape]") {
  const int64_t n = 200000;
  const auto values = initial_values("w", {n}, {Init::Kind::Normal, 0.25}, 3);
  double mean = 0, square = 0, cube = 0, fourth = 0, neighbours = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double z = static_cast<double>(values[i]) / 0.25;
    mean += z / n;
    square += z * z / n;
    cube += z * z * z / n;
    fourth += z * z * z * z / n;
    if (i > 0) neighbours += z * static_cast<double>(values[i - 1]) / 0.25 / n;
  }
  const double sigma = 1 / std::sqrt(static_cast<double>(n));
  CHECK(std::abs(mean) < 5 * sigma);
  CHECK(std::abs(square - 1) < 5 * std::sqrt(2.0) * sigma);
  CHECK(std::abs(cube) < 5 * std::sqrt(15.0) * sigma);
  CHECK(std::abs(fourth - 3) < 5 * std::sqrt(96.0) * sigma);
  CHECK(std::abs(neighbours) < 5 * sigma);
  for (float v : initial_values("b", {5}, {Init::Kind::Constant, 1.5}, 3)) CHECK(v == 1.5f);
  for (float v : initial_values("z", {5}, {}, 3)) CHECK(v == 0.0f);
  const auto p = initial_values("p", {4, 6}, {Init::Kind::Sinusoid}, 3);
  CHECK(p[0] == 0.0f);
  CHECK(p[1] == 1.0f);
  CHECK(p[2 * 6 + 2] == Approx(std::sin(2 * std::pow(10000.0, -2.0 / 6))));
  CHECK(p[3 * 6 + 5] == Approx(std::cos(3 * std::pow(10000.0, -4.0 / 6))));
}

TEST_CASE("philox: the published test vectors", "[tape]") {
  using Words = std::array<uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ull) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  // The word of an element: four elements share a block.
  const PhiloxBlock block = philox_block(2, site_of("here"), 9, static_cast<uint32_t>(Purpose::Dropout), 77);
  for (uint64_t i = 0; i < 4; ++i)
    CHECK(random_word(8 + i, site_of("here"), 9, Purpose::Dropout, 77) == block.word[i]);
}

TEST_CASE("dropout: threshold and scale of a probability", "[tape]") {
  CHECK(DropoutInputs::of(0).threshold == 0u);
  CHECK(DropoutInputs::of(0).scale == 1.0f);
  CHECK(DropoutInputs::of(0.25).threshold == 1u << 30);
  CHECK(DropoutInputs::of(0.25).scale == Approx(4.0 / 3));
  StepInputs step;
  step.seed = 5;
  step.dropout[0] = DropoutInputs::of(0.3);
  double kept = 0;
  for (uint8_t k : reference::kept(100000, step, DropoutKind::Residual, site_of("a"))) kept += k;
  CHECK(std::abs(kept / 100000 - 0.7) < 0.01);
}

}  // namespace normscope::test
