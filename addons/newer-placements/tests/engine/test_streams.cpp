// These tests cover several residual streams: their text, that every filling starts as the single stream that it is
// made of, what is refused. That they compute what their papers say: test_fixtures.
#include "addons/newer-placements/engine/config.h"
#include "addons/newer-placements/engine/ops.h"
#include "engine/model/residual.h"
#include "engine/model/wiring.h"
#include "engine/support/helpers.h"
#include "engine/support/placement_start.h"

namespace normscope::test {
namespace {

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
       {"1", "4 fixed", "2 learned", "8 computed", "4 learned manifold", "4 computed manifold", "depth fixed",
        "depth learned", "depth learned softmax", "depth computed", "depth computed softmax"})
    CHECK(to_string(streams_from(text)) == text);
  const std::pair<const char*, const char*> wrong[] = {{"", "empty"},
                                                       {"9 learned", "1 to 8"},
                                                       {"0", "1 to 8"},
                                                       {"four", "'four'"},
                                                       {"4 drawn", "'drawn'"},
                                                       {"4 learned softmax", "expected depth"},
                                                       {"depth learned manifold", "no matrix"},
                                                       {"4 fixed manifold", "follow no rule"},
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

TEST_CASE("streams: the matrix of the manifold has rows and columns that add up to one") {
  Start start(config_of(Placement::ManifoldHyper));
  change(start.store, "L02.ffn.carry", [](auto& weights) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 7 % 5) - 1.5f;
  });
  start.program->replay({});
  const std::vector<float> m = start.read(start.values.sublayers[3].carry);
  REQUIRE(m.size() == 2 * 9 * 16);
  for (size_t first = 0; first < m.size(); first += 16)
    for (size_t i = 0; i < 4; ++i) {
      double row = 0, column = 0;
      for (size_t j = 0; j < 4; ++j) {
        row += static_cast<double>(m[first + i * 4 + j]);
        column += static_cast<double>(m[first + j * 4 + i]);
        CHECK(m[first + i * 4 + j] > 0);
      }
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
  for (const Placement p : {Placement::HyperConnections, Placement::ManifoldHyper, Placement::ResiDual}) {
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
