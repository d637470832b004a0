// See task_kind.h. The rows of texts are beside make_task.
#include "training/data/task_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/core/error.h"

namespace normscope {

std::span<const TaskKind* const> task_kinds() {
  static constexpr const TaskKind* kKinds[] = {
#define TASK(kind) &kind,
#include "training/data/tasks.def"
#undef TASK
  };
  return kKinds;
}

const TaskKind* find_kind(std::string_view name) {
  const auto kinds = task_kinds();
  const auto found = std::ranges::find(kinds, name, [](const TaskKind* kind) { return kind->name; });
  return found == kinds.end() ? nullptr : *found;
}

const TaskKind& kind_of(const DataSpec& data) {
  for (const TaskKind* kind : task_kinds())
    if (kind->also && kind->also(data)) return *kind;
  if (const TaskKind* kind = find_kind(data.name)) return *kind;
  std::vector<std::string_view> names;
  for (const TaskKind* kind : task_kinds()) names.push_back(kind->name);
  fail("data", "unknown task \"{}\": expected one of {}", data.name, fmt::join(names, ", "));
}

bool learns(std::string_view architecture, const TaskKind& kind) {
  std::string_view rest = kind.learners;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == architecture) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string path_of(const DataSpec& data) {
  const TaskKind* const kind = find_kind(data.name);
  return kind && kind->path ? kind->path(data) : "";
}

std::shared_ptr<const Task> make_task(const DataSpec& data) {
  if (data.context < 1) fail("data", "context {}: expected at least 1", data.context);
  return kind_of(data).make(data);
}

bool is_labelled(std::string_view name) {
  const TaskKind* const kind = find_kind(name);
  return kind && kind->labelled;
}

}  // namespace normscope
