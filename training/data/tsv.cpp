// See tsv.h.
#include "training/data/tsv.h"

#include "engine/core/error.h"
#include "training/data/text_source.h"
#include "training/io/input_file.h"

namespace normscope {
namespace {

void check_line(std::string_view line, const std::string& name, size_t number) {
  if (line.size() > kTsvMaxLine)
    fail(name, "line {} has {} bytes: expected at most {}", number, line.size(), kTsvMaxLine);
  for (size_t at = 0; at < line.size();) {
    const CodePoint point = read_code_point(line, at);
    if (point.bytes == 0 || point.value == 0)
      fail(name, "line {} is not UTF-8 text at its byte {}: expected UTF-8", number, at + 1);
    at += static_cast<size_t>(point.bytes);
  }
}

bool blank(std::string_view text) { return text.find_first_not_of(" ") == text.npos; }

}  // namespace

void each_line(std::string_view text, const std::string& name,
               const std::function<void(std::string_view, size_t)>& use) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (number > kTsvMaxRows) fail(name, "has more than {} lines: expected at most so many", kTsvMaxRows);
    if (line.ends_with('\r')) line.remove_suffix(1);
    check_line(line, name, number);
    use(line, number);
  }
}

std::vector<TsvRow> parse_tsv(std::string_view text, const std::string& name, std::string_view columns) {
  std::vector<TsvRow> rows;
  each_line(text, name, [&](std::string_view line, size_t number) {
    if (line.empty()) return;
    const size_t tab = line.find('\t');
    if (tab == line.npos) fail(name, "line {} has one column: expected {}", number, columns);
    if (line.find('\t', tab + 1) != line.npos)
      fail(name, "line {} has more than two columns: expected {}", number, columns);
    const std::string_view first = line.substr(0, tab), second = line.substr(tab + 1);
    if (blank(first) || blank(second))
      fail(name, "line {} has an empty column: expected {}", number, columns);
    rows.push_back({std::string(first), std::string(second)});
  });
  if (rows.empty()) fail(name, "is empty: expected lines {}", columns);
  return rows;
}

std::vector<TsvRow> read_tsv(const std::string& path, std::string_view columns) {
  return parse_tsv(read_input_file(path, input::kTable), path, columns);
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  each_line(read_input_file(path, input::kTable), path,
            [&](std::string_view line, size_t) { lines.emplace_back(line); });
  return lines;
}

}  // namespace normscope
