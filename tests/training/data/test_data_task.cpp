// These tests cover tasks: batches as a pure function of their arguments, targets one ahead, splits apart, right
// answers, honest lines.
#include <algorithm>
#include <cctype>

#include "training/data/byte_tasks.h"
#include "training/data/corpus.h"
#include "training/data/sequence_task.h"
#include "training/data/text_source.h"
#include "training/support/small_runs.h"

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
  CHECK(contains(corpus_text(1, 2'000'000), task->decode(batch.tokens)));
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
  CHECK(contains(error_of([&] { make_task(spec); }), "is too short: 2000000 characters"));
}

TEST_CASE("task: batches that do not fit are refused", "[data]") {
  const auto task = counting_task(1000, 9);
  Batch batch(2, 9);
  CHECK(error_of([&] { task->batch(1, 1, Split::Train, 3, 9, batch.tokens, batch.targets); }) ==
        "[data] batch (3,9): expected room for 27 tokens and targets, got 18 and 18");
  CHECK(contains(error_of([&] { task->batch(1, 1, Split::Train, 0, 9, batch.tokens, batch.targets); }),
                 "expected at least one row"));
  CHECK(contains(error_of([&] { draw(*task, 1, 1, Split::Validation, 1, 100); }), "is too short"));
  CHECK(draw(*task, 1, 1, Split::Validation, 1, 99).tokens.front() == 900);  // the one window there is
}

// Masked language modelling, made-up translation, labelled texts, two-column files: what a batch is, and clear
// refusals.

DataSpec made_up(const char* name, uint64_t seed = 1) {
  DataSpec spec;
  spec.name = name;
  spec.form = TaskForm::Classify;
  spec.data_seed = seed;
  return spec;
}

/// Sentences with their classes, of the validation lines or of one training batch.
std::vector<TsvRow> rows_of(const Task& task, Split split, int32_t rows) {
  Batch batch = task.draw(1, 1, split, rows, 64);
  std::vector<TsvRow> lines;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r)
    lines.push_back(
        {task.class_name(batch.targets[r * 64]), task.decode(std::span(batch.tokens).subspan(r * 64, 64))});
  return lines;
}

std::vector<std::string> words_of(const std::string& sentence) {
  std::vector<std::string> words(1);
  for (const char c : sentence) {
    if (std::isalpha(static_cast<unsigned char>(c)))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<TsvRow> labelled(size_t count) {
  std::vector<TsvRow> rows;
  for (size_t i = 0; i < count; ++i)
    rows.push_back({i % 2 ? "up" : "down", (i % 2 ? "higher " : "lower ") + std::to_string(i)});
  return rows;
}

}  // namespace

TEST_CASE("masked: 15 % are asked for, 80 % of them hidden, 10 % replaced, 10 % kept", "[tasks]") {
  DataSpec spec;
  spec.form = TaskForm::Masked;
  const auto task = make_task(spec);
  CHECK(task->form() == TaskForm::Masked);
  CHECK(task->vocabulary() == kByteSymbols);
  double symbols = 0, asked = 0, hidden = 0, kept = 0;
  Batch batch(16, 64);
  for (uint64_t step = 1; step <= 60; ++step) {
    task->fill(3, step, Split::Train, 16, 64, batch.view());
    for (size_t i = 0; i < batch.tokens.size(); ++i) {
      if (i % 64 == 0) {
        CHECK(batch.tokens[i] == kByteFirst);
        CHECK(batch.targets[i] == -1);
        continue;
      }
      ++symbols;
      if (batch.targets[i] < 0) {
        CHECK(batch.tokens[i] < 256);
        continue;
      }
      ++asked;
      hidden += batch.tokens[i] == kByteMask;
      kept += batch.tokens[i] == batch.targets[i];
    }
  }
  CHECK(asked / symbols == Approx(0.15).margin(0.005));
  CHECK(hidden / asked == Approx(0.8).margin(0.015));
  CHECK(kept / asked == Approx(0.107).margin(0.015));  // a tenth, and replacements that happen to be the same
  Batch again(16, 64);
  task->fill(3, 60, Split::Train, 16, 64, again.view());
  CHECK(again.tokens == batch.tokens);
  CHECK(again.targets == batch.targets);
  Batch tiny(8, 2);  // one symbol a row: it is always asked for
  task->fill(3, 1, Split::Train, 8, 2, tiny.view());
  for (size_t r = 0; r < 8; ++r) CHECK(tiny.targets[2 * r + 1] >= 0);
  CHECK(decode_bytes(std::vector<int32_t>{kByteFirst, 'a', kByteMask, 0xc3, 0xa4, 0xff, kBytePad}) ==
        "a_\u00e4\ufffd");
}

TEST_CASE("made-up translation: a target is a function of its source, word by word", "[tasks]") {
  const auto task = make_grammar_translation(16);
  CHECK(task->unigram_entropy() == Approx(std::log(32.0)));
  Batch batch = task->draw(1, 1, Split::Train, 64, 16);
  std::set<std::pair<int32_t, int32_t>> words;
  constexpr size_t kFrom[4] = {1, 0, 3, 2};  // noun adjective adverb verb
  for (size_t i = 0; i < batch.targets.size(); ++i) {
    const size_t clause = i / 4 * 4;
    words.insert({batch.source[clause + kFrom[i % 4]], batch.targets[i]});
    CHECK(batch.tokens[i] == (i % 16 == 0 ? task->begin() : batch.targets[i - 1]));
  }
  CHECK(words.size() == 32);  // one to one
  const std::string english = task->decode(std::span<const int32_t>(batch.source).first(4));
  const std::string other = task->decode(std::span<const int32_t>(batch.targets).first(4));
  CHECK(std::ranges::count(english, ' ') == 3);
  CHECK_FALSE(contains(other, "?"));
  CHECK(contains(error_of([] { make_grammar_translation(18); }), "multiple of 4"));
}

TEST_CASE("sequences as translation: copied, reversed, sorted", "[tasks]") {
  for (SequenceRule rule : {SequenceRule::Copy, SequenceRule::Reverse, SequenceRule::Sort}) {
    const auto task = make_sequence_translation(rule, 9);
    Batch batch = task->draw(1, 2, Split::Validation, 5, 9);
    for (size_t r = 0; r < 5; ++r) {
      std::vector<int32_t> row(batch.source.begin() + static_cast<std::ptrdiff_t>(r * 9),
                               batch.source.begin() + static_cast<std::ptrdiff_t>(r * 9 + 9));
      if (rule == SequenceRule::Reverse) std::ranges::reverse(row);
      if (rule == SequenceRule::Sort) std::ranges::sort(row);
      CHECK(std::equal(row.begin(), row.end(), batch.targets.begin() + static_cast<std::ptrdiff_t>(r * 9)));
      CHECK(batch.tokens[r * 9] == task->begin());
    }
  }
}

TEST_CASE("labels: rows ask at their first position, padding has a length", "[tasks]") {
  const LabelsTask task(labelled(20), {}, "test", 16);
  CHECK(task.classes() == 2);
  CHECK(task.labels() == std::vector<std::string>{"down", "up"});
  CHECK(task.validation_batches(4, 16) == 1);
  Batch batch = task.draw(1, 1, Split::Train, 8, 16);
  for (size_t r = 0; r < 8; ++r) {
    CHECK(batch.tokens[r * 16] == kByteFirst);
    const bool up = batch.tokens[r * 16 + 1] == 'h';
    CHECK(batch.targets[r * 16] == (up ? 1 : 0));
    CHECK(batch.key_lengths[r] >= 8);
    for (size_t t = 1; t < 16; ++t) {
      CHECK(batch.targets[r * 16 + t] == -1);
      CHECK((batch.tokens[r * 16 + t] == kBytePad) == (t >= static_cast<size_t>(batch.key_lengths[r])));
    }
  }
  CHECK(contains(error_of([] {
                   LabelsTask(std::vector<TsvRow>(9, {"one", "text"}), {}, "x.tsv", 16);
                 }),
                 "1 different labels"));
  CHECK(contains(error_of([] {
                   LabelsTask(labelled(9), {{"sideways", "text"}}, "x.tsv", 16);
                 }),
                 "'sideways'"));
  CHECK(contains(error_of([] { LabelsTask(labelled(2), {}, "x.tsv", 16); }), "at least 5"));
}

TEST_CASE("labels: a file sorted by class says what its end validates on", "[tasks]") {
  std::vector<TsvRow> sorted = labelled(40);
  std::ranges::stable_sort(sorted, {}, &TsvRow::first);
  const LabelsTask one(sorted, {}, "t", 16), both(labelled(40), {}, "t", 16);
  CHECK(contains(one.note(), "all validation lines are of the class 'up'"));
  CHECK(both.note().empty());
  std::fill(sorted.begin() + 32, sorted.end(), TsvRow{"far", "higher"});
  CHECK_THROWS_WITH(LabelsTask(sorted, {}, "t", 16),
                    Catch::Contains("in the validation lines only, which are the last fifth of the file"));
}

TEST_CASE("made-up labels: the order of the words tells right from swapped", "[tasks]") {
  const auto task = make_task(made_up("word-order"));
  CHECK(task->form() == TaskForm::Classify);
  CHECK(task->classes() == 2);
  CHECK(task->vocabulary() == kByteSymbols);
  CHECK(task->validation_batches(10, 64) == 100);
  const std::set<std::string> determiners{"the", "a", "my", "our", "his", "her", "one", "no"},
      others{"finds", "paints", "follows", "watches", "likes", "hears",  "carries", "helps",
             "calls", "draws",  "sleeps",  "waits",   "sings", "dances", "jumps",   "reads",
             "near",  "under",  "behind",  "with",    "by",    "on"};
  int right = 0, swapped = 0, broken = 0;
  for (const TsvRow& row : rows_of(*task, Split::Validation, 1000)) {
    CHECK(row.second.size() <= 62);
    CHECK(row.second.ends_with("."));
    const std::vector<std::string> words = words_of(row.second);
    bool breaks = false;  // a determiner stands before no noun
    for (size_t i = 0; i < words.size(); ++i)
      breaks = breaks ||
               (determiners.contains(words[i]) && (i + 1 == words.size() || others.contains(words[i + 1]) ||
                                                   determiners.contains(words[i + 1])));
    (row.first == "right" ? right : swapped) += 1;
    broken += breaks;
    if (row.first == "right") CHECK_FALSE(breaks);
  }
  CHECK(right + swapped == 1000);
  CHECK(std::abs(right - swapped) < 130);  // four standard deviations
  CHECK(broken > swapped / 3);
}

TEST_CASE("made-up labels: a mood is what the adjectives say, and every class as frequent", "[tasks]") {
  const auto task = make_task(made_up("mood"));
  CHECK(task->classes() == 5);
  const std::set<std::string> praise{"brave", "bold", "happy", "clever", "gentle", "jolly"},
      blame{"quiet", "lazy", "tired", "shy", "loud", "tiny"};
  const char* moods[] = {"very negative", "negative", "neutral", "positive", "very positive"};
  std::map<std::string, int> seen;
  for (const TsvRow& row : rows_of(*task, Split::Validation, 1000)) {
    int mood = 2;
    for (const std::string& word : words_of(row.second))
      mood += static_cast<int>(praise.contains(word)) - static_cast<int>(blame.contains(word));
    CHECK(row.first == moods[std::clamp(mood, 0, 4)]);
    ++seen[row.first];
  }
  for (const auto& [mood, count] : seen) CHECK(std::abs(count - 200) < 51);  // four standard deviations
  for (const double p : task->unigram()) CHECK(std::abs(p - 0.2) < 0.025);
}

TEST_CASE("made-up labels: a seed makes them, and no context is too short to say so", "[tasks]") {
  for (const char* name : {"word-order", "mood"}) {
    const auto task = make_task(made_up(name)), again = make_task(made_up(name)),
               other = make_task(made_up(name, 2));
    CHECK(task->hash() == again->hash());
    CHECK(task->hash() != other->hash());
    const std::vector<TsvRow> rows = rows_of(*task, Split::Train, 8),
                              others = rows_of(*other, Split::Train, 8);
    size_t alike = 0;
    for (size_t i = 0; i < rows.size(); ++i) alike += rows[i].second == others[i].second;
    CHECK(alike <= 1);
    RunSpec spec = spec_with("pre", {{"model.architecture", "encoder"}, {"data.name", name}});
    CHECK(spec.data.form == TaskForm::Classify);
    validate(spec);
    CHECK(unused_reason(spec, "data.seed").empty());
    CHECK_FALSE(unused_reason(spec, "data.valid").empty());
    set_field(spec, "model.pooling", "mean");
    validate(spec);
    set_field(spec, "model.architecture", "decoder");
    CHECK(contains(error_of([&] { validate(spec); }), "a decoder cannot learn " + std::string(name)));
  }
  DataSpec narrow = made_up("mood");
  narrow.context = 1;
  CHECK(contains(error_of([&] { make_task(narrow); }), "expected at least 2"));
}

TEST_CASE("labels: a classifier learns, and says how many it gets right", "[tasks]") {
  const Folder folder;
  std::string text;
  for (const TsvRow& row : labelled(200)) text += row.first + "\t" + row.second + "\n";
  const RunSpec spec = spec_with("pre", {{"model.architecture", "encoder"},
                                         {"data.labels", folder.write("labels.tsv", text)},
                                         {"train.batch", "16"}});
  CHECK(spec.data.form == TaskForm::Classify);
  Run run(spec, make_task(spec.data), shared_backend());
  steps(run, 60);
  CHECK(run.validation_loss() < 0.3);
  CHECK(run.validation_accuracy() > 0.95);
  CHECK(contains(run.sample(1), "\u2190"));
}

TEST_CASE("two columns: what is wrong with a file is said with its line", "[tasks]") {
  const Folder folder;
  const std::string wide = folder.write("wide.tsv", "a\t" + std::string(10'000'000, 'x') + "\n");
  CHECK(contains(error_of([&] { read_tsv(wide, "label<TAB>text"); }), "line 1 has 10000002 bytes"));
  CHECK(contains(error_of([] { read_tsv("no/such/file.tsv", "x"); }), "no such file"));
  CHECK(contains(error_of([] { read_tsv(".", "x"); }), "not a regular file"));
  const auto rows = parse_tsv(
      "\xef\xbb\xbf"
      "a\tb\r\n\nc d\te",
      "test", "x");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == "a");
  CHECK(rows[0].second == "b");
  CHECK(rows[1].first == "c d");
}
