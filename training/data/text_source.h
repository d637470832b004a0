// A text as a stream of tokens with its vocabulary, its letter statistics and its two splits.
//
// Promises: the last 10 % of the tokens are validation, the rest is training, and no window crosses from one to the
// other. hash() tells one text from another, so that a resumed run can refuse foreign data. Any fault of a file is
// reported in one line, with what to do about it. Called by make_task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/utf8.h"

namespace normscope {

/// The distinct Unicode code points of a UTF-8 text, in code point order, numbered from 0.
///
/// Promises: strict UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF, nothing cut off), errors that
/// name the byte offset, two linear passes over the text (50 MB in well under a second).
class Vocabulary {
 public:
  static constexpr int32_t kMaxSymbols = 4096;  // more than this and the embedding outweighs the model

  /// Throws Error on invalid UTF-8 (with the byte offset) and on more than kMaxSymbols distinct code points.
  static Vocabulary from_text(std::string_view text);

  int32_t size() const { return static_cast<int32_t>(symbols_.size()); }
  const std::vector<char32_t>& symbols() const { return symbols_; }

  /// Throws Error on invalid UTF-8 and on a code point outside the vocabulary, with its byte offset.
  std::vector<uint16_t> encode(std::string_view text) const;
  /// Returns text in UTF-8; a number outside the vocabulary becomes U+FFFD.
  std::string decode(std::span<const int32_t> tokens) const;

 private:
  std::vector<char32_t> symbols_;   // token -> code point, ascending
  std::vector<uint16_t> token_of_;  // code point -> token, kAbsent where none
};

enum class Split : uint8_t { Train, Validation };

/// FNV-1a, 64 bits.
uint64_t hash_bytes(std::string_view bytes, uint64_t start = 0xcbf29ce484222325u);

class TextSource {
 public:
  static constexpr size_t kMaxBytes = 50'000'000;
  static constexpr size_t kWindowsPerSplit = 4;  // fewest contexts in a split, see require_context()

  /// `name` begins the error messages (a file name, or a description). Throws Error if the text is empty, not UTF-8,
  /// holds NUL bytes, or has one distinct character only.
  TextSource(std::string_view text, std::string name);
  /// Reads a UTF-8 file: it drops a byte order mark, and CR LF becomes LF. Throws Error as above, and for a
  /// missing, unreadable, special or oversized file.
  static TextSource load(const std::string& path);

  const std::string& name() const { return name_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Spells the whole text again, without byte order mark and carriage returns.
  std::string text() const;
  std::span<const uint16_t> tokens(Split split) const;
  /// The probability of each symbol in the whole text, so that no validation symbol has probability 0.
  /// Its entropy, in nats per symbol, is the loss of a model that knows letter
  /// frequencies only.
  std::span<const double> unigram() const { return unigram_; }
  double unigram_entropy() const;
  uint64_t hash() const { return hash_; }

  /// Throws Error unless each split holds at least four windows of T + 1 tokens.
  void require_context(int32_t T) const;

 private:
  std::string name_;
  Vocabulary vocabulary_;
  std::vector<uint16_t> tokens_;
  std::vector<double> unigram_;
  size_t train_size_ = 0;
  uint64_t hash_ = 0;
};

/// -sum p ln p over the positive entries, in nats.
double entropy_of(std::span<const double> probabilities);

// The TSV reader reads a tab-separated file of two columns: pairs of sentences, or labels and texts. It also reads the
// lines of any text.
//
// Promises: every fault is reported in one line with file and line number (missing, empty, too large, a line too long,
// not UTF-8, not exactly one tab, an empty column); a byte order mark and CR LF are accepted. Called by the tasks.

struct TsvRow {
  std::string first, second;
};

inline constexpr size_t kMaxLineBytes = 65'536, kMaxTextLines = 20'000'000;

/// Reads a file; `columns` describes a row in messages: "source<TAB>target". Throws Error.
std::vector<TsvRow> read_tsv(const std::string& path, std::string_view columns);
/// Reads the same from memory; `name` begins the messages.
std::vector<TsvRow> parse_tsv(std::string_view text, const std::string& name, std::string_view columns);

/// Calls use(line, number) for every line of a text, numbered from 1, without line ends; a last empty
/// line does not count. Throws Error for a line that is too long or not UTF-8, and for too many lines.
void each_line(std::string_view text, const std::string& name,
               const std::function<void(std::string_view, size_t)>& use);

/// The lines of a UTF-8 text file, as each_line() gives them. Throws Error as read_tsv does.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace normscope
