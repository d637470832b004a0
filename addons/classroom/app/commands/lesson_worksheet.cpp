// normscope lesson worksheet writes a lesson to print (addons/classroom/app/worksheet/worksheet.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "addons/classroom/app/worksheet/worksheet.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/course/check.h"
#include "app/course/report.h"
#include "app/words/words.h"
#include "training/io/atomic_file.h"

namespace normscope::commands {
using namespace cli;
namespace {

using namespace course;

constexpr const char* kSheets = "out/worksheets";

struct WorksheetOptions {
  std::string id;      ///< of the lesson
  std::string folder;  ///< of the lessons; empty: the course's
  std::string language{};
  std::string out;  ///< empty: in kSheets
  bool answers = false;
};

Exit lesson_worksheet(const WorksheetOptions& options) {
  const Course course = course_of(options.folder, options.language, course_language());
  words::use(course.words->name());  // its numbers are written as its texts
  const Lesson& lesson = lesson_of(course, options.id);
  const std::string path =
      options.out.empty() ? fmt::format("{}/{}{}.html", kSheets, lesson.id, options.answers ? "-answers" : "")
                          : options.out;
  std::vector<NamedFile> inputs;
  for (const std::string& file : lesson_files(course)) inputs.push_back({"a lesson", file});
  refuse_clashes({{"--out", path}}, inputs);
  const std::string page = with_exit(
      Exit::Input, [&] { return worksheet(lesson, load_results(lesson), options.answers, options.folder); });
  if (options.out.empty()) make_folder(kSheets, Access::Shared, "worksheet");
  write_file(path, page, "worksheet");
  say("wrote {}\n", path);
  return Exit::Ok;
}

}  // namespace

void add_lesson_worksheet(CLI::App& group, Command& command) {
  const auto [sheet, options] = add_command(
      group, command, "worksheet", "A lesson as a page to print and fill in, as HTML", lesson_worksheet);
  sheet.add_option("lesson", options.id, "its name or number")->type_name("LESSON")->required();
  sheet.add_option("--lessons", options.folder, "another folder of lessons")->type_name("DIR");
  add_language(sheet, options.language);
  sheet.add_option("--out", options.out, "the file to write")
      ->type_name("FILE")
      ->default_str(fmt::format("{}/LESSON.html", kSheets));
  sheet.add_flag("--answers", options.answers,
                 "the teacher's copy: with the measured values, the claim and its checks");
}

}  // namespace normscope::commands
