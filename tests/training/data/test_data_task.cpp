// These tests cover tasks: batches as a pure function of their arguments, targets one ahead, splits apart, right
// answers, honest lines.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/corpus.h"
#include "training/data/sequence_task.h"
#include "training/data/task.h"

using namespace normscope;
using namespace normscope::test;

namespace {

Batch draw(const Task& task, uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) {
  Batch batch(B, T);
  std::ranges::fill(batch.tokens, -7);  // poison: every place must be written
  std::fill(batch.targets.begin(), batch.targets.end(), -7);
  task.batch(seed, step, split, B, T, batch.tokens, batch.targets);
  return batch;
}

bool same(const Batch& a, const Batch& b) { return a.tokens == b.tokens && a.targets == b.targets; }

std::shared_ptr<const Task> named(const std::string& name) {
  DataSpec spec;
  spec.name = name;
  return make_task(spec);
}

// A text whose every position can be told: symbols U+0100.. in ascending order, all different.
std::shared_ptr<const Task> counting_task(int32_t length, int32_t T) {
  std::string text;
  for (int32_t i = 0; i < length; ++i) append_utf8(static_cast<char32_t>(0x100 + i), text);
  return make_text_task(TextSource(text, "counting"), T);
}

}  // namespace

TEST_CASE("task: a batch depends on its arguments and on nothing else", "[data]") {
  for (const char* name : {"corpus", "copy", "reverse", "sort"}) {
    CAPTURE(name);
    const auto task = named(name), again = named(name);
    const Batch batch = draw(*task, 1, 10, Split::Train, 4, 16);
    draw(*task, 2, 3, Split::Train, 4, 16);
    CHECK(same(batch, draw(*task, 1, 10, Split::Train, 4, 16)));
    CHECK(same(batch, draw(*again, 1, 10, Split::Train, 4, 16)));
    CHECK_FALSE(same(batch, draw(*task, 2, 10, Split::Train, 4, 16)));
    CHECK_FALSE(same(batch, draw(*task, 1, 11, Split::Train, 4, 16)));
    CHECK_FALSE(same(batch, draw(*task, 1, 10 + (uint64_t{1} << 32), Split::Train, 4, 16)));
    CHECK_FALSE(same(batch, draw(*task, 1, 10, Split::Validation, 4, 16)));
    for (int32_t token : batch.tokens) CHECK((token >= 0 && token < task->vocabulary()));
    for (int32_t target : batch.targets) CHECK((target >= -1 && target < task->vocabulary()));
    // Fewer rows are the same first rows.
    const Batch fewer = draw(*task, 1, 10, Split::Train, 2, 16);
    CHECK(std::equal(fewer.tokens.begin(), fewer.tokens.end(), batch.tokens.begin()));
  }
}

TEST_CASE("task: windows lie in their split, targets are one ahead", "[data]") {
  const int32_t T = 9, length = 1000;  // 900 to train on, 100 to validate
  const auto task = counting_task(length, T);
  for (Split split : {Split::Train, Split::Validation}) {
    const int32_t first = split == Split::Train ? 0 : 900, last = split == Split::Train ? 899 : 999;
    int32_t smallest = length, largest = 0;
    for (uint64_t step = 0; step < 1000; ++step) {
      const Batch batch = draw(*task, 5, step, split, 8, T);
      for (size_t i = 0; i < batch.tokens.size(); ++i) {
        REQUIRE(batch.targets[i] == batch.tokens[i] + 1);
        if (i % 9 != 0) REQUIRE(batch.tokens[i] == batch.tokens[i - 1] + 1);
        smallest = std::min(smallest, batch.tokens[i]);
        largest = std::max(largest, batch.targets[i]);
      }
    }
    CHECK(smallest == first);  // 8000 draws reach both ends of the split and never pass them
    CHECK(largest == last);
  }
}

TEST_CASE("task: windows are drawn evenly", "[data]") {
  const auto task = counting_task(1000, 9);
  std::vector<int> counts(9, 0);
  for (uint64_t step = 0; step < 1000; ++step) {
    const Batch batch = draw(*task, 6, step, Split::Train, 8, 9);
    for (size_t row = 0; row < 8; ++row) ++counts[static_cast<size_t>(batch.tokens[row * 9] / 99)];  // 0..890
  }
  for (int count : counts) CHECK(std::abs(count - 8000.0 / 9) < 5 * std::sqrt(8000.0 / 9));
}

TEST_CASE("task: corpus knows its letters, its ceiling and its floor", "[data]") {
  const auto task = named("corpus");
  CHECK(task->vocabulary() == 29);
  CHECK(task->unit() == "letter");
  CHECK(task->unigram_entropy() == Approx(corpus_grammar().unigram_entropy()).epsilon(1e-12));
  CHECK(task->entropy_rate() == corpus_grammar().entropy_rate());
  const Batch batch = draw(*task, 1, 0, Split::Train, 1, 64);
  CHECK(test::contains(corpus_text(1, 2'000'000), task->decode(batch.tokens)));
  DataSpec other;
  other.data_seed = 2;
  CHECK(make_task(other)->hash() != task->hash());
  CHECK(named("corpus")->hash() == task->hash());
}

TEST_CASE("task: your own text has no known floor", "[data]") {
  const auto task = make_text_task(TextSource(corpus_text(1, 20'000), "mine"), 64);
  CHECK(task->unit() == "character");
  CHECK_FALSE(task->entropy_rate().has_value());
  CHECK(task->unigram_entropy() == Approx(corpus_grammar().unigram_entropy()).margin(0.03));
}

TEST_CASE("task: copy, reverse and sort answer right", "[data]") {
  for (const std::string name : {"copy", "reverse", "sort"}) {
    const auto task = named(name);
    CHECK(task->vocabulary() == 33);
    for (int32_t T : {2, 3, 16, 17, 64}) {
      CAPTURE(name, T);
      const size_t n = static_cast<size_t>(T) / 2, width = static_cast<size_t>(T);
      const Batch batch = draw(*task, 3, 4, Split::Train, 5, T);
      for (size_t row = 0; row < 5; ++row) {
        const int32_t* x = batch.tokens.data() + row * width;
        const int32_t* y = batch.targets.data() + row * width;
        std::vector<int32_t> answer(x, x + n);
        for (int32_t symbol : answer) CHECK((symbol >= 0 && symbol < kSequenceSymbols));
        if (name == "reverse") std::ranges::reverse(answer);
        if (name == "sort") std::ranges::sort(answer);
        CHECK(x[n] == kSeparator);
        CHECK(std::vector<int32_t>(y + n, y + 2 * n) == answer);
        CHECK(std::all_of(y, y + n, [](int32_t target) { return target == -1; }));
        for (size_t t = n; t + 1 < width; ++t)
          CHECK(x[t + 1] == y[t]);  // teacher forcing: the next token is the target
        if (width > 2 * n) CHECK(y[2 * n] == -1);
      }
    }
  }
}

TEST_CASE("task: the symbols of the answers are uniform, whatever the rule", "[data]") {
  for (const char* name : {"copy", "reverse", "sort"}) {
    CAPTURE(name);
    const auto task = named(name);
    CHECK(task->unigram_entropy() == Approx(std::log(32.0)));
    CHECK(task->entropy_rate() == 0.0);
    CHECK(task->unigram().size() == 33);
    std::vector<double> counts(33, 0.0);
    double total = 0;
    for (uint64_t step = 0; step < 50; ++step) {
      for (int32_t target : draw(*task, 1, step, Split::Train, 32, 64).targets) {
        if (target < 0) continue;
        counts[static_cast<size_t>(target)] += 1;
        total += 1;
      }
    }
    CHECK(total == 50 * 32 * 32);
    CHECK(counts[kSeparator] == 0);
    // 1600 expected of each; binomial error 40, sorting changes the order only.
    for (size_t i = 0; i < 32; ++i) CHECK(std::abs(counts[i] - 1600) < 5 * 40);
  }
}

TEST_CASE("task: decode writes the symbols", "[data]") {
  const auto task = named("copy");
  CHECK(task->decode(std::vector<int32_t>{0, 25, 26, 31, 32, -1, 33}) == "az05|??");
  CHECK(task->unit() == "symbol");
  CHECK(named("copy")->hash() != named("sort")->hash());
}

TEST_CASE("task: unigram cross-entropy is over exactly the targets of those steps", "[data]") {
  const auto task = named("corpus");
  double sum = 0;
  int count = 0;
  for (uint64_t step = 5; step < 8; ++step) {
    for (int32_t target : draw(*task, 9, step, Split::Train, 3, 20).targets) {
      sum -= std::log(task->unigram()[static_cast<size_t>(target)]);
      ++count;
    }
  }
  CHECK(count == 180);
  CHECK(unigram_cross_entropy(*task, 9, 5, 8, 3, 20) == Approx(sum / 180).epsilon(1e-12));
  // Over many tokens it is the unigram entropy: 400 000 letters in windows of 64, error about 0.003.
  CHECK(std::abs(unigram_cross_entropy(*task, 1, 0, 400, 16, 64) - task->unigram_entropy()) < 0.015);
  CHECK(unigram_cross_entropy(*named("sort"), 1, 0, 2, 4, 16) == Approx(std::log(32.0)));
  CHECK(error_of([&] { unigram_cross_entropy(*task, 1, 5, 5, 3, 20); }) ==
        "[data] no targets between the steps 5 and 5");
}

TEST_CASE("task: what cannot be made is refused", "[data]") {
  CHECK(error_of([] {
          named("poetry");
        }).starts_with("[data] unknown task \"poetry\": expected one of corpus, text, "));
  CHECK(error_of([] { named("text"); }) ==
        "[data] the task \"text\" needs a file: give the path of a UTF-8 text");
  DataSpec missing;
  missing.name = "text";
  missing.text_path = "/no/such/file";
  CHECK(error_of([&] { make_task(missing); }) == "[text /no/such/file] no such file: check the path");
  DataSpec spec;
  spec.name = "sort";
  spec.context = 1;
  CHECK(error_of([&] { make_task(spec); }) ==
        "[data sort] context 1: expected at least 2, one symbol and its answer");
  spec.context = 0;
  CHECK(error_of([&] { make_task(spec); }) == "[data] context 0: expected at least 1");
  spec = {};
  spec.context = 1'000'000;
  CHECK(test::contains(error_of([&] { make_task(spec); }), "is too short: 2000000 characters"));
}

TEST_CASE("task: batches that do not fit are refused", "[data]") {
  const auto task = counting_task(1000, 9);
  Batch batch(2, 9);
  CHECK(error_of([&] { task->batch(1, 1, Split::Train, 3, 9, batch.tokens, batch.targets); }) ==
        "[data] batch (3,9): expected room for 27 tokens and targets, got 18 and 18");
  CHECK(test::contains(error_of([&] { task->batch(1, 1, Split::Train, 0, 9, batch.tokens, batch.targets); }),
                       "expected at least one row"));
  CHECK(test::contains(error_of([&] { draw(*task, 1, 1, Split::Validation, 1, 100); }), "is too short"));
  CHECK(draw(*task, 1, 1, Split::Validation, 1, 99).tokens.front() == 900);  // the one window there is
}
