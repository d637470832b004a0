#include "addons/recorded/training/foreign_file.h"

#include "addons/recorded/training/event_file.h"
#include "addons/recorded/training/table_file.h"

namespace normscope::records {
namespace {

constexpr size_t kLongestHead = size_t{1} << 16;  // bytes of a table's first line

std::string_view first_line(std::string_view head) { return head.substr(0, head.find('\n')); }

}  // namespace

bool is_undecided(std::string_view head) {
  if (may_be_event_file(head)) return true;
  const bool line_ends = head.find('\n') != head.npos || head.size() >= kLongestHead;
  return !line_ends && !is_event_file(head) && (!head.starts_with('{') || head == "{" || head == "{\r");
}

bool is_foreign(std::string_view head) {
  return is_event_file(head) || has_history(head) || is_table(first_line(head)) || is_printed(head);
}

std::unique_ptr<ForeignReader> foreign_reader(std::string_view head, const std::string& path,
                                              LinesRead& read) {
  if (is_event_file(head)) return event_reader(head, path, read);
  if (!has_history(head) && is_printed(head)) return printed_reader(path, read);
  if (is_history(head)) return history_reader(path, read);
  return is_table(first_line(head)) ? table_reader(path, read) : nullptr;
}

}  // namespace normscope::records
