// Includes toml++ with the same switches in every file. toml++ 3.3 asserts (with NDEBUG, on some compilers: assumes)
// that input such as "[.a]" does not come, and refuses it properly in the next lines. As it is compiled into our files
// (header only), we switch both off.
#pragma once

#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"

namespace normscope {

/// The only call of the library's parser. `name` is the file's name in errors. Throws Error as "NAME:LINE: not valid
/// TOML: ...". It refuses excessive nesting too: the library recurses over dotted keys when it frees them, and looks
/// through all tables for each.
toml::table parse_toml(std::string_view text, const std::string& name);

/// Describes a value for an error about its type: "'warm' is text".
Message what_it_is(const toml::node& node);

inline constexpr int kTomlDots = 16;           ///< in one key
inline constexpr size_t kTomlTables = 20'000;  ///< headers, lists, inline tables, dotted keys, decimals

// ---- JSON as TOML and back, to keep a struct in a TOML file by its codec.h functions; TOML has no null

/// A text in quotes.
std::string toml_string(std::string_view text);
/// The lines of a table, KEY = VALUE: a nested object becomes an inline table. Members that are null are left out.
std::string toml_lines(const nlohmann::json& table);
nlohmann::json json_of(const toml::node& node);

// A TOML table that notes which keys were read: a key that was never read is unknown. Errors carry file,
// line, key, the value and the expected value. Called by the readers of lessons and claims.

class Table {
 public:
  Table(const toml::table& table, std::string file, std::string name);

  bool has(std::string_view key) const { return table_->contains(key); }
  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string_view absent);
  double number(std::string_view key);
  double number(std::string_view key, double absent);
  std::optional<double> maybe(std::string_view key);
  int32_t whole(std::string_view key, int32_t low, int32_t high);
  int32_t whole(std::string_view key, int32_t low, int32_t high, int32_t absent);
  bool flag(std::string_view key, bool absent);
  std::vector<double> numbers(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  /// Reads [first, last], both from `low` to `high`.
  std::pair<int32_t, int32_t> steps(std::string_view key, int32_t low, int32_t high);
  /// The index of one of several words.
  size_t choice(std::string_view key, const std::vector<std::string_view>& words,
                std::optional<size_t> absent = {});
  Table table(std::string_view key);
  std::vector<Table> tables(std::string_view key);  ///< a list of tables; empty when absent
  std::vector<std::pair<std::string, Table>> children(
      std::string_view key);  ///< of [key.NAME]; empty when absent
  /// The entries that were not read, as dotted keys and texts: model.placement -> "post".
  std::vector<std::pair<std::string, std::string>> rest();

  /// Throws Error for a key that was never read.
  void done() const;
  [[noreturn]] void refuse(std::string_view key, const Message& what) const;
  const std::string& name() const { return name_; }
  const std::string& file() const { return file_; }

 private:
  const toml::node* take(std::string_view key);
  const toml::node& need(std::string_view key, const char* what);
  double number_of(std::string_view key, const toml::node& node);

  const toml::table* table_;
  std::string file_, name_;
  std::vector<std::string> known_;
};

}  // namespace normscope
