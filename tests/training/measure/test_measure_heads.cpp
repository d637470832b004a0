// These tests hold what is measured of an attention's heads against the scores of all queries and keys, computed in
// double precision from what the op reads and masked by hand. The measurement itself looks at one key of each query.
#include <algorithm>

#include "engine/support/model_fixture.h"
#include "training/measure/live_numbers.h"

namespace normscope::test_measure_heads {

using namespace normscope::test;

namespace {

constexpr int64_t kTokens = 11;
constexpr int32_t kHeads = 4;

ModelConfig headed_model() {
  return tiny_config({.placement = Placement::Pre, .heads = kHeads, .sequence = 9});
}

/// A run that was replayed once on a batch of two sequences; both are measured.
struct HeadedRun : DisturbedModel {
  explicit HeadedRun(const ModelConfig& c, uint64_t seed = 3)
      : DisturbedModel(c, {.batch = 2, .sequence = kTokens}, seed) {
    replay(random_batch(config, 2, kTokens, 9));
    live = std::make_unique<LiveMeasurements>(*program, model, config, 2);
    numbers.resize(live->layout().size());
    live->measure(numbers);
  }
  double at(const std::string& name) const { return number(*live, numbers, name); }
  std::vector<float> input(const std::string& name, size_t place) const {
    for (const Node& node : tape.nodes())
      if (node.name == name + ".heads") return program->read(tape.value(node.in[place]).name);
    FAIL("no attention " << name);
    return {};
  }

  std::unique_ptr<LiveMeasurements> live;
  std::vector<double> numbers;
};

/// Which keys a query sees and what becomes of q k.
struct Rule {
  bool causal = true;
  int64_t window = kTokens;
  double scale = 1, cap = 0;
  bool relative = false, alibi = false;
};

struct HeadNumbers {
  double logit = -std::numeric_limits<double>::infinity(), entropy = 0, mass = 0;
};

/// Computes every score of every head, then the softmax over what is seen.
std::vector<HeadNumbers> heads_by_hand(const HeadedRun& run, const std::string& name, const Rule& rule) {
  const std::vector<float> q = run.input(name, 0), k = run.input(name, 1);
  const std::vector<float> e = rule.relative ? run.input(name, 3) : q,
                           r = rule.relative ? run.input(name, 4) : k;
  const int64_t all = static_cast<int64_t>(q.size()) / (2 * kTokens), width = all / kHeads,
                shared = static_cast<int64_t>(k.size()) / (2 * kTokens);  // a group of heads has one key
  std::vector<HeadNumbers> heads(kHeads);
  for (int64_t i = 0; i < 2 * kTokens * kHeads; ++i) {
    const int64_t h = i % kHeads, row = i / kHeads, t = row % kTokens, b = row / kTokens;
    HeadNumbers& head = heads[static_cast<size_t>(h)];
    std::vector<double> scores;
    double sum = 0;
    const int64_t first = rule.causal ? std::max<int64_t>(0, t - rule.window + 1) : 0,
                  end = rule.causal ? t + 1 : kTokens;
    for (int64_t s = first; s < end; ++s) {
      double score = 0;
      for (int64_t c = 0; c < width; ++c) {
        const auto of = [](const std::vector<float>& x, int64_t at) {
          return static_cast<double>(x.at(static_cast<size_t>(at)));
        };
        const int64_t own = h * width + c, of_group = h / (all / shared) * width + c;
        score += of(q, row * all + own) * of(k, (b * kTokens + s) * shared + of_group);
        if (rule.relative) score += of(e, row * all + own) * of(r, (t - s) * all + own);
      }
      score *= rule.scale;
      if (rule.cap > 0) score = rule.cap * std::tanh(score / rule.cap);
      if (rule.alibi)
        score -= std::exp2(-8.0 * static_cast<double>(h + 1) / kHeads) * static_cast<double>(t - s);
      head.logit = std::max(head.logit, score);
      scores.push_back(score);
      sum += std::exp(score);
    }
    for (const double score : scores)
      head.entropy -= std::exp(score) / sum * (score - std::log(sum)) / (2.0 * kTokens);
    if (first == 0) head.mass += std::exp(scores[0]) / sum / (2.0 * kTokens);
  }
  return heads;
}

void check_heads(const HeadedRun& run, const std::string& name, const Rule& rule) {
  INFO(name);
  double largest = -std::numeric_limits<double>::infinity(), entropy = 0, mass = 0;
  const std::vector<HeadNumbers> heads = heads_by_hand(run, name, rule);
  for (size_t h = 0; h < heads.size(); ++h) {
    const std::string head = fmt::format("{}.head.{}.", name, h + 1);
    CHECK(run.at(head + "logit") == Approx(heads[h].logit).epsilon(1e-6));
    CHECK(run.at(head + "entropy") == Approx(heads[h].entropy).epsilon(1e-5));
    CHECK(run.at(head + "first_mass") == Approx(heads[h].mass).epsilon(1e-5));
    largest = std::max(largest, heads[h].logit);
    entropy += heads[h].entropy / kHeads;
    mass += heads[h].mass / kHeads;
  }
  CHECK(run.at(name + ".largest_logit") == Approx(largest).epsilon(1e-6));
  CHECK(run.at(name + ".attention_entropy") == Approx(entropy).epsilon(1e-5));
  CHECK(run.at(name + ".first_mass") == Approx(mass).epsilon(1e-5));
}

/// Whether some head's largest score by a rule is not the measured one.
bool misses(const HeadedRun& run, const Rule& rule) {
  for (const char* name : {"L01.attn", "L02.attn"}) {
    const std::vector<HeadNumbers> heads = heads_by_hand(run, name, rule);
    for (size_t h = 0; h < heads.size(); ++h)
      if (std::abs(run.at(fmt::format("{}.head.{}.logit", name, h + 1)) - heads[h].logit) > 1e-4) return true;
  }
  return false;
}

/// Holds models of several seeds against a rule. Each wrong rule has to miss in some of them: the largest
/// score of one model may by chance be of a key that is seen either way.
void check_seeds(const ModelConfig& config, const Rule& rule, const std::vector<Rule>& wrong) {
  std::vector<bool> missed(wrong.size(), false);
  for (uint64_t seed = 3; seed < 9; ++seed) {
    const HeadedRun run(config, seed);
    for (const char* name : {"L01.attn", "L02.attn"}) check_heads(run, name, rule);
    for (size_t i = 0; i < wrong.size(); ++i) missed[i] = missed[i] || misses(run, wrong[i]);
  }
  for (size_t i = 0; i < wrong.size(); ++i) {
    INFO("wrong rule " << i);
    CHECK(missed[i]);
  }
}

TEST_CASE("of every head the largest score, the entropy and the mass on the first position are measured") {
  const Rule rule{.scale = 1 / std::sqrt(6.0)};
  Rule of_all = rule, unscaled = rule;
  of_all.causal = false;
  unscaled.scale = 1;
  check_seeds(headed_model(), rule, {of_all, unscaled});
}

TEST_CASE(
    "scores are measured as they go into the softmax: turned, normalised, shared, scaled, capped, in a window") {
  ModelConfig config = headed_model();
  config.positions = positions_or("rotary", config.positions);
  config.attention.kv_heads = 2;
  config.attention.head_width = 8;
  config.attention.window = 4;
  config.attention.scale = 1.5f;
  config.attention.cap = 2.0f;
  for (LayerWiring& layer : config.decoder.layers)
    layer.attention.inner.query = layer.attention.inner.key = NormKind::Rms;
  const Rule rule{.window = 4, .scale = 1.5, .cap = 2};
  Rule uncapped = rule, wide = rule;
  uncapped.cap = 0;
  wide.window = kTokens;
  check_seeds(config, rule, {uncapped, wide});
}

TEST_CASE("the scores of relative positions have the product with the distance") {
  ModelConfig config = headed_model();
  config.positions = positions_or("relative", config.positions);
  if (!row_of(config.positions).own_scores) return;  // this build has none
  const Rule rule{.scale = 1 / std::sqrt(6.0), .relative = true};
  Rule without = rule;
  without.relative = false;
  check_seeds(config, rule, {without});
}

TEST_CASE("the scores of ALiBi fall with the distance") {
  ModelConfig config = headed_model();
  config.positions = positions_or("alibi", config.positions);
  if (!row_of(config.positions).alibi) return;  // this build has none
  const Rule rule{.scale = 1 / std::sqrt(6.0), .alibi = true};
  Rule without = rule;
  without.alibi = false;
  check_seeds(config, rule, {without});
}

TEST_CASE("a head whose weights are not finite has no largest score") {
  HeadedRun run(headed_model());
  change(run.store, "L02.attn.wq", [](auto& values) { std::ranges::fill(values, NAN); });
  run.program->replay({.seed = 1, .lr = 0.0f});
  run.live->measure(run.numbers);
  CHECK(std::isfinite(run.at("L01.attn.largest_logit")));
  CHECK(std::isnan(run.at("L02.attn.largest_logit")));
}

TEST_CASE("the extreme of a state is its largest number over the median, and stands at its position") {
  const HeadedRun run(headed_model());
  for (const SublayerValues& s : run.model.sublayers) {
    INFO(s.name);
    std::vector<float> y = run.program->read(run.tape.value(s.output).name);
    const auto larger = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const auto most = std::ranges::max_element(y, larger);
    const auto position = (most - y.begin()) / 24 % kTokens + 1;
    const double largest = std::abs(static_cast<double>(*most));
    std::ranges::sort(y, larger);
    const size_t half = y.size() / 2;
    const double median =
        (std::abs(static_cast<double>(y[half - 1])) + std::abs(static_cast<double>(y[half]))) / 2;
    CHECK(run.at(s.name + ".extreme") == Approx(largest / median).epsilon(1e-9));
    CHECK(run.at(s.name + ".extreme_position") == Approx(static_cast<double>(position)));
    double mean = 0;  // not the mean |x|
    for (const float x : y) mean += std::abs(static_cast<double>(x)) / static_cast<double>(y.size());
    CHECK(std::abs(run.at(s.name + ".extreme") - largest / mean) > 0.05);
  }
}

TEST_CASE("the effective rank of states is that of its definition, 1 on a line and T for orthogonal rows") {
  const auto rank_of = [](const std::vector<float>& y, size_t tokens, size_t width) {
    double sum = 0;
    const size_t sequences = y.size() / (tokens * width);
    for (size_t s = 0; s < sequences; ++s) {
      double trace = 0, squares = 0;
      for (size_t a = 0; a < tokens; ++a)
        for (size_t b = 0; b < tokens; ++b) {
          double product = 0;
          for (size_t c = 0; c < width; ++c)
            product += static_cast<double>(y[(s * tokens + a) * width + c]) *
                       static_cast<double>(y[(s * tokens + b) * width + c]);
          if (a == b) trace += product;
          squares += product * product;
        }
      sum += trace * trace / squares;
    }
    return sum / static_cast<double>(sequences);
  };
  // The products of rows here, and of the features where these are fewer, have the same eigenvalues but for zeros.
  for (const int32_t width : {24, 8}) {
    ModelConfig config = headed_model();
    config.d_model = width;
    const HeadedRun run(config);
    for (const SublayerValues& s : run.model.sublayers) {
      INFO(s.name << " of width " << width);
      const std::vector<float> y = run.program->read(run.tape.value(s.output).name);
      const double rank = run.at(s.name + ".effective_rank");
      CHECK(rank == Approx(rank_of(y, kTokens, static_cast<size_t>(width))).epsilon(1e-5));
      CHECK(rank > 1.5);
    }
  }
  std::vector<float> line(3 * 24), apart(3 * 24);
  for (size_t i = 0; i < line.size(); ++i)
    line[i] = static_cast<float>(1 + i / 24) * static_cast<float>(i % 24);
  for (size_t t = 0; t < 3; ++t) apart[t * 24 + t] = 2;
  CHECK(rank_of(line, 3, 24) == Approx(1));
  CHECK(rank_of(apart, 3, 24) == Approx(3));
}

TEST_CASE("states that are the same at every position have an effective rank of 1") {
  HeadedRun run(headed_model());
  for (const char* name : {"emb.positions", "emb.tokens"})
    change(run.store, name, [](auto& values) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = values[i % 24];
    });
  run.program->replay({.seed = 1, .lr = 0.0f});
  run.live->measure(run.numbers);
  for (const char* name : {"L01.attn", "L01.ffn", "L02.ffn"})
    CHECK(run.at(std::string(name) + ".effective_rank") == Approx(1).epsilon(1e-5));
}

TEST_CASE("an extreme that was put into a state is found where it was put") {
  HeadedRun run(headed_model());
  change(run.store, "emb.positions", [](auto& values) { values[7 * 24 + 5] = -400; });
  run.program->replay({.seed = 1, .lr = 0.0f});
  run.live->measure(run.numbers);
  CHECK(run.at("L01.attn.extreme_position") == 8);
  CHECK(run.at("L01.attn.extreme") > 100);
}

/// Variances over the features of each row of 24.
std::vector<double> row_spreads(const std::vector<float>& x) {
  std::vector<double> spreads;
  for (size_t at = 0; at < x.size(); at += 24) {
    double sum = 0, square = 0;
    for (size_t c = at; c < at + 24; ++c) {
      sum += static_cast<double>(x[c]) / 24;
      square += static_cast<double>(x[c]) * static_cast<double>(x[c]) / 24;
    }
    spreads.push_back(square - sum * sum);
  }
  return spreads;
}

double middle(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const size_t half = numbers.size() / 2;
  return (numbers[half - 1] + numbers[half]) / 2;
}

}  // namespace

TEST_CASE(
    "the own share by token is the branch's variance over the state's, each of one token, the median of them") {
  const HeadedRun run(headed_model());
  size_t index = 0;
  for (const SublayerValues& s : run.model.sublayers) {
    INFO(s.name);
    const std::vector<float> y = run.program->read(run.tape.value(s.output).name);
    std::vector<double> shares = row_spreads(run.program->read(run.tape.value(s.branch).name)), lengths;
    const std::vector<double> states = row_spreads(y);
    for (size_t t = 0; t < shares.size(); ++t) {
      shares[t] /= states[t];
      double square = 0;
      for (size_t c = 0; c < 24; ++c) square += std::pow(static_cast<double>(y[t * 24 + c]), 2);
      lengths.push_back(std::sqrt(square));
    }
    CHECK(run.at(s.name + ".token_share") == Approx(middle(shares)).epsilon(1e-5));
    CHECK(run.at(s.name + ".longest") ==
          Approx(*std::ranges::max_element(lengths) / middle(lengths)).epsilon(1e-5));
    ++index;
    const double over_all = run.at(fmt::format("beta2.{0}.{0}", index));
    CHECK(run.at(s.name + ".token_share") == Approx(over_all).epsilon(0.3));  // no token dominates
  }
}

TEST_CASE(
    "a token that dominates is most of the share over all tokens, and moves the share by token little") {
  HeadedRun run(headed_model());
  const std::vector<double> before = run.numbers;
  change(run.store, "emb.positions", [](auto& values) {
    for (size_t c = 0; c < 24; ++c) values[c] = c % 2 ? 500.f : -500.f;
  });
  run.program->replay({.seed = 1, .lr = 0.0f});
  run.live->measure(run.numbers);
  const double by_token = number(*run.live, before, "L02.attn.token_share");
  CHECK(number(*run.live, before, "L02.attn.longest") < kDominates);
  CHECK(run.at("L02.attn.longest") > kDominates);
  CHECK(run.at("beta2.3.3") < by_token / 100);
  CHECK(run.at("L02.attn.token_share") > by_token / 3);
  CHECK(run.at("L02.attn.token_share") < by_token * 3);
}

TEST_CASE(
    "the shares of each token that are kept are of its own state, and their last row is the own share") {
  HeadedRun run(headed_model());
  CHECK(run.live->token_shares().empty());
  run.live->keep_token_shares();
  run.live->measure(run.numbers);
  const auto& kept = run.live->token_shares();
  REQUIRE(kept.size() == 4);
  const std::vector<double> first = row_spreads(
                                run.program->read(run.tape.value(run.model.sublayers[0].branch).name)),
                            last = row_spreads(
                                run.program->read(run.tape.value(run.model.sublayers[3].output).name));
  REQUIRE(kept[3].size() == 5 * 2 * kTokens);
  for (size_t t = 0; t < 2 * kTokens; ++t)
    CHECK(static_cast<double>(kept[3][2 * kTokens + t]) == Approx(first[t] / last[t]).epsilon(1e-4));
  std::vector<double> own(kept[3].end() - 2 * kTokens, kept[3].end());
  CHECK(middle(own) == Approx(run.at("L02.ffn.token_share")).epsilon(1e-6));
}

}  // namespace normscope::test_measure_heads
