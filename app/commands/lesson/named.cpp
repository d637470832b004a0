#include "app/commands/lesson/named.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "app/cli/exit_code.h"
#include "app/cli/terminal.h"
#include "engine/spec/nearest.h"

namespace normscope::cli {

using namespace lessons;

Course course_of(const std::string& folder) {
  Course course = read_course(folder.empty() ? lessons_folder() : folder);
  for (const Broken& broken : course.broken) complain(broken.error);
  return course;
}

const Lesson& lesson_of(const Course& course, const std::string& id) {
  if (const Lesson* lesson = course.find(id)) return *lesson;
  std::vector<std::string_view> known;
  for (const Lesson& lesson : course.lessons) known.push_back(lesson.id);
  // It may be one of those that cannot be read.
  throw CommandError(course.broken.empty() ? Exit::Usage : Exit::Input,
                     fmt::format("lesson '{}' is not known: {}", id, expected(id, known)));
}

}  // namespace normscope::cli
