#include "training/data/text_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/error.h"
#include "training/io/input_kinds.h"

namespace normscope {
namespace {

constexpr uint16_t kAbsent = 0xffff;

CodePoint require_code_point(std::string_view text, size_t offset) {
  const CodePoint point = read_code_point(text, offset);
  if (point.bytes == 0)
    fail("text", "not valid UTF-8 at byte {} (0x{:02x})", offset, static_cast<unsigned char>(text[offset]));
  return point;
}

static_assert(TextSource::kMaxBytes == input::kText.limit);

void refuse_binary(std::string_view text, const Message& where) {
  if (text.empty()) fail(where, "is empty: expected a UTF-8 text");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    fail(where, "is UTF-16: convert it to UTF-8 (iconv -f utf-16 -t utf-8)");
  }
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    fail(where, "is not a text: NUL byte at byte {}; expected a UTF-8 text file", zero);
  }
}

// Runs before tidy(), so that messages give byte offsets in the file itself.
void refuse_invalid_utf8(std::string_view text, const Message& where) {
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

void check_line(std::string_view line, const std::string& name, size_t number) {
  if (line.size() > kMaxLineBytes)
    fail(name, "line {} has {} bytes: expected at most {}", number, line.size(), kMaxLineBytes);
  for (size_t at = 0; at < line.size();) {
    const CodePoint point = read_code_point(line, at);
    if (point.bytes == 0 || point.value == 0)
      fail(name, "line {} is not UTF-8 text at its byte {}: expected UTF-8", number, at + 1);
    at += static_cast<size_t>(point.bytes);
  }
}

bool blank(std::string_view text) { return text.find_first_not_of(" ") == text.npos; }

}  // namespace

Vocabulary Vocabulary::from_text(std::string_view text) {
  Vocabulary vocabulary;
  std::vector<char32_t>& symbols = vocabulary.symbols_;
  std::vector<uint16_t>& token_of = vocabulary.token_of_;  // as long as the largest character needs
  for (size_t offset = 0; offset < text.size();) {
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte < 0x80 && byte < token_of.size() && token_of[byte] != kAbsent) {  // the common case
      ++offset;
      continue;
    }
    const CodePoint point = require_code_point(text, offset);
    if (point.value >= token_of.size()) token_of.resize(point.value + 1, kAbsent);
    if (token_of[point.value] == kAbsent) {
      token_of[point.value] = 0;  // seen; it is numbered below, after sorting
      symbols.push_back(point.value);
      if (symbols.size() > static_cast<size_t>(kMaxSymbols)) {
        fail("text",
             "more than {} different characters (by byte {}): expected an alphabetic text, or transliterate "
             "it",
             kMaxSymbols, offset);
      }
    }
    offset += static_cast<size_t>(point.bytes);
  }
  std::ranges::sort(symbols);
  for (size_t token = 0; token < symbols.size(); ++token)
    token_of[symbols[token]] = static_cast<uint16_t>(token);
  return vocabulary;
}

std::vector<uint16_t> Vocabulary::encode(std::string_view text) const {
  std::vector<uint16_t> tokens;
  tokens.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte < 0x80 && byte < token_of_.size() && token_of_[byte] != kAbsent) {
      tokens.push_back(token_of_[byte]);
      ++offset;
      continue;
    }
    const CodePoint point = require_code_point(text, offset);
    const uint16_t token = point.value < token_of_.size() ? token_of_[point.value] : kAbsent;
    if (token == kAbsent) {
      fail("text", "the character U+{:04X} at byte {} is not in the vocabulary",
           static_cast<uint32_t>(point.value), offset);
    }
    tokens.push_back(token);
    offset += static_cast<size_t>(point.bytes);
  }
  return tokens;
}

std::string Vocabulary::decode(std::span<const int32_t> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (int32_t token : tokens)
    append_utf8(token >= 0 && token < size() ? symbols_[static_cast<size_t>(token)] : 0xfffd, text);
  return text;
}

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
  const Message where("text {}", name_);
  refuse_binary(text, where);
  refuse_invalid_utf8(text, where);
  try {
    vocabulary_ = Vocabulary::from_text(text);
  } catch (const Error& error) {
    fail(where, without_where(error.message));
  }
  if (vocabulary_.size() < 2) fail(where, "has one distinct character: expected two or more");
  tokens_ = vocabulary_.encode(text);
  train_size_ = tokens_.size() - tokens_.size() / 10;
  unigram_ = frequencies(tokens_, vocabulary_.size());
  hash_ = hash_bytes(text);
}

TextSource TextSource::load(const std::string& path) {
  std::string text = read_input_file(path, input::kText);
  refuse_binary(text, {"text {}", path});
  refuse_invalid_utf8(text, {"text {}", path});
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
    fail({"text {}", name_},
         "is too short: {} characters, of which the last tenth, {}, is for validation; a context of {} "
         "needs {} there, so expected at least {} characters or a shorter context",
         tokens_.size(), validation, T, needed, needed * 10);
  }
}

void each_line(std::string_view text, const std::string& name,
               const std::function<void(std::string_view, size_t)>& use) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (number > kMaxTextLines) fail(name, "has more than {} lines, the most that are read", kMaxTextLines);
    if (line.ends_with('\r')) line.remove_suffix(1);
    check_line(line, name, number);
    use(line, number);
  }
}

std::vector<TsvRow> parse_tsv(std::string_view text, const std::string& name, std::string_view columns) {
  std::vector<TsvRow> rows;
  each_line(text, name, [&](std::string_view line, size_t number) {
    if (line.empty()) return;
    const size_t tab = line.find('\t');
    if (tab == line.npos) fail(name, "line {} has one column: expected {}", number, columns);
    if (line.find('\t', tab + 1) != line.npos)
      fail(name, "line {} has more than two columns: expected {}", number, columns);
    const std::string_view first = line.substr(0, tab), second = line.substr(tab + 1);
    if (blank(first) || blank(second))
      fail(name, "line {} has an empty column: expected {}", number, columns);
    rows.push_back({std::string(first), std::string(second)});
  });
  if (rows.empty()) fail(name, "is empty: expected lines {}", columns);
  return rows;
}

std::vector<TsvRow> read_tsv(const std::string& path, std::string_view columns) {
  return parse_tsv(read_input_file(path, input::kTable), path, columns);
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  each_line(read_input_file(path, input::kTable), path,
            [&](std::string_view line, size_t) { lines.emplace_back(line); });
  return lines;
}

}  // namespace normscope
