#include "addons/classroom/app/commands/gathered.h"

#include <algorithm>

#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/ui/numbers.h"
#include "engine/core/real_text.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::lesson_player {
namespace {

using course::Lesson, course::Prediction;

/// The numbers at which the slider of a prediction stops.
std::vector<double> stops_of(const Prediction& prediction) {
  constexpr int kMost = 10'000;
  if (!prediction.values.empty() || !(prediction.step > 0)) return prediction.values;
  std::vector<double> stops;
  for (int i = 0; i < kMost && prediction.low + i * prediction.step <= prediction.high * (1 + 1e-9); ++i)
    stops.push_back(prediction.low + i * prediction.step);
  return stops;
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = read_real(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Whether a text names every card once: "Pre-LN → Admin → Post-LN (highest loss)".
bool is_order(const Prediction& prediction, std::string_view said) {
  constexpr std::string_view kBetween = " → ";
  const std::string end = fmt::format(" ({})", prediction.last);
  if (!said.ends_with(end)) return false;
  std::set<std::string_view> named;
  for (std::string_view rest = said.substr(0, said.size() - end.size()); !rest.empty();) {
    const size_t next = std::min(rest.find(kBetween), rest.size());
    named.insert(rest.substr(0, next));
    rest.remove_prefix(std::min(next + kBetween.size(), rest.size()));
  }
  return named.size() == prediction.cards.size() &&
         std::ranges::all_of(prediction.cards,
                             [&](const Prediction::Card& card) { return named.contains(card.text); });
}

/// Whether a learner can say this in the lesson. What is gathered are texts, which anybody can change.
bool is_offered(const Lesson& lesson, const JudgedPrediction& told) {
  const Prediction& prediction = lesson.prediction;
  if (told.skipped) return true;  // before the second prediction
  if (prediction.kind == Prediction::Kind::Order) return is_order(prediction, told.said);
  const course::Measure* const measure = lesson.measure(prediction.measure);
  if (!measure) return is_number(told.said);  // the end of a drawing
  const auto is_said = [&](double value) { return told.said == shown(value, *measure, *lesson.words); };
  const bool between = told.value >= prediction.low && told.value <= prediction.high;
  return (between && is_said(told.value)) || std::ranges::any_of(stops_of(prediction), is_said);
}

/// A lesson in the language of the sheet, and in all.
struct Lessons {
  const Lesson& sheet;
  std::vector<const Lesson*> all;
};

/// Counts an answer to the case at the end, unless another version of the lesson offered it.
void count_case(GatheredLesson& sheet, const Lesson& lesson, const LessonProgress& p) {
  if (!lesson.closing || !place_of_answer(*lesson.closing, p.answer)) return;
  ++sheet.cases;
  sheet.cases_right += answers_right(*lesson.closing, p.answer);
  if (!p.sentence.empty()) sheet.reasons.push_back(p.sentence);
}

void count(GatheredLesson& sheet, const Lessons& lessons, LessonProgress p) {
  const Lesson& lesson = lessons.sheet;
  say_anew(lesson, p);
  sheet.done += p.done;
  sheet.skipped += p.skipped && !p.committed;
  count_case(sheet, lesson, p);
  const bool second = !p.first.said.empty();
  if (!p.committed && !second) return;
  const JudgedPrediction& told = second ? p.first : p;
  const std::string& said = told.said;
  if (std::ranges::none_of(lessons.all, [&](const Lesson* each) { return is_offered(*each, told); }))
    return sheet.left_out.push_back(said);
  ++sheet.predicted;
  sheet.right += is_right(told.grade);
  const auto known = std::ranges::find_if(sheet.said, [&](const auto& one) { return one.first == said; });
  if (known == sheet.said.end())
    sheet.said.emplace_back(said, 1);
  else
    ++known->second;
}

/// A student's line without blanks around it, and without what a chat put before.
std::string_view line_alone(std::string_view line) {
  line.remove_prefix(std::min(line.find('{'), line.size()));
  const size_t end = line.rfind('}');
  return line.substr(0, end == line.npos ? 0 : end + 1);
}

}  // namespace

ClassLines parse_predictions(std::string_view text, const std::string& name) {
  // A whole lessons.json breaks the line after its first brace; a student's line closes its braces.
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first == "{" || first == "{\r") return {{parse_progress(text, name)}, {}};
  ClassLines lines;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.empty()) continue;
    try {
      const std::string_view alone = line_alone(one);
      lines.students.push_back(parse_progress(alone.empty() ? one : alone, fmt::format("{}:{}", name, line)));
    } catch (const Error& error) {
      lines.left_out.push_back(error.message);
    }
  }
  if (lines.students.empty() && !lines.left_out.empty()) throw Error(lines.left_out.front());
  return lines;
}

std::vector<GatheredLesson> gather(const course::Course& course, const std::vector<CourseProgress>& students,
                                   std::span<const course::Course> others) {
  std::vector<GatheredLesson> sheets;
  for (const Lesson& lesson : course.lessons) {
    GatheredLesson sheet{.number = lesson.number, .id = lesson.id, .title = lesson.title};
    Lessons lessons{lesson, {&lesson}};
    for (const course::Course& other : others)
      if (const Lesson* same = other.find(lesson.id)) lessons.all.push_back(same);
    for (const CourseProgress& student : students)
      if (const auto at = student.find(lesson.id); at != student.end()) count(sheet, lessons, at->second);
    std::ranges::stable_sort(sheet.said, [](const auto& a, const auto& b) { return a.second > b.second; });
    const bool any = sheet.predicted + sheet.skipped + sheet.cases > 0 || !sheet.left_out.empty();
    if (any) sheets.push_back(std::move(sheet));
  }
  return sheets;
}

std::string gathered_text(const std::vector<GatheredLesson>& lessons, size_t students) {
  std::string text =
      fmt::format("{} student{}. The first prediction of each counts.\n", students, students == 1 ? "" : "s");
  for (const GatheredLesson& lesson : lessons) {
    text += fmt::format("\n{}  {}\n    predicted {}, right {}, skipped {}, lesson done {}", lesson.number,
                        lesson.title, lesson.predicted, lesson.right, lesson.skipped, lesson.done);
    if (lesson.cases > 0) text += fmt::format(", case right {} of {}", lesson.cases_right, lesson.cases);
    text += "\n";
    for (const auto& [said, times] : lesson.said) text += fmt::format("    {:3} × {}\n", times, said);
    for (const std::string& reason : lesson.reasons)
      text += fmt::format("    why: {}\n", std::string(on_one_line(reason, kLongestSentence)));
    for (const std::string& said : lesson.left_out)
      text += fmt::format("    left out, as the lesson has no such answer: {}\n", shown_text(said));
  }
  return text;
}

std::string gathered_csv(const std::vector<GatheredLesson>& lessons) {
  std::string text = "lesson,said,students,predicted,right,skipped,done,cases,cases right\n";
  for (const GatheredLesson& lesson : lessons)
    for (const auto& [said, times] : lesson.said)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", lesson.id, csv_field(said), times, lesson.predicted,
                          lesson.right, lesson.skipped, lesson.done, lesson.cases, lesson.cases_right);
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
    students.insert(students.end(), found.students.begin(), found.students.end());
    for (const Message& line : found.left_out) complain(Message("{}; left out", line));
  }
  std::vector<course::Course> others;
  std::vector<std::string> languages = words::languages();
  languages.emplace_back("en");
  const std::string folder = options.folder.empty() ? course::lessons_folder() : options.folder;
  for (const std::string& language : languages)
    if (language != course.words->name()) others.push_back(course::read_course(folder, language));
  const std::vector<lesson_player::GatheredLesson> sheets = lesson_player::gather(course, students, others);
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
