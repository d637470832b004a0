#include "training/io/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/real_text.h"

namespace normscope {
namespace {

/// Whether a spreadsheet would compute a field of CSV: a text that begins as a formula, and is no number with a unit.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == text.npos) return false;
  if (text.front() == '+') text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), number);
  return error != std::errc{} ||
         text.substr(static_cast<size_t>(end - text.data())).find_first_of("=+-@*/(!|\t\r") != text.npos;
}

}  // namespace

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
  if (is_formula(text)) return csv_field(fmt::format("'{}", text));
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string markdown_cell(std::string text) {
  for (size_t bar = text.find('|'); bar != text.npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

// A star first takes nothing, then one letter more each time the rest does not fit; those before it need no second try.
bool matches(std::string_view text, std::string_view pattern) {
  size_t star = pattern.npos, taken = 0, at = 0, next = 0;
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      taken = at;
    } else if (next < pattern.size() && pattern[next] == text[at]) {
      ++next;
      ++at;
    } else if (star != pattern.npos) {
      next = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', next) == pattern.npos;
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

std::string size_words(size_t bytes) {
  auto size = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* const larger : {"KiB", "MiB", "GiB"}) {
    if (size < 1000) break;
    size /= 1024;
    unit = larger;
  }
  return size < 999.5 ? fmt::format("{:.3g} {}", size, unit) : fmt::format("{:.0f} {}", size, unit);
}

}  // namespace normscope
