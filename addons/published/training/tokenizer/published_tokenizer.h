// The tokenizer of a published checkpoint: it encodes to the same numbers and decodes to the same text as the library
// tokenizers.
//
// It reads tokenizer.json, in which a tokenizer is composed of components (normalizer, pre-tokenizer, model,
// post-processor, decoder, added tokens), or the older vocab.json with merges.txt, and vocab.txt, or a GGUF file. A
// component, an option or a regular expression that is not known is refused by name. Truncation and padding are left
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

/// Whether a folder has the files of a tokenizer that PublishedTokenizer reads.
bool has_tokenizer(const std::string& folder);

class PublishedTokenizer {
 public:
  /// Reads a folder with tokenizer.json or the older files, a GGUF file, or a tokenizer.json itself. Throws Error.
  static PublishedTokenizer load(const std::string& path);
  /// Reads a tokenizer.json from memory; `name` stands for the file in errors.
  static PublishedTokenizer parse(std::string_view json, const std::string& name);

  /// With Special::Kept, adds begin and end around the text; special tokens in the text are found either way. Bytes
  /// that are not UTF-8 are read as U+FFFD. Throws Error for a character that the model cannot encode.
  std::vector<int32_t> encode(std::string_view text, Special around = Special::Kept) const;
  /// Skips numbers without a token.
  std::string decode(std::span<const int32_t> ids, Special special = Special::LeftOut) const;

  /// The segment type of each symbol, for a model with `kinds` types, as BERT has for two sentences: the number of
  /// [SEP] before the symbol, at most kinds - 1. Empty where all are 0.
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
