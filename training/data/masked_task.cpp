// See masked_task.h.
#include "training/data/masked_task.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/corpus.h"

namespace normscope {
namespace {

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
