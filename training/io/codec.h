// One function both reads and writes a struct that is kept as JSON. The function names each field once: its key, the
// rule for its values, and its value where the key is absent.
//
//   struct Try { std::string set; double loss = 0; bool by_hand = false; };
//
//   template <class Io>
//   void io(Io& io, codec::Of<Io, Try>& t) {
//     io("set", t.set, codec::Text{4096});
//     io("loss", t.loss);                 // any number; null, "inf" and "-inf" are those that are not finite
//     io.optional("by_hand", t.by_hand);  // left out where it is false, and false where it is absent
//   }
//
//   const nlohmann::json json = codec::write(one);
//   const Try again = codec::read<Try>(InputValue::parse(text, "progress lessons.json"));
//
// io() is in the namespace of its struct, or in namespace codec for a struct of another module. A rule is any type with
// write(value), which returns the JSON, and read(json, value), which throws Error as InputValue does. A field that no
// rule of codec.h describes has a rule of its own next to its io(). Functions at the end of the file write other JSON.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "training/io/input_value.h"

namespace normscope {
namespace codec {

// The rules of kept fields: the allowed values of a number, a text, a word or a list of them, and their form in JSON.
// All numbers that are not finite are written in the same way.

using Json = nlohmann::json;

inline constexpr double kLargest = 1e300;  ///< the largest finite number in a file

/// A finite number.
struct Number {
  double low = -kLargest, high = kLargest;
  Json write(double value) const { return value; }
  void read(const InputValue& json, double& value) const { value = json.number(low, high); }
};

/// Any number: NaN is null, and the infinities are "inf" and "-inf".
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

/// A whole number, or an enumerator as its number.
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

/// One of a list of words. An enumerator is written as the word at its number; a letter, or a text, is the word itself.
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

/// The type in which io() takes a struct: const for writing.
template <class Io, class T>
using Of = std::conditional_t<Io::kReads, T, const T>;

/// Calls the io() of a struct.
struct OwnFields {
  void operator()(auto& io_of, auto& value) const { io(io_of, value); }
};
template <class Fields = OwnFields>
struct Object;
/// The rule of a field whose io() names none.
template <class T>
using RuleOf = std::conditional_t<std::is_same_v<T, bool>, Flag,
                                  std::conditional_t<std::is_same_v<T, double>, AnyNumber, Object<>>>;

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(Json& into) : into_(into) {}
  template <class T, class Rule = RuleOf<T>>
  void operator()(const char* key, const T& value, const Rule& rule = {}) {
    (into_.is_array() ? into_.emplace_back() : into_[key]) = rule.write(value);
  }
  /// Leaves the field out where its value is `absent`, which a reader assumes for a missing field.
  template <class T, class Rule = RuleOf<T>>
  void optional(const char* key, const T& value, const Rule& rule = {},
                const std::type_identity_t<T>& absent = {}) {
    if constexpr (std::is_same_v<T, double>)
      if (std::isnan(value) && std::isnan(absent)) return;
    if (!(value == absent)) (*this)(key, value, rule);
  }
  /// Writes a note for people who read the file; Reader ignores it.
  void note(const char* key, Json value) { into_[key] = std::move(value); }
  /// Here it does nothing; in Reader it refuses the field with this key unless the condition holds.
  void require(bool, const char*, std::string_view) {}

 private:
  Json& into_;
};

/// The same calls as Writer.
class Reader {
 public:
  static constexpr bool kReads = true;
  /// With `row` above 0, reads a list of `row` items, beginning with item `first`.
  explicit Reader(const InputValue& from, size_t row = 0, size_t first = 0) : from_(from), next_(first) {
    if (row > 0) row_ = from.list(row, row);
  }
  template <class T, class Rule = RuleOf<T>>
  void operator()(const char* key, T& value, const Rule& rule = {}) {
    const auto found = find(key);
    rule.read(found ? *found : from_.at(key), value);
  }
  template <class T, class Rule = RuleOf<T>>
  void optional(const char* key, T& value, const Rule& rule = {},
                const std::type_identity_t<T>& absent = {}) {
    value = absent;
    if (const auto found = find(key)) rule.read(*found, value);
  }
  void note(const char*, const Json&) {}
  void require(bool holds, const char* key, std::string_view expected) {
    if (!holds) from_.at(key).refuse(expected);
  }

 private:
  std::optional<InputValue> find(const char* key) {
    if (!row_.empty()) return row_.at(next_++);
    return from_.find(key);
  }

  const InputValue& from_;
  std::vector<InputValue> row_;  ///< the items of the list; empty for an object
  size_t next_ = 0;
};

/// Keeps a struct as an object. `fields` calls its io(), or is a function like io() that has more data than the struct.
template <class Fields>
struct Object {
  Fields fields{};
  size_t row = 0;  ///< more than 0: a list of that many fields without their keys
  Json write(const auto& value) const {
    Json json = row > 0 ? Json::array() : Json::object();
    Writer writer(json);
    fields(writer, value);
    return json;
  }
  void read(const InputValue& json, auto& value) const {
    Reader reader(json, row);
    fields(reader, value);
  }
};
Object()->Object<>;
template <class Fields>
Object(Fields) -> Object<Fields>;

/// Keeps a struct as a list of its `count` fields without their keys.
template <class Fields = OwnFields>
constexpr Object<Fields> row(size_t count, Fields fields = {}) {
  return {fields, count};
}

template <class T, class Rule = RuleOf<T>>
Json write(const T& value, const Rule& rule = {}) {
  return rule.write(value);
}
/// Throws Error for JSON that the rule does not allow.
template <class T, class Rule = RuleOf<T>>
T read(const InputValue& json, const Rule& rule = {}) {
  T value{};
  rule.read(json, value);
  return value;
}

/// JSON as text. Bytes that are not UTF-8, which JSON cannot hold, are replaced.
inline std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace codec

// Numbers as JSON, which has none that are not finite: these become null.

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

/// Writes JSON that people can read too: an object or a list is one line if nothing is nested in it, and otherwise has
/// a line for each item, indented. Invalid UTF-8 is replaced.
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
