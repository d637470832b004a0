// Numbers as JSON: it has no number that is not finite, so such a one is null.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace normscope {

/// `number_json` is a number, or null where it is not finite.
inline nlohmann::json number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// `list_json` is a list of such numbers.
template <typename Numbers>
nlohmann::json list_json(const Numbers& numbers) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto number : numbers) list.push_back(number_json(static_cast<double>(number)));
  return list;
}

}  // namespace normscope
