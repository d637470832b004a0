// A table as a value: columns with a name and a kind, and rows of cells, from which text, Markdown, CSV and JSON are
// written. What a study measured stands in it. Filled by zoo/, sweep/, reproduce/, course/ and the commands.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace normscope::experiments {

/// Word and Number are shown, a number at the right of its column; Data stands in CSV and JSON alone, Note in JSON.
enum class Kind : uint8_t { Word, Number, Data, Note };

struct Column {
  std::string key;    ///< in CSV and JSON; empty: it is shown alone
  std::string title;  ///< over what is shown
  Kind kind = Kind::Word;
};

/// Columns of CSV and JSON alone.
std::vector<Column> data_columns(std::initializer_list<const char*> keys);

/// A value and what a reader sees of it.
struct Cell {
  Cell() = default;  ///< nothing: an empty field of CSV, no member of JSON
  Cell(const char* word) : Cell(std::string(word)) {}
  Cell(std::string word) : value(word), text(std::move(word)) {}
  Cell(std::integral auto number) : value(number), text(std::to_string(number)) {}
  /// Null where the number is not finite; `shown` as a reader sees it.
  Cell(double number, std::string shown = {});
  /// The same value, shown otherwise.
  Cell(nlohmann::json of, std::string shown) : value(std::move(of)), text(std::move(shown)) {}
  nlohmann::json value = nlohmann::json::value_t::discarded;
  std::string text{};
};

using TableRow = std::vector<Cell>;
struct Table {
  std::vector<Column> columns;
  std::vector<TableRow>
      rows{};  ///< a row of one cell, where there are more columns, is a heading of what is shown
};

/// In columns, for a terminal; without a head where no column has a title.
std::string to_text(const Table& table);
std::string to_markdown(const Table& table);  ///< without the headings
std::string to_csv(const Table& table);       ///< a line of keys, and a line a row
nlohmann::json to_json(const Table& table);   ///< a list of objects

}  // namespace normscope::experiments
