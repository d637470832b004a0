// Rules of kept fields (see codec.h) say what a number, a text, a word or a list of them may be, and how JSON holds
// it. All numbers that are not finite are written in the same way.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "training/io/input_value.h"

namespace normscope::codec {

using Json = nlohmann::json;

inline constexpr double kLargest = 1e300;  ///< the largest finite number in a file

/// A finite number.
struct Number {
  double low = -kLargest, high = kLargest;
  Json write(double value) const { return value; }
  void read(const InputValue& json, double& value) const { value = json.number(low, high); }
};

/// Need not be finite: null is NaN.
struct AnyNumber {
  int digits = 17;  ///< significant digits that are written
  Json write(double value) const {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return digits == 17 ? value : std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
  }
  void read(const InputValue& json, double& value) const {
    const double infinity = std::numeric_limits<double>::infinity();
    if (json.is_null())
      value = std::numeric_limits<double>::quiet_NaN();
    else if (json.is("inf"))
      value = infinity;
    else
      value = json.is("-inf") ? -infinity : json.number(-kLargest, kLargest);
  }
};

/// A whole number, or the place of an enumerator.
struct Whole {
  int64_t low, high;
  Json write(auto value) const { return static_cast<int64_t>(value); }
  template <class T>
  void read(const InputValue& json, T& value) const {
    value = static_cast<T>(json.whole64(low, high));
  }
};

struct Flag {
  Json write(bool value) const { return value; }
  void read(const InputValue& json, bool& value) const { value = json.flag(); }
};

struct Text {
  size_t most;  ///< bytes
  Json write(const std::string& value) const { return value; }
  void read(const InputValue& json, std::string& value) const { value = json.text(most); }
};

/// One of some words. An enumerator has the place of its word; a letter, or a text, is the word itself.
struct Words {
  std::span<const std::string_view> words;
  template <class T>
  Json write(const T& value) const {
    if constexpr (std::is_enum_v<T>)
      return words[static_cast<size_t>(value)];
    else
      return std::string{value};
  }
  template <class T>
  void read(const InputValue& json, T& value) const {
    const size_t place = json.choice(words);
    if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(place);
    else if constexpr (std::is_same_v<T, char>)
      value = words[place][0];
    else
      value = words[place];
  }
};

/// A list of `least` to `most` items, which all follow the rule.
template <class Rule>
struct List {
  size_t least, most;
  Rule rule;
  Json write(const auto& values) const {
    Json list = Json::array();
    for (const auto& value : values) list.push_back(rule.write(value));
    return list;
  }
  void read(const InputValue& json, auto& values) const {
    values.clear();
    for (const InputValue& one : json.list(least, most)) rule.read(one, values.emplace_back());
  }
};

/// An object of at most `most` members, which all follow the rule, as a map from their keys.
template <class Rule>
struct Map {
  size_t most;
  Rule rule;
  Json write(const auto& values) const {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = rule.write(value);
    return object;
  }
  void read(const InputValue& json, auto& values) const {
    values.clear();
    for (const auto& [key, one] : json.members(most)) rule.read(one, values[key]);
  }
};

/// A std::optional; an empty one is null.
template <class Rule>
struct Maybe {
  Rule rule;
  Json write(const auto& value) const { return value ? rule.write(*value) : Json(nullptr); }
  void read(const InputValue& json, auto& value) const {
    value.reset();
    if (!json.is_null()) rule.read(json, value.emplace());
  }
};

template <class Rule>
List(size_t, size_t, Rule) -> List<Rule>;
template <class Rule>
Map(size_t, Rule) -> Map<Rule>;
template <class Rule>
Maybe(Rule) -> Maybe<Rule>;

}  // namespace normscope::codec
