// A table as a value, written as text, Markdown, CSV or JSON: columns with a name and a kind, and rows of
// cells. It holds what a study measured.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace normscope::experiments {

/// Word and Number (right-aligned) are shown. Data is only in CSV and JSON, Note only in JSON.
enum class Kind : uint8_t { Word, Number, Data, Note };

struct Column {
  std::string key;    ///< in CSV and JSON; empty: the column is only shown
  std::string title;  ///< the head of the column where it is shown
  Kind kind = Kind::Word;
};

/// Makes columns that are only in CSV and JSON.
std::vector<Column> data_columns(std::initializer_list<const char*> keys);

/// A value and the text that a reader sees.
struct Cell {
  Cell() = default;  ///< empty: an empty field of CSV, no member of JSON
  Cell(const char* word) : Cell(std::string(word)) {}
  Cell(std::string word) : value(word), text(std::move(word)) {}
  Cell(std::integral auto number) : value(number), text(std::to_string(number)) {}
  /// The value is null where the number is not finite; a reader sees `shown`.
  Cell(double number, std::string shown = {});
  /// A reader sees `shown` in place of the value.
  Cell(nlohmann::json of, std::string shown) : value(std::move(of)), text(std::move(shown)) {}
  nlohmann::json value = nlohmann::json::value_t::discarded;
  std::string text{};
};

using TableRow = std::vector<Cell>;
struct Table {
  std::vector<Column> columns;
  std::vector<TableRow> rows{};  ///< a row with one cell, in a table of several columns, is a heading
};

/// Aligns the columns for a terminal, and omits the head where no column has a title. A table wider than `columns` (0: no
/// limit) has a line for each cell, and a paragraph for each row.
std::string to_text(const Table& table, size_t columns = 0);
std::string to_markdown(const Table& table);  ///< without the headings
std::string to_csv(const Table& table);       ///< a line of keys, then one line for each row
nlohmann::json to_json(const Table& table);   ///< a list of objects

}  // namespace normscope::experiments
