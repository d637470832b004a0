#include "app/commands/lesson/named.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/cli/exit_code.h"
#include "app/cli/terminal.h"
#include "app/course/language.h"
#include "training/io/text.h"

namespace normscope::commands {

using namespace course;
using namespace cli;

void add_language(CLI::App& app, std::string& language) {
  app.add_option("--language", language, "of the lessons' texts, as de; what is missing in it stays English")
      ->type_name("NAME");
}

namespace {

std::string folder_or(const std::string& folder) { return folder.empty() ? lessons_folder() : folder; }

}  // namespace

void check_language(const std::string& language, const std::string& folder) {
  if (language.empty() || language == "en") return;  // as they are written
  const std::vector<std::string> has = languages_in(folder_or(folder));
  const std::vector<std::string_view> known(has.begin(), has.end());
  if (std::ranges::find(known, language) == known.end())
    throw CommandError(Exit::Usage, fmt::format("--language '{}': no lesson has it: {}", language,
                                                expected(language, known)));
}

Course course_of(const std::string& folder, const std::string& language, const std::string& wish) {
  check_language(language, folder);
  Course course = read_course(folder_or(folder), language.empty() ? wish : language);
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

}  // namespace normscope::commands
