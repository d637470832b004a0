#include "addons/recorded/training/foreign_file.h"

#include "addons/recorded/training/event_file.h"
#include "addons/recorded/training/table_file.h"
#include "training/files/file_kind.h"

namespace normscope::records {
namespace {

constexpr size_t kLongestHead = size_t{1} << 16;  // bytes of a table's first line

// The value of a name in the outermost object. Only brackets and quotes are read: a line of a log may be longer than
// the head, and Python writes NaN and Infinity, which are no JSON.
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

/// A line of a step, or the header of our log.
bool is_of_log(std::string_view line, const NameMapping& mapping) {
  const std::optional<std::string_view> format = value_of(line, "format");
  const auto is_there = [&](std::string_view name) { return value_of(line, name).has_value(); };
  return !has_history(line) &&
         ((format && format->starts_with("\"normscope log")) || surest_step(mapping, is_there));
}

}  // namespace

bool is_undecided(std::string_view head) {
  if (may_be_event_file(head)) return true;
  const bool line_ends = head.find('\n') != head.npos || head.size() >= kLongestHead;
  return !line_ends && !is_event_file(head) && (!head.starts_with('{') || head == "{" || head == "{\r");
}

bool says_format(std::string_view head, const NameMapping& mapping) {
  const std::string_view line = first_line_of_json(head);
  return !line.empty() && !head.ends_with(line) && is_of_log(line, mapping);
}

LogFormat format_of(std::string_view head, const NameMapping& mapping) {
  if (is_of_log(first_line_of_json(head), mapping)) return LogFormat::Lines;
  if (is_event_file(head)) return LogFormat::Events;
  if (!has_history(head) && is_printed(head)) return LogFormat::Printed;
  if (is_history(head)) return LogFormat::History;
  return is_table(head, mapping) ? LogFormat::Table : LogFormat::Unknown;
}

std::unique_ptr<ForeignReader> foreign_reader(LogFormat format, std::string_view head, const LogFile& file) {
  switch (format) {
    case LogFormat::Unknown:
    case LogFormat::Lines:
      return nullptr;
    case LogFormat::Events:
      return event_reader(head, file);
    case LogFormat::Printed:
      return printed_reader(file);
    case LogFormat::History:
      return history_reader(file);
    case LogFormat::Table:
      return table_reader(file);
  }
  return nullptr;
}

}  // namespace normscope::records
