// A TOML table that notes which keys were read: a key that was never read is unknown. Errors carry file,
// line, key, the value and what was expected. Called by the readers of lessons and claims.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/message.h"
#include "training/io/toml.h"

namespace normscope {

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
  /// Everything that was not read as dotted keys and texts: model.placement -> "post".
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
