#include "training/data/byte_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/corpus.h"

namespace normscope {
namespace {

constexpr const char* kLabelColumns = "label<TAB>text";

// ---- made-up sets

constexpr size_t kLongestSentence = 62;  // behind FIRST it fits a context of 64
constexpr size_t kMadeUpTrain = 5000, kMadeUpValid = 1000;

/// The sentences of the built-in grammar, one after the other.
class Sentences {
 public:
  explicit Sentences(uint64_t seed) : seed_(seed) {}
  std::string next() {
    std::string text;
    do {
      text.clear();
      corpus_grammar().append_sentence(seed_, index_++, text);
      text.pop_back();  // the blank behind the full stop
    } while (text.size() > kLongestSentence);
    return text;
  }

 private:
  uint64_t seed_, index_ = 0;
};

/// The parts of `text`, without its marks.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" ,.", at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

TsvRow word_order_line(Sentences& sentences, BatchDraws& draws) {
  const std::string sentence = sentences.next();
  if (draws.below(2) == 0) return {"right", sentence};
  const std::string_view text = sentence;
  const std::vector<std::string_view> words = words_of(text);
  size_t at = 0;
  do at = draws.below(words.size() - 1);
  while (words[at] == words[at + 1]);  // swapping "a lazy lazy dog" would change nothing
  const std::string_view first = words[at], second = words[at + 1];
  const auto begin = static_cast<size_t>(first.data() - text.data()), between = begin + first.size(),
             next = static_cast<size_t>(second.data() - text.data());
  return {"swapped",
          fmt::format("{}{}{}{}{}", text.substr(0, begin), second, text.substr(between, next - between),
                      first, text.substr(next + second.size()))};
}

constexpr std::array<std::string_view, 6> kPraise{"brave", "bold", "happy", "clever", "gentle", "jolly"},
    kBlame{"quiet", "lazy", "tired", "shy", "loud", "tiny"};
constexpr std::array kMoods{"very negative", "negative", "neutral", "positive", "very positive"};

size_t mood_of(std::string_view text) {
  std::ptrdiff_t mood = 2;
  for (const std::string_view word : words_of(text))
    mood += std::ranges::count(kPraise, word) - std::ranges::count(kBlame, word);
  return static_cast<size_t>(std::clamp<std::ptrdiff_t>(mood, 0, 4));
}

/// Draws the class first, then takes the next sentence of that class: rare classes are as frequent as others.
TsvRow mood_line(Sentences& sentences, BatchDraws& draws) {
  const size_t wanted = draws.below(kMoods.size());
  std::string text;
  do text = sentences.next();
  while (mood_of(text) != wanted);
  return {kMoods[wanted], text};
}

std::shared_ptr<const Task> make_made_up_labels(const DataSpec& spec) {
  const uint64_t seed = hash_bytes(spec.name) ^ spec.data_seed;
  Sentences sentences(seed);
  std::vector<TsvRow> train, valid;
  for (size_t i = 0; i < kMadeUpTrain + kMadeUpValid; ++i) {
    BatchDraws draws(seed, i, Split::Train, 0);
    (i < kMadeUpTrain ? train : valid)
        .push_back(spec.name == "mood" ? mood_line(sentences, draws) : word_order_line(sentences, draws));
  }
  return std::make_shared<LabelsTask>(std::move(train), std::move(valid), spec.name, spec.context);
}

std::shared_ptr<const Task> make_labels_task(const DataSpec& spec) {
  if (spec.labels_path.empty())
    fail("data", "the task \"labels\" needs a file: give one of lines {}", kLabelColumns);
  std::vector<TsvRow> train = read_tsv(spec.labels_path, kLabelColumns), valid;
  if (!spec.valid_path.empty()) valid = read_tsv(spec.valid_path, kLabelColumns);
  return std::make_shared<LabelsTask>(std::move(train), std::move(valid), spec.labels_path, spec.context);
}

constexpr TaskKind made_up_kind(std::string_view name) {
  return {.name = name,
          .make = make_made_up_labels,
          .learners = "encoder",
          .unit = "label",
          .made_up = name,
          .seeded = true,
          .labelled = true};
}

class MaskedTask final : public Task {
 public:
  MaskedTask(std::string text, std::string name)
      : Task("byte"), text_(std::move(text)), name_(std::move(name)) {
    train_size_ = text_.size() - text_.size() / 10;
    unigram_.assign(kByteSymbols, 0);
    for (unsigned char byte : text_) unigram_[byte] += 1.0 / static_cast<double>(text_.size());
    hash_ = hash_bytes(text_, hash_bytes("masked"));
  }

  int32_t vocabulary() const override { return kByteSymbols; }
  TaskForm form() const override { return TaskForm::Masked; }

  void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T, std::span<int32_t> tokens,
             std::span<int32_t> targets) const override {
    check_batch(B, T, tokens, targets);
    require_context(T);
    each_row(seed, step, split, T, tokens, targets, [&](BatchDraws& draws, auto row, auto answers) {
      fill_row(draws, text_of(split), row, answers);
    });
  }

  void require_context(int32_t T) const override {
    if (T < 2) fail({"data {}", name_}, "context {}: expected at least 2, a mark and a symbol", T);
    const size_t needed = TextSource::kWindowsPerSplit * static_cast<size_t>(T);
    if (text_.size() - train_size_ < needed)
      fail({"data {}", name_}, "{} bytes are too few for a context of {}: expected at least {}", text_.size(),
           T, 10 * needed);
  }

  std::string decode(std::span<const int32_t> tokens) const override { return decode_bytes(tokens); }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> tokens{kByteFirst};
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }

 private:
  std::string_view text_of(Split split) const {
    const std::string_view all = text_;
    return split == Split::Train ? all.substr(0, train_size_) : all.substr(train_size_);
  }

  void fill_row(BatchDraws& draws, std::string_view text, std::span<int32_t> tokens,
                std::span<int32_t> targets) const {
    const size_t symbols = tokens.size() - 1;
    const size_t from = draws.below(text.size() - symbols + 1);
    const auto symbol = [&](size_t at) { return static_cast<int32_t>(static_cast<unsigned char>(text[at])); };
    tokens[0] = kByteFirst;
    for (size_t i = 0; i < symbols; ++i) tokens[i + 1] = symbol(from + i);
    hide_words(
        draws, tokens, targets, kByteMask, [](int32_t token) { return token != kByteFirst; },
        [&] { return symbol(draws.below(text.size())); });
  }

  std::string text_, name_;
  size_t train_size_ = 0;
};

}  // namespace

constinit const TaskKind kLabelsKind{
    .name = "labels",
    .make = make_labels_task,
    .learners = "encoder",
    .unit = "label",
    .file = "data.labels",
    .path = [](const DataSpec& spec) -> const std::string& { return spec.labels_path; },
    .labelled = true,
    .takes_validation = true,
    .flag_help = "labelled texts, label<TAB>text: an encoder that classifies"};
constinit const TaskKind kWordOrderKind = made_up_kind("word-order"), kMoodKind = made_up_kind("mood");

LabelsTask::LabelsTask(std::vector<TsvRow> train, std::vector<TsvRow> valid, std::string name,
                       int32_t context)
    : Task("label"), name_(std::move(name)), holds_out_(valid.empty()) {
  if (holds_out_) valid = held_out(train, train.size() / 5);
  for (const TsvRow& row : train) labels_.push_back(row.first);
  std::ranges::sort(labels_);
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
  if (labels_.size() < 2 || labels_.size() > 1000)
    fail({"data {}", name_}, "{} different labels: expected 2 to 1000", labels_.size());
  hash_ = hash_bytes("labels");
  const auto take = [&](const std::vector<TsvRow>& rows, std::vector<Line>& lines) {
    for (const TsvRow& row : rows) {
      lines.push_back({row.second, label_of(row.first)});
      hash_ = hash_bytes(row.second, hash_bytes(row.first, hash_));
    }
  };
  take(train, train_);
  take(valid, valid_);
  require_context(context);
  unigram_.assign(labels_.size(), 0);
  for (const Line& line : train_)
    unigram_[static_cast<size_t>(line.label)] += 1.0 / static_cast<double>(train_.size());
}

int32_t LabelsTask::label_of(const std::string& label) const {
  const auto at = std::ranges::lower_bound(labels_, label);
  if (at == labels_.end() || *at != label) {
    const std::string known = fmt::format(
        "{}",
        fmt::join(labels_.begin(), labels_.begin() + std::min<std::ptrdiff_t>(8, std::ssize(labels_)), ", "));
    if (!holds_out_)
      fail({"data {}", name_}, "the label '{}' occurs in the validation lines only: expected one of {}",
           label, known);
    fail(
        {"data {}", name_},
        "the label '{}' occurs in the validation lines only, which are the last fifth of the file (mix its lines, or give others to validate on): expected one of {}",
        label, known);
  }
  return static_cast<int32_t>(at - labels_.begin());
}

std::string LabelsTask::note() const {
  const int32_t first = valid_.front().label;
  if (!std::ranges::all_of(valid_, [&](const Line& line) { return line.label == first; })) return {};
  return fmt::format(
      "all validation lines are of the class '{}', and so is the accuracy: mix the lines of the file, or give "
      "others with --valid",
      class_name(first));
}

int32_t LabelsTask::vocabulary() const { return kByteSymbols; }

void LabelsTask::require_context(int32_t T) const {
  if (T < 2) fail({"data {}", name_}, "context {}: expected at least 2, a mark and a symbol", T);
  if (train_.empty() || valid_.empty())
    fail({"data {}", name_}, "{} lines: expected at least 5, or a file for validation",
         train_.size() + valid_.size());
}

// One shape for all batches: texts are short, and their lengths mask the padding.
BatchShape LabelsTask::shape(uint64_t, uint64_t, Split, int32_t B, int32_t T) const {
  return {B, T, 0, true};
}

int32_t LabelsTask::validation_batches(int32_t B, int32_t) const { return batches_of(valid_.size(), B); }

void LabelsTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t context,
                      const BatchView& to) const {
  const std::vector<Line>& lines = lines_of(split);
  const auto T = static_cast<size_t>(context);
  std::ranges::fill(to.targets, -1);
  std::ranges::fill(to.tokens, kBytePad);
  for (size_t r = 0; r < static_cast<size_t>(B); ++r) {
    const size_t at = example_of(seed, step, split, B, r, lines.size());
    const Line* line = at < lines.size() ? &lines[at] : nullptr;
    const std::string_view text = line ? std::string_view(line->text).substr(0, T - 1) : std::string_view();
    to.tokens[r * T] = kByteFirst;
    for (size_t i = 0; i < text.size(); ++i) to.tokens[r * T + i + 1] = static_cast<unsigned char>(text[i]);
    to.key_lengths[r] = static_cast<int32_t>(text.size() + 1);
    if (line) to.targets[r * T] = line->label;
  }
}

std::string LabelsTask::decode(std::span<const int32_t> tokens) const { return decode_bytes(tokens); }

void hide_words(BatchDraws& draws, std::span<int32_t> tokens, std::span<int32_t> targets, int32_t mark,
                const std::function<bool(int32_t)>& may_ask, const std::function<int32_t()>& another) {
  const auto ask = [&](size_t at) {
    targets[at] = tokens[at];
    const uint64_t tenth = draws.below(10);
    if (tenth < 8 && mark >= 0) tokens[at] = mark;
    if (tenth == 8) tokens[at] = another();
  };
  std::ranges::fill(targets, -1);
  const auto words = static_cast<uint64_t>(std::ranges::count_if(tokens, may_ask));
  if (words == 0) return;
  bool any = false;
  for (size_t at = 0; at < tokens.size(); ++at)
    if (may_ask(tokens[at]) && draws.below(100) < 15) {
      ask(at);
      any = true;
    }
  if (any) return;
  uint64_t left = draws.below(words);
  for (size_t at = 0; at < tokens.size(); ++at)
    if (may_ask(tokens[at]) && left-- == 0) return ask(at);
}

std::string decode_bytes(std::span<const int32_t> tokens) {
  std::string bytes, text;
  for (int32_t token : tokens) {
    if (token >= 0 && token < 256) bytes += static_cast<char>(token);
    if (token == kByteMask) bytes += '_';
  }
  for (size_t at = 0; at < bytes.size();) {
    const CodePoint point = read_code_point(bytes, at);
    append_utf8(point.bytes > 0 ? point.value : 0xfffd, text);
    at += static_cast<size_t>(point.bytes > 0 ? point.bytes : 1);
  }
  return text;
}

std::shared_ptr<const Task> make_masked_task(const DataSpec& spec) {
  std::shared_ptr<MaskedTask> task;
  if (spec.name == "corpus") {
    task = std::make_shared<MaskedTask>(corpus_text(spec.data_seed, kCorpusLetters), "corpus");
  } else if (spec.name == "text") {
    const TextSource source = TextSource::load(spec.text_path);
    task = std::make_shared<MaskedTask>(source.text(), source.name());
  } else {
    fail("data", "\"{}\" cannot be masked: expected corpus or text for a masked language model", spec.name);
  }
  task->require_context(spec.context);
  return task;
}

}  // namespace normscope
