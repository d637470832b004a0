#include "addons/published/training/token_task.h"

#include <algorithm>
#include <set>
#include <utility>

#include "addons/published/training/model_folder.h"
#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/byte_tasks.h"

namespace normscope {
namespace {

constexpr int32_t kMaxSymbols = 1 << 24;

/// The vocabulary of config.json, which may exceed the tokenizer's; 0: it has none.
int32_t vocabulary_of(const std::string& folder) {
  const auto config = published::config_of(folder);
  const auto size = config ? config->find("vocab_size") : std::nullopt;
  return size ? size->whole(1, kMaxSymbols) : 0;
}

class TokenTask final : public Task {
 public:
  // `held`: tokens at the end for validation; 0: validation reads the training tokens.
  TokenTask(TextTokens symbols, std::vector<int32_t> tokens, size_t held, const std::string& name,
            const DataSpec& spec)
      : Task("token"),
        symbols_(std::move(symbols)),
        tokens_(std::move(tokens)),
        held_(held),
        name_(name),
        form_(spec.form),
        kinds_(spec.token_types),
        typed_(!symbols_.types(tokens_, kinds_).empty()) {
    unigram_.assign(static_cast<size_t>(symbols_.vocabulary()), 0);
    for (const int32_t token : std::set<int32_t>(tokens_.begin(), tokens_.end()))
      if (symbols_.is_special(token)) special_.push_back(token);
    for (const int32_t token : tokens_)
      unigram_[static_cast<size_t>(token)] += 1.0 / static_cast<double>(tokens_.size());
    hash_ = hash_bytes({reinterpret_cast<const char*>(tokens_.data()), tokens_.size() * sizeof(int32_t)},
                       hash_bytes(form_ == TaskForm::Masked ? "masked tokens" : "tokens"));
  }

  int32_t vocabulary() const override { return symbols_.vocabulary(); }
  TaskForm form() const override { return form_; }

  BatchShape shape(uint64_t, uint64_t, Split split, int32_t B, int32_t T) const override {
    return {.rows = B,
            .length = static_cast<int32_t>(std::min(text_of(split).size(), static_cast<size_t>(T))),
            .typed = typed_};
  }

  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override {
    const int32_t length = shape(seed, step, split, B, T).length;
    check_batch(B, length, to.tokens, to.targets);
    const std::span<const int32_t> text = text_of(split);
    const auto width = static_cast<size_t>(length);
    const bool begins = held_ == 0 && split == Split::Validation;
    for (int32_t row = 0; row < B; ++row) {
      BatchDraws draws(seed, step, split, row);
      const size_t from = begins ? 0 : draws.below(text.size() - width + 1);
      const size_t first = static_cast<size_t>(row) * width;
      fill_row(draws, text, from, to.tokens.subspan(first, width), to.targets.subspan(first, width));
      if (!to.types.empty()) fill_types(text.subspan(from, width), to.types.subspan(first, width));
    }
  }

  int32_t validation_batches(int32_t B, int32_t T) const override {
    return held_ == 0 ? 1 : Task::validation_batches(B, T);
  }

  void require_context(int32_t T) const override {
    const int32_t needed = held_ == 0 ? 2 : 10 * (T + 1);
    if (tokens_.size() < static_cast<size_t>(needed))
      fail({"data {}", name_}, "{} tokens are too few for a context of {}: expected at least {}",
           tokens_.size(), T, needed);
  }

  std::string decode(std::span<const int32_t> tokens) const override { return symbols_.decode(tokens); }
  std::vector<int32_t> encode(std::string_view text) const override { return symbols_.encode(text); }
  std::string label(int32_t token) const override { return symbols_.label(token); }
  std::vector<int32_t> types(std::span<const int32_t> tokens) const override {
    return symbols_.types(tokens, kinds_);
  }

 private:
  std::span<const int32_t> text_of(Split split) const {
    const std::span<const int32_t> all = tokens_;
    if (held_ == 0) return all;
    return split == Split::Train ? all.first(all.size() - held_) : all.last(held_);
  }

  /// The types of a window, whose sentences are counted from its own beginning.
  void fill_types(std::span<const int32_t> window, std::span<int32_t> types) const {
    const std::vector<int32_t> found = symbols_.types(window, kinds_);
    std::ranges::fill(types, 0);
    std::ranges::copy(found, types.begin());
  }

  void fill_row(BatchDraws& draws, std::span<const int32_t> text, size_t from, std::span<int32_t> tokens,
                std::span<int32_t> targets) const {
    for (size_t t = 0; t < tokens.size(); ++t) {
      const size_t at = from + t;
      tokens[t] = text[at];
      targets[t] = at + 1 < text.size() ? text[at + 1] : -1;  // nothing follows the last token
    }
    if (form_ != TaskForm::Masked) return;
    hide_words(
        draws, tokens, targets, symbols_.mask(),
        [&](int32_t token) { return !std::ranges::binary_search(special_, token); },
        [&] { return text[draws.below(text.size())]; });
  }

  TextTokens symbols_;
  std::vector<int32_t> tokens_;
  size_t held_;
  std::string name_;
  TaskForm form_;
  int32_t kinds_;
  bool typed_;                    // the text has more than one sentence, and the model tells them apart
  std::vector<int32_t> special_;  // special tokens of the text, sorted
};

void check_passage(const DataSpec& data) {
  if (passage_of(data).empty() || data.tokenizer_path.empty())
    fail(
        passage_of(data).empty() ? "data.passage" : "data.tokenizer",
        "nothing is given: expected a text and the folder of a published model, because data.name is passage");
}

}  // namespace

constinit const TaskKind kPassageKind{.name = "passage",
                                      .make = make_token_task,
                                      .learners = "decoder encoder",
                                      .unit = "token",
                                      .takes_tokenizer = true,
                                      .check = check_passage,
                                      .also = [](const DataSpec& data) {
                                        return data.name == "text" && !data.text_path.empty() &&
                                               !data.tokenizer_path.empty();
                                      }};

std::vector<int32_t> token_numbers(std::string text, const std::function<void(const std::string&)>& refuse) {
  for (const char sign : {',', '[', ']'}) std::ranges::replace(text, sign, ' ');
  constexpr const char* kBlanks = " \t\n";
  std::vector<int32_t> numbers;
  for (size_t at = text.find_first_not_of(kBlanks); at < text.size();) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string word = text.substr(at, end - at);
    if (word.find_first_not_of("0123456789") != word.npos || word.size() > 9) refuse(word);
    numbers.push_back(std::stoi(word));
    at = std::min(text.find_first_not_of(kBlanks, end), text.size());
  }
  return numbers;
}

TextTokens::TextTokens(const std::string& folder) : folder_(folder), vocabulary_(vocabulary_of(folder)) {
  if (tokenizer::has_tokenizer(folder)) tokenizer_ = tokenizer::PublishedTokenizer::load(folder);
  if (!tokenizer_ && vocabulary_ == 0)
    fail("data", "{} has neither a tokenizer nor a config.json: expected the folder of a published model",
         folder);
  if (!tokenizer_) return;
  if (vocabulary_ == 0) vocabulary_ = tokenizer_->end();
  for (const char* name : {"[MASK]", "<mask>"})
    if (const auto id = tokenizer_->id_of(name)) mask_ = *id;
}

std::vector<int32_t> TextTokens::encode(std::string_view text) const {
  const auto refuse = [&](const std::string& word) {
    fail("text",
         "{} has no tokenizer, and {} is no number of a token: expected whole numbers from 0, such as 5 17 3",
         folder_, shown_text(word));
  };
  std::vector<int32_t> tokens =
      tokenizer_ ? tokenizer_->encode(text) : token_numbers(std::string(text), refuse);
  for (const int32_t token : tokens)
    if (token >= vocabulary_)
      fail("text", "token {} is beyond the model's table of symbols: expected 0 to {}", token,
           vocabulary_ - 1);
  return tokens;
}

std::vector<int32_t> TextTokens::types(std::span<const int32_t> tokens, int32_t kinds) const {
  return tokenizer_ ? tokenizer_->types(tokens, kinds) : std::vector<int32_t>();
}

std::string TextTokens::decode(std::span<const int32_t> tokens) const {
  if (tokenizer_) return tokenizer_->decode(tokens);
  std::string text;
  for (const int32_t token : tokens) text += (text.empty() ? "" : " ") + std::to_string(token);
  return text;
}

std::string TextTokens::label(int32_t token) const {
  if (!tokenizer_) return std::to_string(token);
  const std::string text = tokenizer_->decode(std::span(&token, 1), tokenizer::Special::Kept);
  return text.empty() ? tokenizer_->token_of(token).value_or(std::to_string(token)) : text;
}

bool TextTokens::is_special(int32_t token) const {
  return tokenizer_ && tokenizer_->decode(std::span(&token, 1)).empty() &&
         !tokenizer_->decode(std::span(&token, 1), tokenizer::Special::Kept).empty();
}

std::shared_ptr<const Task> make_token_task(const DataSpec& spec) {
  TextTokens symbols(spec.tokenizer_path);
  const bool passage = spec.name == "passage";
  std::vector<int32_t> tokens =
      symbols.encode(passage ? passage_of(spec) : TextSource::load(spec.text_path).text());
  const size_t held = passage ? 0 : tokens.size() / 10;
  auto task = std::make_shared<TokenTask>(std::move(symbols), std::move(tokens), held,
                                          passage ? "passage" : spec.text_path, spec);
  task->require_context(spec.context);
  return task;
}

}  // namespace normscope
