#include "app/shell/plain_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/settings/settings_rows.h"
#include "app/words/words.h"
#include "training/spec/spec.h"

namespace normscope::shell {

std::string plain_message(const Message& message) {
  const Message& tag = where_of(message);
  const std::string rest = words::spoken(without_where(message));
  if (tag.empty()) return rest;
  if (const Field* field = find_field(tag))
    return fmt::format("{}: {}", settings::shown_as(*field).label, rest);
  const bool part = std::ranges::all_of(tag, [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ' ';
  });
  return part ? rest : words::spoken(tag) + ": " + rest;
}

}  // namespace normscope::shell
