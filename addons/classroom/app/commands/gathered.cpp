#include "addons/classroom/app/commands/gathered.h"

#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "training/io/text.h"

namespace normscope::lesson_player {
namespace {

/// Whether a score says that the prediction was right, in any language of the window.
bool was_right(const std::string& score) {
  const std::vector<std::string> others = words::languages();
  return is_right(score) || std::ranges::any_of(others, [&](const std::string& name) {
           return is_right(score, words::language(name));
         });
}

void count(GatheredLesson& sheet, const course::Lesson& lesson, LessonProgress p) {
  say_anew(lesson, p);
  sheet.done += p.done;
  sheet.skipped += p.skipped && !p.committed;
  for (const std::string& word : p.words) sheet.sentences += !word.empty();
  sheet.sentences_right += static_cast<int>(course::said_right(lesson.says, p.words));
  const bool second = !p.first.said.empty();
  if (!p.committed && !second) return;
  ++sheet.predicted;
  const JudgedPrediction& told = second ? p.first : p;
  sheet.right += was_right(told.score);
  const std::string& said = told.said;
  const auto known = std::ranges::find_if(sheet.said, [&](const auto& one) { return one.first == said; });
  if (known == sheet.said.end())
    sheet.said.emplace_back(said, 1);
  else
    ++known->second;
}

}  // namespace

std::vector<CourseProgress> parse_predictions(std::string_view text, const std::string& name) {
  // A whole lessons.json breaks the line after its first brace; a student's line closes its braces.
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first == "{" || first == "{\r") return {parse_progress(text, name)};
  std::vector<CourseProgress> students;
  int line = 0;
  while (!text.empty()) {
    ++line;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!one.empty() && (one.back() == '\r' || one.back() == ' ')) one.remove_suffix(1);
    if (one.empty()) continue;
    students.push_back(parse_progress(one, fmt::format("{}:{}", name, line)));
  }
  return students;
}

std::vector<GatheredLesson> gather(const course::Course& course,
                                   const std::vector<CourseProgress>& students) {
  std::vector<GatheredLesson> sheets;
  for (const course::Lesson& lesson : course.lessons) {
    GatheredLesson sheet{.number = lesson.number, .id = lesson.id, .title = lesson.title};
    for (const CourseProgress& student : students)
      if (const auto at = student.find(lesson.id); at != student.end()) count(sheet, lesson, at->second);
    std::ranges::stable_sort(sheet.said, [](const auto& a, const auto& b) { return a.second > b.second; });
    if (sheet.predicted + sheet.skipped + sheet.sentences > 0) sheets.push_back(std::move(sheet));
  }
  return sheets;
}

std::string gathered_text(const std::vector<GatheredLesson>& lessons, size_t students) {
  std::string text =
      fmt::format("{} student{}. The first prediction of each counts.\n", students, students == 1 ? "" : "s");
  for (const GatheredLesson& lesson : lessons) {
    text += fmt::format("\n{}  {}\n    predicted {}, right {}, skipped {}, lesson done {}", lesson.number,
                        lesson.title, lesson.predicted, lesson.right, lesson.skipped, lesson.done);
    if (lesson.sentences > 0)
      text += fmt::format(", sentences right {} of {}", lesson.sentences_right, lesson.sentences);
    text += "\n";
    for (const auto& [said, times] : lesson.said) text += fmt::format("    {:3} × {}\n", times, said);
  }
  return text;
}

std::string gathered_csv(const std::vector<GatheredLesson>& lessons) {
  std::string text = "lesson,said,students,predicted,right,skipped,done,sentences,sentences right\n";
  for (const GatheredLesson& lesson : lessons)
    for (const auto& [said, times] : lesson.said)
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{}\n", lesson.id, csv_field(said), times, lesson.predicted,
                      lesson.right, lesson.skipped, lesson.done, lesson.sentences, lesson.sentences_right);
  return text;
}

}  // namespace normscope::lesson_player

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
  words::use(course.words->name());  // numbers are in the language of the texts around them
  std::vector<NamedFile> inputs;
  for (const std::string& file : options.files) inputs.push_back({"predictions", file});
  refuse_clashes({{"--csv", options.csv}}, inputs);
  std::vector<lesson_player::CourseProgress> students;
  for (const std::string& file : options.files) {
    const auto found = with_exit(Exit::Input, [&] {
      return lesson_player::parse_predictions(read_input_file(file, input::kProgress), file);
    });
    students.insert(students.end(), found.begin(), found.end());
  }
  const std::vector<lesson_player::GatheredLesson> sheets = lesson_player::gather(course, students);
  say("{}", lesson_player::gathered_text(sheets, students.size()));
  if (options.csv.empty()) return Exit::Ok;
  write_file(options.csv, lesson_player::gathered_csv(sheets), "predictions");
  say("wrote {}\n", options.csv);
  return Exit::Ok;
}

}  // namespace

void add_lesson_gather(CLI::App& group, Command& command) {
  const auto [gather, options] =
      add_command(group, command, "gather", "A class's predictions on one sheet", lesson_gather);
  add_value(gather, "files", options.files, "FILE",
            "lines that students copied from their review, or their lessons.json")
      ->required();
  add_value(gather, "--lessons", options.folder, "DIR", "another folder of lessons");
  add_language(gather, options.language);
  add_value(gather, "--csv", options.csv, "FILE", "also a row for each thing that was said");
}

}  // namespace normscope::commands
