// normscope lesson limits: how far the effect of each lesson reaches (app/course/check/limits.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/cli/products.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson/named.h"
#include "app/course/check/limits.h"
#include "app/course/reader.h"
#include "training/io/atomic_file.h"

namespace normscope::cli {
namespace {

using namespace lessons;
namespace fs = std::filesystem;

struct LimitsOptions {
  std::string id;                                    ///< of one lesson; empty: all
  std::string folder;                                ///< of the lessons; empty: the course's
  std::string results = "out/limits/results.jsonl";  ///< keeps what was measured
  std::string text;  ///< another text; empty: the system's licences, where there are any
  bool all = false, write = false;
  int threads = 0;
};

std::string licences_path(const std::string& results) {
  return (fs::path(results).parent_path() / "licences.txt").string();
}

/// The system's licence texts as one file beside the results; empty where there are none.
std::string licences_beside(const std::string& results) {
  const std::string text = licence_text("/usr/share/common-licenses");
  if (text.empty()) return {};
  const std::string path = licences_path(results);
  write_file(path, text, "limits");
  return path;
}

std::string table_path(const Lesson& lesson) { return (fs::path(lesson.folder) / "limits.md").string(); }

void one_lesson(const Lesson& lesson, RunStore& store, const LimitOptions& to, bool write) {
  const auto told = [](const LimitLine& line) {
    fmt::print(stderr, "{}, {}, seed {}: measured\n", for_terminal(line.lesson), for_terminal(line.setting),
               line.seed);
  };
  const std::string table =
      limits_table(lesson, measure_limits(lesson, store, to, told,
                                          [](const RunProgress&) { return !InterruptGuard::interrupted(); }));
  say("{} {}\n\n{}\n", lesson.number, lesson.title, table);
  flush();
  if (write)
    write_file(table_path(lesson), fmt::format("# {}: how far the effect reaches\n\n{}", lesson.title, table),
               "limits");
}

Exit lesson_limits(const LimitsOptions& options) {
  const Course course = course_of(options.folder);
  const Lesson* chosen = options.id.empty() ? nullptr : &lesson_of(course, options.id);
  LimitOptions to{options.results, options.text};
  make_folder(fs::path(to.results).parent_path().string(), Access::Shared, "limits");
  // A lesson that cannot be read has files too: its folder is known by them.
  if (fs::exists(fs::path(to.results).parent_path() / "lesson.toml"))
    throw CommandError(
        Exit::Usage,
        fmt::format("--results {}: lies among the files of a lesson: expected another folder", to.results));
  std::vector<NamedFile> outputs{{"--results", to.results}};
  if (to.text.empty()) outputs.push_back({"the licences' text", licences_path(to.results)});
  refuse_clashes(outputs, {{"--text", to.text}});
  for (const Lesson& lesson : course.lessons)
    if (options.write) refuse_clashes({{"--write", table_path(lesson)}}, {{"--text", to.text}});
  if (to.text.empty()) to.text = licences_beside(to.results);
  if (to.text.empty()) complain("no licence texts here: give another text with --text FILE");
  const InterruptGuard guard;
  use_fastest_products();
  RunStore store(options.threads, nullptr, results_folder(""));
  try {
    for (const Lesson& lesson : course.lessons)
      if (!lesson.effect.empty() && (!chosen || chosen == &lesson))
        one_lesson(lesson, store, to, options.write);
    Bars().finish(store.on_disk());
  } catch (const Cancelled&) {
    complain(fmt::format("interrupted; what was measured is in {}", to.results));
    return Exit::Interrupted;
  }
  return course.broken.empty() ? Exit::Ok : Exit::Input;
}

}  // namespace

void add_lesson_limits(CLI::App& group, Command& command) {
  const auto options = std::make_shared<LimitsOptions>();
  CLI::App& limits = *group.add_subcommand("limits",
                                           "How far each lesson's effect reaches: other widths and depths, "
                                           "five times the steps, another text; can "
                                           "be resumed");
  CLI::Option* limited =
      limits.add_option("lesson", options->id, "its name or number; all without it")->type_name("LESSON");
  limits.add_flag("--all", options->all, "all lessons (also without a name)")->excludes(limited);
  limits.add_option("--lessons", options->folder, "another folder of lessons")->type_name("DIR");
  limits.add_option("--results", options->results, "the file that keeps what was measured")
      ->type_name("FILE");
  limits.add_option("--text", options->text, "another text (the system's licences)")->type_name("FILE");
  limits.add_flag("--write", options->write, "keep each table beside its lesson, as limits.md");
  add_threads(limits, options->threads);
  limits.callback([options, &command] { command = [options] { return lesson_limits(*options); }; });
}

}  // namespace normscope::cli
