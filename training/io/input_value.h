// A value of a JSON text from outside, with its path in that text. The schema of a format is the sequence of calls that
// reads it.
//
// Promises: a value that is read has the type, range and length that the call requires. Everything else throws Error
// as "[session DIR/session.toml] window.runs[0].letter is "z": expected A, B, C or D", one line, whatever the text
// contains. Nesting is limited, and nothing here recurses over the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/core/error.h"
#include "engine/io/json_string.h"

namespace normscope {

/// The most levels of lists and objects within each other.
inline constexpr int kInputDepth = 32;

class InputValue {
 public:
  /// Messages begin with `where` in brackets; `path` is the path of the whole value, "" for a whole file. Throws Error
  /// for text that is no JSON.
  static InputValue parse(std::string_view json, Message where, std::string path = "");

  /// A member of an object. Throws Error when it is missing, or this is not an object.
  InputValue at(std::string_view key) const;
  std::optional<InputValue> find(std::string_view key) const;  ///< the same; nothing when it is missing
  std::vector<std::pair<std::string, InputValue>> members(size_t most) const;
  /// The items of a list of `least` to `most`.
  std::vector<InputValue> list(size_t least, size_t most) const;

  bool is_null() const;
  bool is_text() const;
  bool is(std::string_view text) const;  ///< whether it is this text
  bool is_list() const;
  bool is_object() const;
  bool flag() const;
  int32_t whole(int32_t low, int32_t high) const { return static_cast<int32_t>(whole64(low, high)); }
  int64_t whole64(int64_t low, int64_t high) const;
  double number(double low, double high) const;  ///< finite
  std::string text(size_t most) const;           ///< bytes
  /// A text as it is; a number, true or false as JSON writes it.
  std::string scalar(size_t most) const;
  size_t choice(std::span<const std::string_view> words) const;  ///< the index of a word
  std::string json_text(size_t most) const;                      ///< as JSON, of at most `most` bytes
  std::string object_text(size_t most) const;                    ///< the same of an object

  /// Throws Error for a fault that the calls above cannot check.
  [[noreturn]] void refuse(const Message& expected) const;
  const std::string& path() const { return path_; }

 private:
  struct Document;
  InputValue(std::shared_ptr<const Document> document, const nlohmann::json& json, std::string path);
  InputValue below(const nlohmann::json& json, std::string_view key) const;
  Message shown() const;
  std::string of_at_most(size_t most, std::string text) const;

  std::shared_ptr<const Document> document_;
  const nlohmann::json* json_;
  std::string path_;
};

/// These throw Error as InputValue does for a number out of range, for instance of a tensor.
void require_range(const Message& where, std::string_view path, int64_t value, int64_t low, int64_t high);
void require_each(const Message& where, std::string_view path, std::span<const int32_t> values, int32_t low,
                  int32_t high);
/// The same; each value must also be greater than the one before.
void require_ascending(const Message& where, std::string_view path, std::span<const int32_t> values,
                       int32_t low, int32_t high);

}  // namespace normscope
