#include "engine/io/safetensors_header.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/utf8.h"
#include "engine/io/json_string.h"

namespace normscope {
namespace {

constexpr int kMaxDepth = 4;  // header, tensor, shape, number

class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : path_(path), text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  HeaderValue whole() {
    HeaderValue value = read(0);
    space();
    if (next() != '\0' || value.kind != HeaderValue::Kind::Object) damaged();  // a NUL ends the text, too
    return value;
  }

 private:
  using Kind = HeaderValue::Kind;

  [[noreturn]] void damaged() const {
    fail({"safetensors {}", path_}, "is damaged or not a safetensors file: the header is not a JSON object");
  }
  void require_depth(int depth) const {
    if (depth > kMaxDepth) fail({"safetensors {}", path_}, "the header is nested too deeply");
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char take() {
    const char c = next();
    if (c == '\0') damaged();
    ++at_;
    return c;
  }
  void space() {
    while (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r') ++at_;
  }
  bool take_if(char c) {
    space();
    if (next() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take_if(c)) damaged();
  }

  /// A value within so many lists and objects.
  HeaderValue read(int depth) {
    space();
    HeaderValue value;
    if (next() == '{' || next() == '[') {
      require_depth(depth);
      take() == '{' ? object(value, depth + 1) : list(value, depth + 1);
      return value;
    }
    if (take_if('"')) {
      value.kind = Kind::Text;
      value.text = string();
    } else if (word("null")) {
      value.kind = Kind::Null;
    } else if (!word("true") && !word("false")) {
      number(value);
    }
    require_depth(depth);
    return value;
  }

  bool word(std::string_view is) {
    if (!text_.substr(at_).starts_with(is)) return false;
    at_ += is.size();
    return true;
  }

  void object(HeaderValue& value, int depth) {
    value.kind = Kind::Object;
    if (take_if('}')) return;
    do {
      expect('"');
      std::string name = string();
      require_depth(depth);
      if (depth <= 2 && value.members.contains(name)) refuse_repeated(name, depth);
      if (depth == 1) tensor_ = name;
      expect(':');
      value.members[std::move(name)] = read(depth);
    } while (take_if(','));
    expect('}');
  }

  /// Of the header's members, or of a tensor's.
  [[noreturn]] void refuse_repeated(const std::string& name, int depth) const {
    const Message where("safetensors {}", path_);
    if (depth == 1) fail(where, "tensor {}: named twice", shown_text(name));
    fail(where, "tensor {}: it has {} twice", shown_text(tensor_), shown_text(name));
  }

  void list(HeaderValue& value, int depth) {
    value.kind = Kind::List;
    if (take_if(']')) return;
    do {
      const HeaderValue item = read(depth);
      if (item.kind == Kind::Whole && value.wholes.size() == value.size && value.size < kMaxRank)
        value.wholes.push_back(item.whole);
      ++value.size;
    } while (take_if(','));
    expect(']');
  }

  /// Reads to behind the quote.
  std::string string() {
    std::string made;
    for (;;) {
      if (at_ == text_.size()) damaged();
      const auto [value, bytes] = read_code_point(text_, at_);
      if (bytes == 0 || value < 0x20) damaged();
      const std::string_view character = text_.substr(at_, static_cast<size_t>(bytes));
      at_ += character.size();
      if (value == '"') return made;
      if (value == '\\')
        append_utf8(escaped(), made);
      else
        made += character;
    }
  }

  char32_t escaped() {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    const char letter = take();
    if (letter != 'u') {
      const size_t at = kLetters.find(letter);
      if (at == kLetters.npos) damaged();
      return static_cast<unsigned char>(kCharacters[at]);
    }
    const char32_t first = unit();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || take() != '\\' || take() != 'u') damaged();  // each half of a pair needs the other
    const char32_t second = unit();
    if (second < 0xdc00 || second > 0xdfff) damaged();
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  /// Four hexadecimal digits.
  char32_t unit() {
    const std::string_view digits = text_.substr(at_, 4);
    uint32_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [read, error] = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() < 4 || error != std::errc{} || read != end) damaged();
    at_ += 4;
    return value;
  }

  void digits() {
    if (!is_digit(next())) damaged();
    while (is_digit(next())) ++at_;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// A number that no double holds is damage, as it is to other readers of JSON.
  void number(HeaderValue& value) {
    const size_t begin = at_;
    if (next() == '-') ++at_;
    if (next() == '0')
      ++at_;
    else
      digits();
    const size_t integer = at_;
    if (next() == '.') {
      ++at_;
      digits();
    }
    if (next() == 'e' || next() == 'E') {
      ++at_;
      if (next() == '+' || next() == '-') ++at_;
      digits();
    }
    const std::string spelled(text_.substr(begin, at_ - begin));
    const char* end = spelled.data() + spelled.size();
    if (at_ == integer && spelled[0] != '-' &&
        std::from_chars(spelled.data(), end, value.whole).ec == std::errc{}) {
      value.kind = Kind::Whole;
      return;
    }
    if (std::isinf(std::strtod(spelled.c_str(), nullptr))) damaged();
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
  std::string tensor_;  // whose entry is read
};

}  // namespace

HeaderValue read_safetensors_header(const std::string& path, std::string_view json) {
  return Reader(path, json).whole();
}

}  // namespace normscope
