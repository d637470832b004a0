// How the window knows a log (docs/log-format.md): it begins with a header, or with a line that has a step.
#include <algorithm>
#include <optional>
#include <string_view>

#include "training/files/file_kind.h"

namespace normscope {
namespace records {
namespace {

// Where JSON begins and its first line ends; empty where no object begins it.
std::string_view first_line(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == head.npos || head[begin] != '{') return {};
  return head.substr(begin, head.find('\n', begin) - begin);
}

// What follows a name of the outermost object. It reads brackets and quotes only: a line of a log may be
// longer than the head, and Python writes NaN and Infinity, which are no JSON.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  int depth = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '{' || line[at] == '[') ++depth;
    if (line[at] == '}' || line[at] == ']') --depth;
    if (line[at] != '"') continue;
    const size_t begin = ++at;
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    const size_t colon = line.find_first_not_of(" \t", at + 1);
    if (depth != 1 || colon == line.npos || line[colon] != ':' || line.substr(begin, at - begin) != name)
      continue;
    return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

bool is_log(std::string_view head) {
  const std::string_view line = first_line(head);
  const std::optional<std::string_view> format = value_of(line, "format");
  return (format && format->starts_with("\"normscope log")) || value_of(line, "step");
}

}  // namespace
}  // namespace records

std::optional<FileLook> look_at_log(std::string_view head) {
  if (!records::is_log(head)) return std::nullopt;
  return FileLook{FileKind::Recorded, "A training log: its runs are compared with those that are shown."};
}

}  // namespace normscope
