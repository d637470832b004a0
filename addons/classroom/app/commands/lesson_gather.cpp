// normscope lesson gather sums a class's predictions (addons/classroom/app/gathered.h).
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "addons/classroom/app/gathered.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/words/words.h"
#include "training/io/atomic_file.h"
#include "training/io/input_kinds.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct GatherOptions {
  std::vector<std::string> files;
  std::string folder;  ///< of the lessons; empty: the course's
  std::string language{}, csv{};
};

Exit lesson_gather(const GatherOptions& options) {
  const course::Course course = course_of(options.folder, options.language, course::course_language());
  words::use(course.words->name());  // numbers are written as the texts beside them
  std::vector<NamedFile> inputs;
  for (const std::string& file : options.files) inputs.push_back({"predictions", file});
  refuse_clashes({{"--csv", options.csv}}, inputs);
  std::vector<lessons::CourseProgress> students;
  for (const std::string& file : options.files) {
    const auto found = with_exit(Exit::Input, [&] {
      return lessons::parse_predictions(read_input_file(file, input::kProgress), file);
    });
    students.insert(students.end(), found.begin(), found.end());
  }
  const std::vector<lessons::GatheredLesson> sheets = lessons::gather(course, students);
  say("{}", lessons::gathered_text(sheets, students.size()));
  if (options.csv.empty()) return Exit::Ok;
  write_file(options.csv, lessons::gathered_csv(sheets), "predictions");
  say("wrote {}\n", options.csv);
  return Exit::Ok;
}

}  // namespace

void add_lesson_gather(CLI::App& group, Command& command) {
  const auto [gather, options] =
      add_command(group, command, "gather", "A class's predictions on one sheet", lesson_gather);
  gather
      .add_option("files", options.files,
                  "lines that students copied from their review, or their lessons.json")
      ->type_name("FILE")
      ->required();
  gather.add_option("--lessons", options.folder, "another folder of lessons")->type_name("DIR");
  add_language(gather, options.language);
  gather.add_option("--csv", options.csv, "also a row for each thing that was said")->type_name("FILE");
}

}  // namespace normscope::commands
