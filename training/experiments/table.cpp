#include "training/experiments/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/io/codec.h"
#include "training/io/text.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

bool is_shown(const Column& column) { return column.kind == Kind::Word || column.kind == Kind::Number; }

bool is_heading(const Table& table, const TableRow& row) {
  return row.size() == 1 && table.columns.size() > 1;
}

/// Lists of(i) for each column i that is shown.
template <typename Of>
Words of_shown(const Table& table, Of of) {
  Words words;
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (is_shown(table.columns[i])) words.push_back(of(i));
  return words;
}

/// A paragraph for each row below the first, which has the titles.
std::string paragraphs(const std::vector<Words>& rows) {
  std::string text;
  for (size_t i = 1; i < rows.size(); ++i) {
    std::vector<Words> cells;
    for (size_t c = 0; c < rows[i].size(); ++c)
      if (rows[i].size() == 1)
        cells.push_back({rows[i][c]});
      else if (!rows[i][c].empty())
        cells.push_back({rows[0][c], rows[i][c]});
    text += (i > 1 ? "\n" : "") + text_table(cells, "ll");
  }
  return text;
}

std::string markdown_row(const Words& words) {
  std::string line = "|";
  for (const std::string& word : words) line += " " + word + (word.empty() ? "|" : " |");
  return line + "\n";
}

std::string field_of(const Json& value) {
  if (value.is_discarded() || value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
}

/// A line with of(i) for each column i that has a key and is no Note.
template <typename Of>
std::string csv_line(const Table& table, Of of) {
  std::string line;
  bool first = true;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key.empty() || table.columns[i].kind == Kind::Note) continue;
    line += (first ? "" : ",") + of(i);
    first = false;
  }
  return line + "\n";
}

}  // namespace

std::vector<Column> data_columns(std::initializer_list<const char*> keys) {
  std::vector<Column> columns;
  for (const char* key : keys) columns.push_back({key, "", Kind::Data});
  return columns;
}

Cell::Cell(double number, std::string shown) : value(number_json(number)), text(std::move(shown)) {}

std::string to_text(const Table& table, size_t columns) {
  std::string alignment;
  for (const Column& column : table.columns)
    if (is_shown(column)) alignment += column.kind == Kind::Number ? 'r' : 'l';
  std::vector<Words> rows{of_shown(table, [&](size_t i) { return table.columns[i].title; })};
  if (std::ranges::all_of(rows[0], [](const std::string& text) { return text.empty(); })) rows.clear();
  for (const TableRow& row : table.rows)
    rows.push_back(is_heading(table, row) ? Words{row[0].text}
                                          : of_shown(table, [&](size_t i) { return row[i].text; }));
  const std::string text = text_table(rows, alignment);
  const auto fits = [&](std::string_view line) { return terminal_columns(line) <= columns; };
  return columns == 0 || rows.size() < 2 || std::ranges::all_of(split(text, '\n'), fits) ? text
                                                                                         : paragraphs(rows);
}

std::string to_markdown(const Table& table) {
  std::string out = markdown_row(of_shown(table, [&](size_t i) { return table.columns[i].title; })) + "|";
  for (const Column& column : table.columns)
    if (is_shown(column)) out += column.kind == Kind::Number ? "--:|" : "--|";
  out += "\n";
  for (const TableRow& row : table.rows)
    if (!is_heading(table, row))
      out += markdown_row(of_shown(table, [&](size_t i) { return markdown_cell(row[i].text); }));
  return out;
}

std::string to_csv(const Table& table) {
  std::string out = csv_line(table, [&](size_t i) { return csv_field(table.columns[i].key); });
  for (const TableRow& row : table.rows)
    if (!is_heading(table, row)) out += csv_line(table, [&](size_t i) { return field_of(row[i].value); });
  return out;
}

Json to_json(const Table& table) {
  Json list = Json::array();
  for (const TableRow& row : table.rows) {
    if (is_heading(table, row)) continue;
    Json& one = list.emplace_back(Json::object());
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (!table.columns[i].key.empty() && !row[i].value.is_discarded())
        one[table.columns[i].key] = row[i].value;
  }
  return list;
}

}  // namespace normscope::experiments
