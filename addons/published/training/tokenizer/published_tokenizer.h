// The tokenizer of a published checkpoint: it gives the numbers that the library tokenizers
// gives, and the text that this makes of numbers.
//
// It reads tokenizer.json, in which a tokenizer is put together of components (normalizer, pre-tokenizer, model,
// post-processor, decoder, added tokens), or the older vocab.json with merges.txt, and vocab.txt, or a GGUF file. A
// component, an option or a regular expression that is not known is refused by name. What cuts and pads batches is left
// to the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::tokenizer {

enum class Special { LeftOut, Kept };

/// Whether a folder has the files of one that PublishedTokenizer reads.
bool has_tokenizer(const std::string& folder);

class PublishedTokenizer {
 public:
  /// Reads a folder with tokenizer.json or the older files, a GGUF file, or a tokenizer.json itself. Throws Error.
  static PublishedTokenizer load(const std::string& path);
  /// Reads a tokenizer.json from memory; `name` stands for the file in errors.
  static PublishedTokenizer parse(std::string_view json, const std::string& name);

  /// Puts begin and end around the text where they are asked for; special tokens in the text are found either
  /// way. What is no UTF-8 is read as U+FFFD. Throws Error for a character that the model has nothing for.
  std::vector<int32_t> encode(std::string_view text, Special around = Special::Kept) const;
  /// Passes over numbers of no token.
  std::string decode(std::span<const int32_t> ids, Special special = Special::LeftOut) const;

  /// The kinds that the symbols of a text have in a model that knows so many, as BERT does of two sentences:
  /// a symbol's is how many [SEP] stand before it, the last where there are more. Empty where all are of one kind.
  std::vector<int32_t> types(std::span<const int32_t> ids, int32_t kinds) const;

  std::optional<int32_t> id_of(std::string_view token) const;
  std::optional<std::string> token_of(int32_t id) const;
  int32_t end() const;  ///< one more than the largest number; there may be gaps

 private:
  struct Parts;
  explicit PublishedTokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace normscope::tokenizer
