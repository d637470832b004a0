#include "app/shell/plain_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/settings/settings_rows.h"
#include "app/words/words.h"
#include "training/spec/spec.h"

namespace normscope::shell {

std::string plain_message(const std::string& message) {
  const size_t end = message.find("] ");
  if (!message.starts_with('[') || end == message.npos) return words::error(message);
  const std::string tag = message.substr(1, end - 1), rest = words::error(message.substr(end + 2));
  if (const Field* field = find_field(tag))
    return fmt::format("{}: {}", settings::shown_as(*field).label, rest);
  const bool part = std::all_of(tag.begin(), tag.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ' ';
  });
  return part ? rest : words::error(tag) + ": " + rest;
}

}  // namespace normscope::shell
