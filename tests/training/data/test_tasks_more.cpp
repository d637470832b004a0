// These tests cover masked language modelling, made-up translation, labelled texts, two-column files: what a batch is,
// and clear refusals.
#include <cctype>
#include <cstdio>

#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/byte_tasks.h"
#include "training/data/sequence_task.h"
#include "training/data/text_source.h"
#include "training/spec/spec.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

struct File {
  explicit File(const std::string& text, std::string name = "tasks_more.tsv") : path(std::move(name)) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~File() { std::remove(path.c_str()); }
  std::string path;
};

std::string refusal(const std::string& text) {
  const File file(text);
  return error_of([&] { read_tsv(file.path, "label<TAB>text"); });
}

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
  CHECK_FALSE(test::contains(other, "?"));
  CHECK(has(error_of([] { make_grammar_translation(18); }), "multiple of 4"));
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
  CHECK(has(error_of([] {
              LabelsTask(std::vector<TsvRow>(9, {"one", "text"}), {}, "x.tsv", 16);
            }),
            "1 different labels"));
  CHECK(has(error_of([] { LabelsTask(labelled(9), {{"sideways", "text"}}, "x.tsv", 16); }), "'sideways'"));
  CHECK(has(error_of([] { LabelsTask(labelled(2), {}, "x.tsv", 16); }), "at least 5"));
}

TEST_CASE("labels: a file sorted by class says what its end validates on", "[tasks]") {
  std::vector<TsvRow> sorted = labelled(40);
  std::ranges::stable_sort(sorted, {}, &TsvRow::first);
  const LabelsTask one(sorted, {}, "t", 16), both(labelled(40), {}, "t", 16);
  CHECK(has(one.note(), "all validation lines are of the class 'up'"));
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
    RunSpec spec = small_spec("pre");
    set_field(spec, "model.architecture", "encoder");
    set_field(spec, "data.name", name);
    CHECK(spec.data.form == TaskForm::Classify);
    validate(spec);
    CHECK(unused_reason(spec, "data.seed").empty());
    CHECK_FALSE(unused_reason(spec, "data.valid").empty());
    set_field(spec, "model.pooling", "mean");
    validate(spec);
    set_field(spec, "model.architecture", "decoder");
    CHECK(has(error_of([&] { validate(spec); }), "a decoder cannot learn " + std::string(name)));
  }
  DataSpec narrow = made_up("mood");
  narrow.context = 1;
  CHECK(has(error_of([&] { make_task(narrow); }), "expected at least 2"));
}

TEST_CASE("labels: a classifier learns, and says how many it gets right", "[tasks]") {
  const File file([] {
    std::string text;
    for (const TsvRow& row : labelled(200)) text += row.first + "\t" + row.second + "\n";
    return text;
  }());
  RunSpec spec = small_spec("pre");
  set_field(spec, "model.architecture", "encoder");
  set_field(spec, "data.labels", file.path);
  set_field(spec, "train.batch", "16");
  CHECK(spec.data.form == TaskForm::Classify);
  Run run(spec, make_task(spec.data), shared_backend());
  steps(run, 60);
  CHECK(run.validation_loss() < 0.3);
  CHECK(run.validation_accuracy() > 0.95);
  CHECK(has(run.sample(1), "\u2190"));
}

TEST_CASE("two columns: what is wrong with a file is said with its line", "[tasks]") {
  CHECK(has(refusal("a\t" + std::string(10'000'000, 'x') + "\n"), "line 1 has 10000002 bytes"));
  CHECK(has(error_of([] { read_tsv("no/such/file.tsv", "x"); }), "no such file"));
  CHECK(has(error_of([] { read_tsv(".", "x"); }), "not a regular file"));
  const auto rows = parse_tsv(
      "\xef\xbb\xbf"
      "a\tb\r\n\nc d\te",
      "test", "x");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == "a");
  CHECK(rows[0].second == "b");
  CHECK(rows[1].first == "c d");
}

}  // namespace normscope::test
