#include "training/io/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace normscope {

size_t terminal_columns(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string text_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment) {
  std::vector<size_t> widths(alignment.size(), 0);
  for (const auto& row : rows) {
    if (row.size() == 1) continue;
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], terminal_columns(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - std::min(widths[c], terminal_columns(row[c])), ' ');
      line += (c ? "  " : "") + (alignment[c] == 'l' ? row[c] + space : space + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string markdown_cell(std::string text) {
  for (size_t bar = text.find('|'); bar != text.npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

}  // namespace normscope
