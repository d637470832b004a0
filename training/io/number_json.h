// Numbers as JSON: it has no number that is not finite, so such a one is null.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace normscope {

/// A number, or null where it is not finite.
inline nlohmann::json number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// A list of such numbers.
template <typename Numbers>
nlohmann::json list_json(const Numbers& numbers) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto number : numbers) list.push_back(number_json(static_cast<double>(number)));
  return list;
}

/// Writes JSON for readers of both kinds: a line for each object or list that holds no other, a level for each
/// that does. Invalid UTF-8 is replaced.
inline std::string to_lines(const nlohmann::json& json, size_t indent = 0) {
  const auto whole = [](const nlohmann::json& one) {
    return one.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  if (std::ranges::none_of(json, [](const auto& one) { return one.is_structured(); })) return whole(json);
  std::string text(json.is_object() ? "{" : "[");
  const char* between = "\n";
  for (auto one = json.begin(); one != json.end(); ++one, between = ",\n") {
    text.append(between).append(indent + 1, ' ');
    if (json.is_object()) text.append(whole(one.key())).append(": ");
    text += to_lines(*one, indent + 1);
  }
  return text.append("\n").append(indent, ' ') + (json.is_object() ? "}" : "]");
}

}  // namespace normscope
