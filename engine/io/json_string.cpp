#include "engine/io/json_string.h"

#include <fmt/format.h>

#include <cstdint>

#include "engine/core/utf8.h"

namespace normscope {
namespace {

constexpr size_t kShownBytes = 60;

void append_escape(std::string& json, char32_t unit) {
  json += fmt::format("\\u{:04x}", static_cast<uint32_t>(unit));
}

/// Appends what has to be an escape in every string; false: it has not.
bool append_needed_escape(std::string& json, char32_t value) {
  constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  const size_t at = value < 0x80 ? kCharacters.find(static_cast<char>(value)) : kCharacters.npos;
  if (at != kCharacters.npos)
    json.append({'\\', kLetters[at]});
  else if (value < 0x20)
    append_escape(json, value);
  else
    return false;
  return true;
}

}  // namespace

bool append_json_string(std::string& json, std::string_view text) {
  json += '"';
  for (size_t at = 0; at < text.size();) {
    const auto [value, bytes] = read_code_point(text, at);
    if (bytes == 0) return false;
    const auto length = static_cast<size_t>(bytes);
    if (!append_needed_escape(json, value)) json.append(text.substr(at, length));
    at += length;
  }
  json += '"';
  return true;
}

std::string shown_text(std::string_view text) {
  const std::string_view part = text.substr(0, kShownBytes);
  std::string shown = "\"";
  for (size_t at = 0; at < part.size();) {
    const auto [value, bytes] = read_code_point(part, at);
    at += bytes > 0 ? static_cast<size_t>(bytes) : 1;
    if (bytes == 0) {  // one sign for all that is left of a character, as where the text was cut within it
      while (at < part.size() && (part[at] & 0xc0) == 0x80) ++at;
      append_escape(shown, 0xfffd);
    } else if (append_needed_escape(shown, value)) {
      continue;
    } else if (value < 0x7f) {
      shown += static_cast<char>(value);
    } else if (value < 0x10000) {
      append_escape(shown, value);
    } else {  // a pair of surrogates
      append_escape(shown, 0xd7c0 + (value >> 10));
      append_escape(shown, 0xdc00 + (value & 0x3ff));
    }
  }
  return shown + (text.size() > part.size() ? "\"…" : "\"");
}

}  // namespace normscope
