#include "training/data/sequence_task.h"

#include <algorithm>
#include <span>
#include <string>

#include "engine/core/error.h"
#include "training/data/batch_draws.h"

namespace normscope {
namespace {

constexpr std::string_view kNames[] = {"copy", "reverse", "sort"};
// How the 32 symbols and SEP are written.
constexpr std::string_view kGlyphs = "abcdefghijklmnopqrstuvwxyz012345|";

class SequenceTask final : public Task {
 public:
  // Each target is one of n independent uniform symbols, also after sorting, which keeps the multiset. So the symbols
  // are uniform over the targets, SEP never is a target, and the input determines the answer.
  explicit SequenceTask(SequenceRule rule) : Task("symbol", 0.0), rule_(rule) {
    unigram_.assign(kSequenceSymbols + 1, 1.0 / kSequenceSymbols);
    unigram_[kSeparator] = 0;
    hash_ = hash_bytes(name());
  }

  int32_t vocabulary() const override { return kSequenceSymbols + 1; }

  void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T, std::span<int32_t> tokens,
             std::span<int32_t> targets) const override {
    check_batch(B, T, tokens, targets);
    require_context(T);
    each_row(seed, step, split, T, tokens, targets,
             [&](BatchDraws& draws, auto row, auto answers) { fill_row(draws, row, answers); });
  }

  void require_context(int32_t T) const override {
    if (T < 2)
      fail({"data {}", std::string(name())}, "context {}: expected at least 2, one symbol and its answer", T);
  }

  std::string decode(std::span<const int32_t> tokens) const override {
    std::string text;
    for (int32_t token : tokens) {
      text += token >= 0 && token <= kSeparator ? kGlyphs[static_cast<size_t>(token)] : '?';
    }
    return text;
  }

 private:
  std::string_view name() const { return kNames[static_cast<size_t>(rule_)]; }

  // Writes
  //   tokens  = x1 .. xn SEP y1 .. y(n-1)
  //   targets = -1 .. -1 y1  y2 .. yn
  void fill_row(BatchDraws& draws, std::span<int32_t> tokens, std::span<int32_t> targets) const {
    const size_t n = tokens.size() / 2;
    const std::span<int32_t> answer = targets.subspan(n, n);
    for (size_t i = 0; i < n; ++i) {
      tokens[i] = static_cast<int32_t>(draws.below(kSequenceSymbols));
      targets[i] = -1;
      answer[i] = tokens[i];
    }
    if (rule_ == SequenceRule::Reverse) std::ranges::reverse(answer);
    if (rule_ == SequenceRule::Sort) std::ranges::sort(answer);
    tokens[n] = kSeparator;
    std::copy(answer.begin(), answer.end() - 1, tokens.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    if (tokens.size() > 2 * n) {  // odd T: the last answer is read, and no target follows
      tokens[2 * n] = answer.back();
      targets[2 * n] = -1;
    }
  }

  SequenceRule rule_;
};

template <SequenceRule kRule>
constexpr TaskKind kind() {
  constexpr std::string_view kName = kNames[static_cast<size_t>(kRule)];
  return {.name = kName,
          .make =
              [](const DataSpec& data) {
                return data.form == TaskForm::Translate ? make_sequence_translation(kRule, data.context)
                                                        : make_sequence_task(kRule, data.context);
              },
          .learners = "decoder encoder-decoder",
          .unit = "symbol",
          .made_up = kName};
}

constexpr int32_t kWords = 32;  // in each language; English 0..31, the other 32..63
constexpr int32_t kClass = 8;   // words of each class
constexpr std::string_view kEnglish[kWords] = {
    "small", "red",    "green",  "brave", "quiet", "happy", "lazy",   "tired",   // adjectives
    "dog",   "cat",    "bird",   "fox",   "wolf",  "bear",  "child",  "doctor",  // nouns
    "sings", "dances", "sleeps", "waits", "runs",  "reads", "laughs", "paints",  // verbs
    "often", "rarely", "slowly", "alone", "well",  "early", "late",   "again"};  // adverbs
constexpr std::string_view kOther[kWords] = {
    "eta",    "ruga",    "verda",     "brava",   "kvieta", "gaja",  "pigra",   "laca",
    "hundo",  "kato",    "birdo",     "vulpo",   "lupo",   "urso",  "infano",  "kuracisto",
    "kantas", "dancas",  "dormas",    "atendas", "kuras",  "legas", "ridas",   "pentras",
    "ofte",   "malofte", "malrapide", "sole",    "bone",   "frue",  "malfrue", "denove"};
// An English clause is adjective noun verb adverb; the places in the other language: noun adjective adverb verb.
constexpr size_t kPhrase = 4;
constexpr size_t kPlace[kPhrase] = {1, 0, 3, 2};

class FixedTranslation : public Task {
 public:
  using Task::Task;
  TaskForm form() const override { return TaskForm::Translate; }
  BatchShape shape(uint64_t, uint64_t, Split, int32_t B, int32_t T) const override {
    return {B, T, T, false};
  }

  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override {
    check_batch(B, T, to.tokens, to.targets);
    check_batch(B, T, to.source, to.source);
    require_context(T);
    const auto width = static_cast<size_t>(T);
    for (int32_t row = 0; row < B; ++row) {
      BatchDraws draws(seed, step, split, row);
      const size_t start = static_cast<size_t>(row) * width;
      const std::span<int32_t> targets = to.targets.subspan(start, width),
                               tokens = to.tokens.subspan(start, width);
      draw_pair(draws, to.source.subspan(start, width), targets);
      tokens[0] = begin();
      std::copy(targets.begin(), targets.end() - 1, tokens.begin() + 1);
    }
  }

 protected:
  virtual void draw_pair(BatchDraws& draws, std::span<int32_t> source, std::span<int32_t> target) const = 0;
};

class GrammarTranslation final : public FixedTranslation {
 public:
  GrammarTranslation() : FixedTranslation("word", 0.0) {
    hash_ = hash_bytes("translation by the phrase grammar, 1");
    unigram_.assign(static_cast<size_t>(2 * kWords + 1), 0);
    std::fill_n(unigram_.begin() + kWords, kWords, 1.0 / kWords);
  }
  int32_t vocabulary() const override { return 2 * kWords + 1; }
  int32_t begin() const override { return 2 * kWords; }

  void require_context(int32_t T) const override {
    if (T < 4 || T % 4 != 0)
      fail("data translation", "{} positions: expected a multiple of 4, for clauses of four words", T);
  }

  std::string decode(std::span<const int32_t> tokens) const override {
    std::string text;
    for (int32_t token : tokens) {
      if (token == begin()) continue;
      if (!text.empty()) text += ' ';
      if (token >= 0 && token < kWords)
        text += kEnglish[token];
      else if (token >= kWords && token < 2 * kWords)
        text += kOther[token - kWords];
      else
        text += '?';
    }
    return text;
  }

 private:
  void draw_pair(BatchDraws& draws, std::span<int32_t> source, std::span<int32_t> target) const override {
    for (size_t i = 0; i < source.size(); ++i) {
      const size_t kind = i % kPhrase;
      source[i] = static_cast<int32_t>(kind) * kClass + static_cast<int32_t>(draws.below(kClass));
      target[i - kind + kPlace[kind]] = kWords + source[i];
    }
  }
};

class SequenceTranslation final : public FixedTranslation {
 public:
  explicit SequenceTranslation(SequenceRule rule)
      : FixedTranslation("symbol", 0.0), rule_(rule), symbols_(make_sequence_task(rule, 2)) {
    hash_ = symbols_->hash() ^ hash_bytes("translation");
    unigram_.assign(kSequenceSymbols + 1, 1.0 / kSequenceSymbols);
    unigram_[kSeparator] = 0;
  }
  int32_t vocabulary() const override { return kSequenceSymbols + 1; }
  int32_t begin() const override { return kSeparator; }
  void require_context(int32_t T) const override { symbols_->require_context(T); }
  std::string decode(std::span<const int32_t> tokens) const override {
    return symbols_->decode(tokens.subspan(!tokens.empty() && tokens[0] == begin() ? 1 : 0));
  }

 private:
  void draw_pair(BatchDraws& draws, std::span<int32_t> source, std::span<int32_t> target) const override {
    for (int32_t& symbol : source) symbol = static_cast<int32_t>(draws.below(kSequenceSymbols));
    std::ranges::copy(source, target.begin());
    if (rule_ == SequenceRule::Reverse) std::ranges::reverse(target);
    if (rule_ == SequenceRule::Sort) std::ranges::sort(target);
  }

  SequenceRule rule_;
  std::shared_ptr<const Task> symbols_;  // knows how the symbols are written
};

}  // namespace

constinit const TaskKind kCopyKind = kind<SequenceRule::Copy>(), kReverseKind = kind<SequenceRule::Reverse>(),
                         kSortKind = kind<SequenceRule::Sort>();

std::shared_ptr<const Task> make_sequence_task(SequenceRule rule, int32_t context) {
  auto task = std::make_shared<SequenceTask>(rule);
  task->require_context(context);
  return task;
}

constinit const TaskKind kTranslationKind{
    .name = "translation",
    .make = [](const DataSpec& data) { return make_grammar_translation(data.context); },
    .learners = "encoder-decoder",
    .unit = "word",
    .made_up = "made-up translation"};

std::shared_ptr<const Task> make_grammar_translation(int32_t context) {
  auto task = std::make_shared<GrammarTranslation>();
  task->require_context(context);
  return task;
}

std::shared_ptr<const Task> make_sequence_translation(SequenceRule rule, int32_t context) {
  auto task = std::make_shared<SequenceTranslation>(rule);
  task->require_context(context);
  return task;
}

}  // namespace normscope
