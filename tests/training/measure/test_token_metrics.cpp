// These tests hold what a batch tells apart against naive double loops over tokens that were read out, on padded
// batches, in both stacks and along a run.
#include "training/measure/look.h"
#include "training/measure/token_metrics.h"
#include "training/support/small_runs.h"

namespace normscope::test_token_metrics {

using namespace normscope::test;

namespace {

using Rows = std::vector<std::vector<double>>;

/// The rows of a value, or of its gradient, of the tokens that count.
Rows rows_of(const Program& program, const std::string& name, bool gradient,
             const std::vector<size_t>& counted, size_t width) {
  const std::vector<float> all = program.read(name, gradient);
  Rows rows;
  for (const size_t row : counted)
    rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(row * width),
                      all.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
  return rows;
}

Rows differing(Rows rows) {
  for (size_t i = 0; i < rows[0].size(); ++i) {
    double mean = 0;
    for (const auto& row : rows) mean += row[i] / static_cast<double>(rows.size());
    for (auto& row : rows) row[i] -= mean;
  }
  return rows;
}

double square_of(const Rows& rows) {
  double sum = 0;
  for (const auto& row : rows)
    for (const double x : row) sum += x * x;
  return sum;
}

/// The squares of what each token has in common with all tokens of its symbol.
double between(const Rows& rows, const std::vector<int32_t>& symbols) {
  double sum = 0;
  for (size_t t = 0; t < rows.size(); ++t)
    for (size_t i = 0; i < rows[t].size(); ++i) {
      double mean = 0, same = 0;
      for (size_t s = 0; s < rows.size(); ++s)
        if (symbols[s] == symbols[t]) {
          mean += rows[s][i];
          same += 1;
        }
      sum += mean / same * mean / same;
    }
  return sum;
}

/// sum over i of the squared eigenvalues is |C|^2, and their sum the trace.
double directions(const Rows& rows) {
  const size_t width = rows[0].size();
  double squares = 0;
  for (size_t i = 0; i < width; ++i)
    for (size_t j = 0; j < width; ++j) {
      double c = 0;
      for (const auto& row : rows) c += row[i] * row[j];
      squares += c * c;
    }
  return square_of(rows) * square_of(rows) / squares;
}

double telling(const Rows& h, const Rows& d) {
  double sum = 0;
  for (size_t i = 0; i < h[0].size(); ++i)
    for (size_t j = 0; j < d[0].size(); ++j) {
      double g = 0;
      for (size_t t = 0; t < h.size(); ++t) g += h[t][i] * d[t][j];
      sum += g * g;
    }
  return std::sqrt(sum);
}

std::map<std::string, double> measured(Program& program) {
  TokenMeasurements tokens(program.data());
  std::vector<double> numbers(tokens.layout().size());
  tokens.measure(program, numbers);
  std::map<std::string, double> named;
  for (size_t i = 0; i < numbers.size(); ++i) named[tokens.layout()[i].name] = numbers[i];
  return named;
}

struct Sizes {
  size_t width, hidden;
};

/// Compares one layer of a Post-LN stack. What is compared has the error of float sums: of n summands, about
/// sqrt(n) 2^-24 of their size, for the 1e2 tokens and numbers here below 1e-6. The telling part is the difference of
/// the gradient and a product of means; those are at most 1e2 times as large here, so it is good to 1e-4.
void check_layer(Program& program, const std::string& layer, const std::vector<size_t>& counted,
                 const std::vector<int32_t>& symbols, Sizes sizes) {
  INFO(layer);
  auto numbers = measured(program);
  const Rows x = differing(rows_of(program, layer + ".attn.stream", false, counted, sizes.width)),
             h = differing(rows_of(program, layer + ".ffn.hidden", false, counted, sizes.hidden)),
             d = differing(rows_of(program, layer + ".ffn.2", true, counted, sizes.width));
  CHECK(numbers[layer + ".ffn.sight"] ==
        Approx(std::sqrt(square_of(x) / static_cast<double>(x.size() * sizes.width))).epsilon(1e-5));
  CHECK(numbers[layer + ".ffn.identity"] == Approx(between(x, symbols) / square_of(x)).epsilon(1e-5));
  CHECK(numbers[layer + ".ffn.directions"] == Approx(directions(x)).epsilon(1e-4));
  CHECK(numbers[layer + ".ffn.hearing"] == Approx(std::sqrt(square_of(d))).epsilon(1e-5));
  CHECK(numbers[layer + ".ffn.w2.telling"] == Approx(telling(h, d)).epsilon(1e-4));
  // What a formula without the means would give is another number.
  CHECK(numbers[layer + ".ffn.w2.telling"] < 0.999 * std::sqrt(square_of(Rows{[&] {
                                               const std::vector<float> g =
                                                   program.read(layer + ".ffn.w2", true);
                                               return std::vector<double>(g.begin(), g.end());
                                             }()})));
}

std::vector<size_t> places(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

double newest(const Run& run, const std::string& name) {
  INFO(name);
  const int32_t stat = run.history()->find(name);
  REQUIRE(stat >= 0);
  return static_cast<double>(run.history()->series(stat).values.back());
}

}  // namespace

TEST_CASE("tokens: of a decoder every number is its definition's") {
  Tiny tiny({.optimizer = Optimizer::None});
  tiny.fill(1);
  tiny.program->replay(tiny.inputs(1));
  const std::span<const int32_t> symbols = tiny.program->tokens("tokens");
  for (const char* layer : {"L01", "L02"})
    check_layer(*tiny.program, layer, places(symbols.size()), {symbols.begin(), symbols.end()}, {24, 40});
  auto numbers = measured(*tiny.program);
  const Rows seen = differing(rows_of(*tiny.program, "L02.ffn.stream", false, places(symbols.size()), 24));
  CHECK(numbers["readout.sight"] ==
        Approx(std::sqrt(square_of(seen) / static_cast<double>(seen.size() * 24))).epsilon(1e-5));
  CHECK(numbers["readout.identity"] ==
        Approx(between(seen, {symbols.begin(), symbols.end()}) / square_of(seen)).epsilon(1e-5));
}

TEST_CASE("tokens: of a padded batch the unpadded ones count, of each stack its own") {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store(*backend);
  ModelConfig config = tiny_config({.vocabulary = 19, .sequence = 14});
  config.architecture = Architecture::EncoderDecoder;
  set_placement(config, Placement::Post);
  const BatchShape shape{3, 12, 9, true};
  Tape tape(store);
  const ModelValues values = record_transformer(tape, config, record_options(shape, true));
  store.materialize(5);
  perturb(store);
  Program program = seal(tape, {.loss = values.loss, .update = kNoOp});
  const BatchView to = inputs_of(program, shape);
  const std::vector<int32_t> source = {9, 4, 6}, target = {7, 12, 3};
  std::vector<size_t> in_source, in_target;
  std::vector<int32_t> source_symbols, target_symbols;
  for (size_t r = 0; r < 3; ++r) {
    for (size_t t = 0; t < 9; ++t) {
      const bool counts = t < static_cast<size_t>(source[r]);
      const auto symbol = static_cast<int32_t>(1 + (r + 3 * t) % 7);
      to.source[r * 9 + t] = counts ? symbol : 18;
      if (counts) in_source.push_back(r * 9 + t), source_symbols.push_back(symbol);
    }
    for (size_t t = 0; t < 12; ++t) {
      const bool counts = t < static_cast<size_t>(target[r]);
      const auto symbol = static_cast<int32_t>(1 + (2 * r + 5 * t) % 8);
      to.tokens[r * 12 + t] = counts ? symbol : 18;
      to.targets[r * 12 + t] = counts ? static_cast<int32_t>((r + t) % 18) : -1;
      if (counts) in_target.push_back(r * 12 + t), target_symbols.push_back(symbol);
    }
    to.key_lengths[r] = source[r];
    to.target_lengths[r] = target[r];
  }
  program.replay({});
  check_layer(program, "enc.L01", in_source, source_symbols, {24, 40});
  auto numbers = measured(program);
  CHECK(numbers.contains("dec.readout.identity"));
  CHECK_FALSE(numbers.contains("enc.readout.identity"));
  // W1 of a decoder's layer reads what cross-attention leaves.
  const Rows x = differing(rows_of(program, "dec.L02.cross.stream", false, in_target, 24));
  CHECK(numbers["dec.L02.ffn.sight"] ==
        Approx(std::sqrt(square_of(x) / static_cast<double>(x.size() * 24))).epsilon(1e-5));
  CHECK(numbers["dec.L02.ffn.identity"] == Approx(between(x, target_symbols) / square_of(x)).epsilon(1e-5));
}

TEST_CASE("tokens: a single one has nothing to differ from, and alike ones do not differ") {
  Tiny one({.batch = 1, .sequence = 1, .optimizer = Optimizer::None});
  one.fill(1);
  one.program->replay(one.inputs(1));
  for (const auto& [name, number] : measured(*one.program)) {
    INFO(name);
    CHECK(std::isnan(number));
  }
  const std::vector<float> alike(5 * 3, 2.5f);
  CountedTokens tokens{.rows = places(5), .symbol = {0, 0, 1, 1, 1}, .symbols = 2};
  Differing differing;
  differing.take(alike.data(), 3, tokens);
  CHECK(differing.square() == 0);
  CHECK(std::isnan(differing.between(tokens)));
  CHECK(std::isnan(differing.directions()));
  const std::vector<float> told = {1, 2, 3, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  differing.take(told.data(), 3, tokens);
  CHECK(differing.between(tokens) == Approx(1));
  CHECK(differing.directions() == Approx(1));  // two kinds of rows lie on one line
}

TEST_CASE(
    "tokens: a run measures at every fourth step and at the last, and a run that goes on repeats the same") {
  const auto run = make_run(small_spec("post"), 11);
  const Series identity = run->history()->series(run->history()->find("L02.ffn.identity"));
  REQUIRE(identity.values.size() == 11);
  for (size_t i = 0; i < 11; ++i) {
    INFO("step " << i + 1);
    CHECK(std::isfinite(identity.values[i]));
    CHECK((i > 0 && identity.values[i] == identity.values[i - 1]) == (i % 4 != 0));
  }
  const auto begun = make_run(small_spec("post"), 6), loaded = reloaded(*begun);
  steps(*loaded, 2);
  for (const char* name : {"L01.ffn.sight", "L02.ffn.hearing", "L02.ffn.w2.telling", "readout.identity"}) {
    const auto of = [&](const Run& r) { return r.history()->series(r.history()->find(name)).values; };
    CHECK(of(*loaded).back() == of(*run)[7]);
  }
}

TEST_CASE("tokens: measuring them changes no bit, and a run that reuses gradients measures the same") {
  const auto plain = make_run(small_spec("post")), looked = make_run(small_spec("post"));
  plain->measure_live(false);
  steps(*plain, 9);
  steps(*looked, 9);
  CHECK(first_difference(plain->store(), looked->store()) == "");
  CHECK(std::isnan(newest(*plain, "L01.ffn.sight")));
  const auto frugal = make_run(spec_with("post", {{"train.reuse_gradients", "true"}}), 1);
  CHECK(newest(*frugal, "L01.ffn.sight") == newest(*make_run(small_spec("post"), 1), "L01.ffn.sight"));
  for (const char* name :
       {"L01.ffn.hearing", "L02.ffn.w2.telling"})  // these gradients alone keep their memory
    CHECK(newest(*frugal, name) == newest(*make_run(small_spec("post"), 1), name));
}

}  // namespace normscope::test_token_metrics
