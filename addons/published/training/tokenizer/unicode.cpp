#include "addons/published/training/tokenizer/unicode.h"

#include <cstdlib>
#include <memory>

#include "engine/core/error.h"

#ifdef NORMSCOPE_WITH_UTF8PROC
#include <utf8proc.h>
#endif

namespace normscope::tokenizer {
namespace {

constexpr char32_t kReplacement = 0xfffd;

bool in(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

/// Bytes of the first character; for a broken one, minus the bytes that become one U+FFFD.
int length_of(std::string_view bytes) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return -1;
  for (int i = 2; i < length; ++i)
    if ((byte(static_cast<size_t>(i)) & 0xc0) != 0x80) return -i;
  return length;
}

}  // namespace

std::string well_formed(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const int length = length_of(bytes.substr(at, 4));
    const auto count = static_cast<size_t>(length < 0 ? -length : length);
    if (length > 0)
      text.append(bytes, at, count);
    else
      put_character(text, kReplacement);
    at += count;
  }
  return text;
}

char32_t take_character(std::string_view text, size_t& at) {
  const auto byte = [&] { return static_cast<char32_t>(static_cast<uint8_t>(text[at++])); };
  const char32_t lead = byte();
  if (lead < 0x80) return lead;
  int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  char32_t c = lead & (0x3fu >> more);
  for (; more > 0; --more) c = c << 6 | (byte() & 0x3f);
  return c;
}

void put_character(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xff00u >> (more + 1) & 0xff) | c >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
}

bool is_white(char32_t c) {
  return in(c, 0x09, 0x0d) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 || in(c, 0x2000, 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

#ifdef NORMSCOPE_WITH_UTF8PROC

namespace {

bool is_ascii(std::string_view text) {
  for (char c : text)
    if (static_cast<uint8_t>(c) >= 0x80) return false;
  return true;
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool between(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t found = category(c);
  return found >= first && found <= last;
}

}  // namespace

std::string unicode_unavailable() { return {}; }

bool is_letter(char32_t c) { return between(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO); }
bool is_number(char32_t c) { return between(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }
bool is_mark(char32_t c) { return between(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }
bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return in(c, '!', '/') || in(c, ':', '@') || in(c, '[', '`') || in(c, '{', '~');
  return between(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_control(char32_t c) {
  const utf8proc_category_t found = category(c);
  return found == UTF8PROC_CATEGORY_CC || found == UTF8PROC_CATEGORY_CF || found == UTF8PROC_CATEGORY_CO;
}

bool is_word_character(char32_t c) {
  if (in(c, 0x24b6, 0x24e9) || in(c, 0x1f130, 0x1f149) || in(c, 0x1f150, 0x1f169) || in(c, 0x1f170, 0x1f189))
    return true;  // letters in circles and squares, which are symbols
  const utf8proc_category_t found = category(c);
  return is_letter(c) || is_mark(c) || found == UTF8PROC_CATEGORY_ND || found == UTF8PROC_CATEGORY_NL ||
         found == UTF8PROC_CATEGORY_PC || c == 0x200c || c == 0x200d;
}

std::string in_form(const std::string& text, NormalForm form) {
  if (is_ascii(text)) return text;
  int options = UTF8PROC_STABLE;
  options |= form == NormalForm::C || form == NormalForm::KC ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::KC || form == NormalForm::KD) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &made,
                                               static_cast<utf8proc_option_t>(options));
  if (length < 0) fail("tokenizer", "a text has no normal form: {}", utf8proc_errmsg(length));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  return {reinterpret_cast<const char*>(made), static_cast<size_t>(length)};
}

std::string in_lower_case(const std::string& text) {
  std::string lower;
  lower.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    put_character(lower, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    if (c == 0x130) put_character(lower, 0x307);  // the one character whose small letter is two
  }
  return lower;
}

size_t grapheme_end(std::string_view text, size_t at) {
  utf8proc_int32_t state = 0;
  auto last = static_cast<utf8proc_int32_t>(take_character(text, at));
  while (at < text.size()) {
    size_t behind = at;
    const auto next = static_cast<utf8proc_int32_t>(take_character(text, behind));
    if (utf8proc_grapheme_break_stateful(last, next, &state)) break;
    last = next;
    at = behind;
  }
  return at;
}

#else

std::string unicode_unavailable() {
#ifdef __EMSCRIPTEN__
  return "the program in a browser has no utf8proc: tokenizers of published models need the desktop's";
#else
  return "this program was built without utf8proc: install it (Debian: libutf8proc-dev, vcpkg: utf8proc) and build "
         "again";
#endif
}

bool is_letter(char32_t) { return false; }
bool is_number(char32_t) { return false; }
bool is_mark(char32_t) { return false; }
bool is_nonspacing_mark(char32_t) { return false; }
bool is_punctuation(char32_t) { return false; }
bool is_control(char32_t) { return false; }
bool is_word_character(char32_t) { return false; }
std::string in_form(const std::string& text, NormalForm) { return text; }
std::string in_lower_case(const std::string& text) { return text; }
size_t grapheme_end(std::string_view text, size_t) { return text.size(); }

#endif

}  // namespace normscope::tokenizer
