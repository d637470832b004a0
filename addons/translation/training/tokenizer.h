// Joint byte-pair encoding (Sennrich et al. 2016) by SentencePiece: one vocabulary for both languages.
//
// Symbols: 0 padding, 1 unknown, 2 begin, 3 end, then the pieces. Training is a pure function of the sentences and
// the size. Where the program was built without SentencePiece, making or loading a Tokenizer throws Error and says so.
#pragma once

#include "engine/io/input_file.h"

namespace normscope {

namespace input {
inline constexpr InputKind kTokenizer{"tokenizer", "a SentencePiece model", 64'000'000};
}

class Tokenizer {
 public:
  static constexpr int32_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3;

  /// Throws Error when the sentences are too few for `vocabulary` pieces, unless `or_fewer`.
  static Tokenizer train(const std::vector<std::string_view>& sentences, int32_t vocabulary,
                         bool or_fewer = false);
  /// Reads a SentencePiece model file, which must have been made by train(). Throws Error.
  static Tokenizer load(const std::string& path);
  /// Reads the same from memory; `name` stands for the file in errors.
  static Tokenizer parse(std::string model, const std::string& name);
  void save(const std::string& path) const;  ///< atomic

  int32_t vocabulary() const;
  std::vector<int32_t> encode(std::string_view text) const;  ///< without begin and end
  /// Reads up to the first end, and omits begin and padding.
  std::string decode(std::span<const int32_t> symbols) const;
  const std::string& model() const { return model_; }  ///< serialised

 private:
  struct Impl;
  explicit Tokenizer(std::string model);
  std::string model_;
  std::shared_ptr<const Impl> impl_;
};

/// Empty where SentencePiece was built in, else says why not.
std::string tokenizer_unavailable();

}  // namespace normscope
