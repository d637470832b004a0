// Strings of JSON, as files have them, and as messages show a text from outside.
#pragma once

#include <string>
#include <string_view>

namespace normscope {

/// Appends the text in quotes, with escapes. Returns false for a text that is not UTF-8, which JSON cannot hold.
bool append_json_string(std::string& json, std::string_view text);

/// Shows a name or value from outside in a message: at most 60 bytes of it, quoted, on one line, in ASCII.
std::string shown_text(std::string_view text);

}  // namespace normscope
