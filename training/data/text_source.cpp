// This loads, checks and splits a text. See text_source.h.
#include "training/data/text_source.h"

#include <cmath>
#include <utility>

#include "engine/core/error.h"
#include "training/io/input_file.h"

namespace normscope {
namespace {

static_assert(TextSource::kMaxBytes == input::kText.limit);

void refuse_binary(std::string_view text, const std::string& where) {
  if (text.empty()) fail(where, "is empty: expected a UTF-8 text");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    fail(where, "is UTF-16: convert it to UTF-8 (iconv -f utf-16 -t utf-8)");
  }
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    fail(where, "is not a text: NUL byte at byte {}; expected a UTF-8 text file", zero);
  }
}

// `refuse_invalid_utf8` runs before the text is tidied, so that byte offsets in messages are those of the file.
void refuse_invalid_utf8(std::string_view text, const std::string& where) {
  for (size_t offset = 0; offset < text.size();) {
    if (static_cast<unsigned char>(text[offset]) < 0x80) {
      ++offset;
      continue;
    }
    const CodePoint point = read_code_point(text, offset);
    if (point.bytes == 0) {
      fail(where,
           "is not valid UTF-8 at byte {} (0x{:02x}): convert it first, for example iconv -f latin1 -t utf-8",
           offset, static_cast<unsigned char>(text[offset]));
    }
    offset += static_cast<size_t>(point.bytes);
  }
}

void tidy(std::string& text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  size_t kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[kept++] = text[i];
  }
  text.resize(kept);
}

std::vector<double> frequencies(std::span<const uint16_t> tokens, int32_t symbols) {
  std::vector<double> counts(static_cast<size_t>(symbols), 0.0);
  for (uint16_t token : tokens) counts[token] += 1;
  for (double& count : counts) count /= static_cast<double>(tokens.size());
  return counts;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t start) {
  uint64_t hash = start;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

double entropy_of(std::span<const double> probabilities) {
  double entropy = 0;
  for (double p : probabilities) {
    if (p > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

std::string TextSource::text() const {
  std::string text;
  for (const uint16_t token : tokens_) append_utf8(vocabulary_.symbols()[token], text);
  return text;
}

TextSource::TextSource(std::string_view text, std::string name) : name_(std::move(name)) {
  const std::string where = "text " + name_;
  refuse_binary(text, where);
  refuse_invalid_utf8(text, where);
  try {
    vocabulary_ = Vocabulary::from_text(text);
  } catch (const Error& error) {
    throw Error("[" + where + std::string(error.what()).substr(sizeof("[text") - 1));
  }
  if (vocabulary_.size() < 2) fail(where, "holds one character only: expected a text");
  tokens_ = vocabulary_.encode(text);
  train_size_ = tokens_.size() - tokens_.size() / 10;
  unigram_ = frequencies(tokens_, vocabulary_.size());
  hash_ = hash_bytes(text);
}

TextSource TextSource::load(const std::string& path) {
  std::string text = read_input_file(path, input::kText);
  refuse_binary(text, "text " + path);
  refuse_invalid_utf8(text, "text " + path);
  tidy(text);
  return TextSource(text, path);
}

std::span<const uint16_t> TextSource::tokens(Split split) const {
  const std::span<const uint16_t> all(tokens_);
  return split == Split::Train ? all.first(train_size_) : all.subspan(train_size_);
}

double TextSource::unigram_entropy() const { return entropy_of(unigram_); }

void TextSource::require_context(int32_t T) const {
  const size_t needed = kWindowsPerSplit * (static_cast<size_t>(T) + 1);
  const size_t validation = tokens_.size() - train_size_;  // the smaller split
  if (validation < needed) {
    fail("text " + name_,
         "is too short: {} characters, of which the last tenth, {}, is for validation; a context of {} "
         "needs {} there, so expected at least {} characters or a shorter context",
         tokens_.size(), validation, T, needed, needed * 10);
  }
}

}  // namespace normscope
