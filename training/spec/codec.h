// The codec lets one function read and write a struct that is kept as JSON. The function names each field once: its
// key, what the field may be, and its value where the key is absent.
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
// io() is in the namespace of its struct, or in codec where the struct belongs to another room. A rule is any type
// with write(value), which returns the JSON, and read(json, value), which throws Error as InputValue does. A field
// that no rule of codec_rules.h describes has a rule of its own beside its io().
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "training/io/input_value.h"
#include "training/spec/codec_rules.h"

namespace normscope::codec {

/// A struct as its io() takes it: const where it is written.
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
  /// Leaves the field out where its value is what absence means.
  template <class T, class Rule = RuleOf<T>>
  void optional(const char* key, const T& value, const Rule& rule = {},
                const std::type_identity_t<T>& absent = {}) {
    if constexpr (std::is_same_v<T, double>)
      if (std::isnan(value) && std::isnan(absent)) return;
    if (!(value == absent)) (*this)(key, value, rule);
  }
  /// Writes what people read in the file and no reader does.
  void note(const char* key, Json value) { into_[key] = std::move(value); }
  /// The Reader refuse the field with this key unless the condition holds.
  void require(bool, const char*, std::string_view) {}

 private:
  Json& into_;
};

/// The same calls as Writer.
class Reader {
 public:
  static constexpr bool kReads = true;
  /// Where `row` is more than 0, it reads a list of that many items, beginning with item `first`.
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
  std::vector<InputValue> row_;  ///< the items, where it reads a list
  size_t next_ = 0;
};

/// Keeps a struct as an object. `fields` is its io(), or a function that does the same and knows more than
/// the struct.
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

/// Replaces bytes that are no UTF-8, which JSON cannot hold.
inline std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace normscope::codec
