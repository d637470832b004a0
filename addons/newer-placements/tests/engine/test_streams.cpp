// These tests cover several residual streams: their text, that every filling starts as the single stream that it is
// made of, what is refused. That they compute what their papers say: test_fixtures.
#include <algorithm>

#include "addons/newer-placements/engine/config.h"
#include "addons/newer-placements/engine/ops.h"
#include "engine/model/residual.h"
#include "engine/model/wiring.h"
#include "engine/support/helpers.h"
#include "engine/support/placement_start.h"

namespace normscope::test {
namespace {

/// All but mHC-lite, which begins with streams that differ.
constexpr Placement kSeveral[] = {Placement::HyperConnections, Placement::ManifoldHyper,
                                  Placement::AttentionResiduals, Placement::DepthAverages};

void set_streams(ModelConfig& config, const char* streams) {
  set_slot(config.decoder, *stack_slots().back(), streams);
}

double loss_of(const ModelConfig& config) { return Start(config).program->loss(); }

ModelConfig with_streams(const char* streams) {
  ModelConfig c = config_of(Placement::Pre);
  set_streams(c, streams);
  return c;
}

}  // namespace

TEST_CASE("streams: the text says what they are, and nothing else is one") {
  for (const char* text :
       {"1", "4 fixed", "2 learned", "8 computed", "4 learned manifold", "4 computed manifold",
        "4 learned permutations", "5 computed permutations", "depth fixed", "depth learned",
        "depth learned softmax", "depth computed", "depth computed softmax"})
    CHECK(to_string(streams_from(text)) == text);
  const std::pair<const char*, const char*> wrong[] = {{"", "empty"},
                                                       {"9 learned", "1 to 8"},
                                                       {"0", "1 to 8"},
                                                       {"four", "'four'"},
                                                       {"4 drawn", "'drawn'"},
                                                       {"4 learned softmax", "expected depth"},
                                                       {"depth learned manifold", "no matrix"},
                                                       {"depth computed permutations", "no matrix"},
                                                       {"4 fixed manifold", "follow no rule"},
                                                       {"4 fixed permutations", "follow no rule"},
                                                       {"6 learned permutations", "720 permutations"},
                                                       {"1 learned", "1 alone"}};
  for (const auto& [text, why] : wrong) {
    INFO(text);
    CHECK(test::contains(error_of([&] { streams_from(text); }), why));
  }
}

// All streams begin as the input and are written alike, so that what is read is the single stream times a number, which
// the norm that a branch begins with does not see but for its epsilon: 1e-5 beside the mean square of what it reads,
// which is about 1/k for a mean of k branches. With 13 of them a norm's output changes by 7e-5 of itself.
constexpr double kOfEpsilon = 1e-4;

TEST_CASE("gpas: as text and back") {
  for (const char* text : {"before=ln gpas", "stream=ln gpas"}) CHECK(to_string(wiring_from(text)) == text);
}

TEST_CASE("streams: every filling starts as Pre-LN, and does not stay it") {
  const double pre = loss_of(config_of(Placement::Pre));
  for (const Placement p : kSeveral) {
    INFO(to_string(p));
    CHECK(loss_of(config_of(p)) == Approx(pre).epsilon(kOfEpsilon));
    Start start(config_of(p));
    const std::string name = p == Placement::AttentionResiduals ? "L02.attn.read.query"
                             : p == Placement::DepthAverages    ? "L02.attn.read"
                                                                : "L02.attn.write";
    change(start.store, name, [](auto& weights) { weights[0] += 2.0f; });
    start.program->replay({});
    CHECK(std::abs(start.program->loss() - pre) > 1e-3);
  }
}

TEST_CASE("streams: with fixed weights they are one stream in an encoder and a decoder") {
  const double pre = loss_of(config_of(Placement::Pre));
  for (const char* text : {"2 fixed", "4 fixed", "depth fixed", "4 learned", "3 learned manifold"}) {
    INFO(text);
    CHECK(loss_of(with_streams(text)) == Approx(pre).epsilon(kOfEpsilon));
  }
  const double both = loss_of(config_of(Placement::Pre, Architecture::EncoderDecoder));
  for (const Placement p : kSeveral) {
    INFO(to_string(p));
    CHECK(loss_of(config_of(p, Architecture::EncoderDecoder)) == Approx(both).epsilon(kOfEpsilon));
  }
}

/// The matrices of a sub-layer's streams in every position.
std::vector<float> carried_by(Start& start, size_t sublayer) {
  start.program->replay({});
  return start.read(start.values.sublayers[sublayer].carry);
}

// Weighted by hand: of the 24 permutations in lexicographic order number 0 is the identity, number 7 is (1,0,3,2), and
// number 9 is (1,2,3,0), all of which leave the same three weights in known places.
TEST_CASE("streams: the matrix of mHC-lite is the mean of the permutations that its weights ask for") {
  Start start(config_of(Placement::PermutedHyper));
  change(start.store, "L02.ffn.carry", [](auto& weights) {
    REQUIRE(weights.size() == 24);
    std::ranges::fill(weights, -200.0f);
    weights[0] = std::log(0.5f);
    weights[7] = std::log(0.3f);
    weights[9] = std::log(0.2f);
  });
  const float expected[4][4] = {
      {0.5f, 0.5f, 0, 0}, {0.3f, 0.5f, 0.2f, 0}, {0, 0, 0.5f, 0.5f}, {0.2f, 0, 0.3f, 0.5f}};
  const std::vector<float> m = carried_by(start, 3);
  REQUIRE(m.size() == 2 * 9 * 16);
  for (size_t i = 0; i < m.size(); ++i) CHECK(m[i] == Approx(expected[i % 16 / 4][i % 4]).margin(1e-6));
}

/// The sums of row i and of column i of the matrix of four streams that begins at `first`.
std::pair<double, double> sums_of(const std::vector<float>& m, size_t first, size_t i) {
  double row = 0, column = 0;
  for (size_t j = 0; j < 4; ++j) {
    row += static_cast<double>(m[first + i * 4 + j]);
    column += static_cast<double>(m[first + j * 4 + i]);
  }
  return {row, column};
}

// What the rounds of Sinkhorn leave of a row (below: up to 1e-3) is nothing here, whatever the logits are.
TEST_CASE("streams: rows and columns of mHC-lite's matrix add up to one, however far apart its logits are") {
  for (const float size : {1.0f, 30.0f, 1e6f}) {
    INFO(size);
    Start start(config_of(Placement::PermutedHyper));
    change(start.store, "L02.ffn.carry", [&](auto& weights) {
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = size * (static_cast<float>(i * 7 % 5) - 1.5f);
    });
    const std::vector<float> m = carried_by(start, 3);
    for (size_t first = 0; first < m.size(); first += 16)
      for (size_t i = 0; i < 4; ++i) {
        const auto [row, column] = sums_of(m, first, i);
        for (size_t j = 0; j < 4; ++j) CHECK(m[first + i * 4 + j] >= 0);
        CHECK(row == Approx(1).epsilon(2e-6));
        CHECK(column == Approx(1).epsilon(2e-6));
      }
    for (const float g : start.program->read("L02.ffn.carry", true)) CHECK(std::isfinite(g));
    CHECK(std::isfinite(start.program->loss()));
  }
}

// sigma(1) and sigma(-1), twice these, and 1 / (1 + 23 e^-8).
TEST_CASE("streams: mHC-lite starts as its authors' code does, each stream in turn before the others") {
  Start start(config_of(Placement::PermutedHyper));
  start.program->replay({});
  size_t branch = 0;
  for (const SublayerValues& s : start.values.sublayers) {
    INFO(s.name);
    const std::vector<float> write = start.read(s.write), carry = start.read(s.carry);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(write[i] == Approx(i == branch % 4 ? 1.4621172 : 0.5378828));
      CHECK(carry[i * 4 + i] ==
            Approx(0.9923432 + 5 * 0.0003329).epsilon(1e-5));  // five others leave a stream alone
    }
    if (++branch == start.values.sublayers.size()) break;
    const std::vector<float> read = start.read(s.read);  // by the next branch
    for (size_t i = 0; i < 4; ++i) CHECK(read[i] == Approx(i == branch % 4 ? 0.7310586 : 0.2689414));
  }
}

TEST_CASE(
    "streams: mHC-lite refuses a share that its permutations cannot exchange, before anything is recorded") {
  ModelConfig c = config_of(Placement::PermutedHyper);
  c.of<StreamsConfig>().mixed = 0.78f;
  validate(c);
  c.of<StreamsConfig>().mixed = 0.79f;
  CHECK(
      error_of([&] { validate(c); }) ==
      "[model.streams_mixed] 0.79 cannot be taken from the others by 4 streams whose permutations weigh alike: "
      "expected at most 0.782");
  set_streams(c, "2 learned permutations");
  validate(c);
}

TEST_CASE("streams: the matrix of the manifold has rows and columns that add up to one") {
  Start start(config_of(Placement::ManifoldHyper));
  change(start.store, "L02.ffn.carry", [](auto& weights) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 7 % 5) - 1.5f;
  });
  const std::vector<float> m = carried_by(start, 3);
  REQUIRE(m.size() == 2 * 9 * 16);
  for (size_t first = 0; first < m.size(); first += 16)
    for (size_t i = 0; i < 4; ++i) {
      const auto [row, column] = sums_of(m, first, i);
      for (size_t j = 0; j < 4; ++j) CHECK(m[first + i * 4 + j] > 0);
      CHECK(column == Approx(1).epsilon(1e-6));  // divided last
      CHECK(row == Approx(1).epsilon(1e-3));
    }
}

// Their logits can grow without bound in training: a row, or a column, far below the others must not become 0 / 0.
TEST_CASE("streams: the matrix of the manifold is finite whatever its logits are") {
  for (const float size : {50.0f, 300.0f, 1e6f}) {
    INFO(size);
    Start start(config_of(Placement::ManifoldHyper));
    change(start.store, "L02.ffn.carry", [&](auto& weights) {
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = i / 4 == 1 || i % 4 == 2 ? -size : size;
    });
    start.program->replay({});
    for (const float m : start.read(start.values.sublayers[3].carry)) CHECK((m >= 0 && m <= 1.001f));
    for (const float g : start.program->read("L02.ffn.carry", true)) CHECK(std::isfinite(g));
    CHECK(std::isfinite(start.program->loss()));
  }
}

TEST_CASE("streams: no norm and no scale stands on one of several") {
  ModelConfig c = config_of(Placement::HyperConnections);
  c.decoder.layers[1].attention.stream = NormKind::LayerNorm;
  CHECK(test::contains(error_of([&] { validate(c); }), "'before=ln stream=ln'"));
  c = config_of(Placement::HyperConnections);
  c.decoder.layers[1].feed_forward.skip = {Scale::Kind::Constant, 2};
  CHECK(test::contains(error_of([&] { validate(c); }), "skip=2"));
  c = config_of(Placement::ResiDual);
  set_streams(c, "2 learned");
  CHECK(test::contains(error_of([&] { validate(c); }), "second"));
}

TEST_CASE("streams: the gradient of each is measured, of several ones and of a second one") {
  for (const Placement p : {Placement::HyperConnections, Placement::ManifoldHyper, Placement::PermutedHyper,
                            Placement::ResiDual}) {
    INFO(to_string(p));
    const Start start(config_of(p));
    const int32_t count = p == Placement::ResiDual ? 2 : 4;
    double apart = 0;
    for (const SublayerValues& s : start.values.sublayers) {
      std::vector<double> squares(static_cast<size_t>(count), 0.0);
      const auto gradient = [&](ValueId value) {
        return start.program->read(start.program->data().values[static_cast<size_t>(value)].name, true);
      };
      const std::vector<float> first = gradient(p == Placement::ResiDual ? s.output : s.streams),
                               second = p == Placement::ResiDual ? gradient(s.second) : std::vector<float>();
      const size_t width = static_cast<size_t>(start.config.d_model);
      for (size_t i = 0; i < first.size(); ++i)
        squares[p == Placement::ResiDual ? 0 : i / width % 4] += std::pow(static_cast<double>(first[i]), 2);
      for (const float g : second) squares[1] += std::pow(static_cast<double>(g), 2);
      const double each = static_cast<double>(first.size()) / (p == Placement::ResiDual ? 1 : 4);
      for (int32_t i = 1; i <= count; ++i) {
        const std::string name = s.name + ".stream." + std::to_string(i) + ".gradient_square";
        INFO(name);
        CHECK(start.program->stat(name) == Approx(squares[static_cast<size_t>(i - 1)] / each).epsilon(1e-5));
        apart = std::max(apart, std::abs(squares[static_cast<size_t>(i - 1)] - squares[0]) / squares[0]);
      }
    }
    CHECK(apart > 0.1);  // the streams' gradients are not the same
  }
}

TEST_CASE("placement: ResiDual's output is its stream and the norm of all branches") {
  const Start model(config_of(Placement::ResiDual));
  const std::vector<float> x = model.read(model.values.sublayers.back().output);
  std::vector<float> second = model.read(model.values.embedding);
  for (const SublayerValues& s : model.values.sublayers) {
    const std::vector<float> branch = model.read(s.branch);
    for (size_t i = 0; i < branch.size(); ++i) second[i] += branch[i];
  }
  const std::vector<float> hidden = model.read(model.values.hidden);
  for (size_t r = 0; r < x.size(); r += 24) {
    double mean = 0, square = 0;
    for (size_t j = 0; j < 24; ++j) mean += static_cast<double>(second[r + j]) / 24;
    for (size_t j = 0; j < 24; ++j) square += std::pow(static_cast<double>(second[r + j]) - mean, 2) / 24;
    for (size_t j = 0; j < 24; ++j) {
      const double y = (static_cast<double>(second[r + j]) - mean) / std::sqrt(square + 1e-5);
      CHECK(static_cast<double>(hidden[r + j]) == Approx(static_cast<double>(x[r + j]) + y).margin(1e-4));
    }
  }
}

TEST_CASE("streams: their ops refuse a wrong shape in one line that names the node and both shapes") {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  Tape tape(store);
  const auto real = [&](const char* name, Shape shape) { return tape.input(name, shape, DType::F32); };
  const ValueId x = real("x", {2, 3, 8}), flat = real("flat", {2, 3}), four = real("four", {4});
  const auto refuses = [](auto record, std::vector<const char*> words) {
    for (const char* word : words) CHECK_THAT(error_of(record), Catch::Contains(word));
  };
  refuses([&] { mix(tape, "n", flat, four, 1); }, {"[mix n]", "(2,3)", "(B,T,n,D)"});
  refuses([&] { mix(tape, "n", x, four, 3); }, {"four", "1 x 3", "6 positions"});
  refuses([&] { mix(tape, "n", x, four, 0); }, {"0 sums", "at least one"});
  refuses([&] { softmax(tape, "n", x, 5); }, {"[softmax n]", "(2,3,8)", "groups of 5"});
  refuses([&] { sinkhorn(tape, "n", x, 9, 1); }, {"[sinkhorn n]", "9 x 9", "at most 8"});
  refuses([&] { sinkhorn(tape, "n", x, 2, 0); }, {"0 rounds", "1 to 32"});
  refuses([&] { repeat_heads(tape, "n", flat, 1, 2); }, {"[repeat_heads n]", "(2,3)", "(B,T,D)"});
  refuses([&] { repeat_heads(tape, "n", x, 3, 2); }, {"8", "3 heads"});
  refuses([&] { repeat_heads(tape, "n", x, 2, 0); }, {"0 times", "at least one"});
}

}  // namespace normscope::test
