// These tests hold beam search against all rows of a small random language, and the translator against itself.
#include <algorithm>

#include "addons/translation/training/translator.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

constexpr int32_t kV = 4, kStop = 3;

/// Log-probabilities of the next symbol: any function of sentence and prefix.
std::vector<float> next_of(int32_t sentence, const std::vector<int32_t>& prefix, double sharpness) {
  uint64_t key = static_cast<uint64_t>(sentence) + 1;
  for (int32_t s : prefix) key = key * 31 + static_cast<uint64_t>(s) + 7;
  std::vector<float> p(kV);
  double sum = 0;
  for (int32_t v = 0; v < kV; ++v)
    sum += p[static_cast<size_t>(v)] = std::exp(static_cast<float>(
        sharpness * random_word(static_cast<uint64_t>(v), 1, 1, Purpose::Sample, key) * 0x1p-32));
  for (float& v : p) v = static_cast<float>(std::log(static_cast<double>(v) / sum));
  return p;
}

RunSpec translation_spec(const std::string& preset) {
  return spec_with(
      preset,
      {{"model.architecture", "encoder-decoder"}, {"data.name", "translation"}, {"train.lr", "5e-3"}});
}

struct Language {
  double sharpness = 3;
  std::vector<float> answer;
  int queries = 0;
  std::span<const float> operator()(std::span<const BeamRow> rows) {
    ++queries;
    answer.clear();
    for (const BeamRow& row : rows)
      for (float p : next_of(row.sentence, *row.symbols, sharpness)) answer.push_back(p);
    return answer;
  }
};

/// The best of all rows that end, or are cut at `longest`.
Hypothesis best_of_all(int32_t sentence, int32_t longest, double penalty, double sharpness) {
  Hypothesis best;
  bool any = false;
  const auto visit = [&](const auto& self, const Hypothesis& h) -> void {
    const bool ended = !h.symbols.empty() && h.symbols.back() == kStop;
    if (ended || static_cast<int32_t>(h.symbols.size()) == longest) {
      if (!any || h.score(penalty) > best.score(penalty)) {
        best = h;
        any = true;
      }
      return;
    }
    const auto p = next_of(sentence, h.symbols, sharpness);
    for (int32_t v = 0; v < kV; ++v) {
      Hypothesis longer = h;
      longer.symbols.push_back(v);
      longer.log_probability += static_cast<double>(p[static_cast<size_t>(v)]);
      self(self, longer);
    }
  };
  visit(visit, {});
  return best;
}

}  // namespace

TEST_CASE("beam: one as wide as the language finds the best row of all") {
  // No length penalty: a finished row can only be beaten while something unfinished is better, which a beam
  // of all rows keeps.
  for (double penalty : {0.0, 1.0}) {
    Language language;
    const std::vector<int32_t> longest = {4, 3, 4, 2, 4};
    const auto found =
        beam_search(longest, kV, kStop, {.beam = 300, .length_penalty = penalty}, std::ref(language));
    REQUIRE(found.size() == longest.size());
    for (size_t s = 0; s < found.size(); ++s) {
      const Hypothesis best = best_of_all(static_cast<int32_t>(s), longest[s], penalty, language.sharpness);
      CHECK(found[s].symbols == best.symbols);
      CHECK(found[s].log_probability == Approx(best.log_probability));
    }
  }
}

TEST_CASE("beam: of one is greedy, wider is no worse on the whole") {
  double sums[2] = {0, 0};
  const std::vector<int32_t> longest(40, 6);
  for (int k : {0, 1}) {
    Language language;
    language.sharpness = 6;
    const auto found =
        beam_search(longest, kV, kStop, {.beam = k == 0 ? 1 : 5, .length_penalty = 0}, std::ref(language));
    for (size_t s = 0; s < found.size(); ++s) {
      sums[k] += found[s].log_probability;
      CHECK(found[s].symbols.size() <= 6);
      if (k == 1) continue;
      std::vector<int32_t> greedy;
      while (greedy.size() < 6 && (greedy.empty() || greedy.back() != kStop)) {
        const auto p = next_of(static_cast<int32_t>(s), greedy, 6);
        greedy.push_back(static_cast<int32_t>(std::ranges::max_element(p) - p.begin()));
      }
      CHECK(found[s].symbols == greedy);
    }
  }
  CHECK(sums[1] > sums[0]);
}

TEST_CASE("beam: the length penalty favours longer rows; probabilities that are no numbers break nothing") {
  size_t lengths[2] = {0, 0};
  const std::vector<int32_t> longest(30, 6);
  for (int k : {0, 1}) {
    Language language;
    language.sharpness = 1;
    for (const Hypothesis& h :
         beam_search(longest, kV, kStop, {.beam = 6, .length_penalty = k * 2.0}, std::ref(language)))
      lengths[k] += h.symbols.size();
  }
  CHECK(lengths[1] > lengths[0]);
  std::vector<float> broken(300, NAN);
  const auto found = beam_search(longest, kV, kStop, {},
                                 [&](std::span<const BeamRow>) { return std::span<const float>(broken); });
  for (const Hypothesis& h : found) CHECK(h.symbols.empty());
}

TEST_CASE("beam: the translator of a trained model solves the made-up translation and is the same twice") {
  RunSpec spec = with_fields(translation_spec("pre"), {{"model.d_model", "32"}, {"train.batch", "16"}});
  const auto run = make_run(spec, 260);
  const Task& task = run->task();
  Batch batch = task.draw(1, 1, Split::Validation, 20, 16);
  std::vector<std::vector<int32_t>> sources, targets;
  for (size_t r = 0; r < 20; ++r) {
    const auto at = static_cast<std::ptrdiff_t>(r * 16);
    sources.emplace_back(batch.source.begin() + at, batch.source.begin() + at + 16);
    targets.emplace_back(batch.targets.begin() + at, batch.targets.begin() + at + 16);
  }
  Translator translator(run->store(), run->spec().model, task.begin(), task.end(), {.beam = 3});
  const auto found = translator.translate(sources), again = translator.translate(sources);
  CHECK(found == again);
  int same = 0, all = 0;
  for (size_t r = 0; r < 20; ++r) {
    REQUIRE(found[r].size() == 16);
    for (size_t t = 0; t < 16; ++t) {
      same += found[r][t] == targets[r][t];
      ++all;
    }
  }
  CHECK(same >= all * 95 / 100);
  const float before = static_cast<float>(run->last_loss());
  run->step();
  CHECK(std::isfinite(before));
}

TEST_CASE("beam: the translator as wide as its vocabulary finds the best of all rows of two symbols") {
  // The rows are scored by the whole network as it trains, a row at a time and without padding: nothing of the beam, of
  // the encoder run once or of the longer programs that the translator fills in part.
  const RunSpec spec = translation_spec("post");
  const auto run = make_run(spec, 25);
  const Task& task = run->task();
  const ModelConfig& model = run->spec().model;
  const int32_t V = model.vocabulary;
  constexpr int32_t kLength = 2;
  Tape tape(run->store());
  const ModelValues values = record_model(
      tape, model,
      {.batch = V, .sequence = kLength, .source_sequence = kLength, .training = false, .probes = false});
  const std::string logits = tape.value(values.logits).name;
  Program program = seal(tape, {.loss = values.loss, .backward = false});
  const std::vector<std::vector<int32_t>> sources = {{1, 2}, {V - 1, V - 2}, {3, 3}, {V / 2, 4}, {5, V / 3}};
  const auto translated = [&](int32_t beam) {
    return Translator(run->store(), model, task.begin(), -1, {.beam = beam}).translate(sources);
  };
  const auto widest = translated(V), narrow = translated(3), greedy = translated(1);
  std::fill(program.tokens("targets").begin(), program.tokens("targets").end(), 0);
  size_t missed = 0;
  for (size_t s = 0; s < sources.size(); ++s) {
    for (int32_t first = 0; first < V; ++first)  // row `first` begins with that symbol
      for (int32_t at = 0; at < kLength; ++at) {
        const auto place = static_cast<size_t>(first * kLength + at);
        program.tokens("source")[place] = sources[s][static_cast<size_t>(at)];
        program.tokens("tokens")[place] = at == 0 ? task.begin() : first;
      }
    program.replay({});
    const std::vector<float> out = program.read(logits);
    const auto log_probability = [&](int32_t row, int32_t at, int32_t symbol) {
      const float* x = out.data() + static_cast<size_t>((row * kLength + at) * V);
      double sum = 0;
      for (int32_t v = 0; v < V; ++v) sum += std::exp(static_cast<double>(x[v] - x[symbol]));
      return -std::log(sum);
    };
    const auto score = [&](const std::vector<int32_t>& row) {
      return log_probability(0, 0, row[0]) + log_probability(row[0], 1, row[1]);
    };
    std::vector<int32_t> best = {0, 0};
    for (int32_t first = 0; first < V; ++first)
      for (int32_t second = 0; second < V; ++second)
        if (score({first, second}) > score(best)) best = {first, second};
    INFO("source " << s << ", best of " << V * V << " rows: " << best[0] << " " << best[1]);
    REQUIRE(widest[s].size() == kLength);
    CHECK(widest[s] == best);
    CHECK(score(narrow[s]) <= score(best));
    missed += greedy[s] != best;
  }
  CHECK(missed > 0);  // a search that takes each symbol for itself would not do
}

}  // namespace normscope::test
