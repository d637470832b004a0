#include "app/course/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/course/check/check.h"
#include "app/course/labels.h"
#include "app/course/language/language.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/io/input_kinds.h"

namespace normscope::course {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWhyFile = "so-why.md";

void check_why(const Course& course, const Prose& why) {
  using Kind = Inline::Kind;
  for (const Block& block : why.blocks)
    for (const Inline& piece : block.inlines) {
      const bool known = piece.kind == Kind::Text || piece.kind == Kind::Formula ||
                         (piece.kind == Kind::Lesson && course.find(piece.text)) ||
                         (piece.kind == Kind::Band && measure_named(course, piece.text).second);
      if (!known)
        throw Error(fmt::format(
            "{}:{}: '{}' is not in this course: expected {{lesson ID}}, or {{band ID.MEASURE}} of one of its lessons",
            why.file, piece.line, piece.text));
    }
}

}  // namespace

std::pair<const Lesson*, const Measure*> measure_named(const Course& course, const std::string& name) {
  const size_t point = name.find('.');
  const Lesson* const lesson = course.find(name.substr(0, point));
  if (!lesson || point == name.npos) return {};
  const Measure* const measure = lesson->measure(name.substr(point + 1));
  return measure ? std::pair(lesson, measure) : std::pair<const Lesson*, const Measure*>();
}

void take_why(Course& course, const std::string& folder, const std::string& language) {
  const std::string own = (fs::path(folder) / language / kWhyFile).string();
  const bool translated = !language.empty() && fs::exists(own);
  const std::string file = translated ? own : (fs::path(folder) / kWhyFile).string();
  const std::string wrong = guarded(file, [&] {
    const auto text = read_input_file_if_there(file, input::kProse);
    if (!text) return;
    Prose why = parse_prose(*text, file);
    check_why(course, why);
    course.why = std::move(why);
  });
  // What a broken lesson would have said is missing here too; its own error is enough.
  if (!wrong.empty() && course.broken.empty()) course.broken.push_back({file, wrong});
}

namespace {

std::string why_markdown(const Course& course) {
  std::string text = read_input_file(course.why->file, input::kProse), out;
  std::map<std::string, std::optional<Results>> results;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find('{', at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const size_t close = text.find('}', open), blank = text.find(' ', open);
    const std::string name = text.substr(blank + 1, close - blank - 1);
    if (text.compare(open, 8, "{lesson ") == 0) {
      out += fmt::format("[({})]({}.html)", course.find(name)->number, course.find(name)->id);
    } else {
      const auto [lesson, measure] = measure_named(course, name);
      if (!results.contains(lesson->id)) results[lesson->id] = load_results(*lesson);
      const auto& kept = results[lesson->id];
      out += kept && kept->measures.contains(measure->id)
                 ? range_text(kept->measures.at(measure->id).spread, *measure, *course.words)
                 : "–";
    }
    at = close + 1;
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> why_pages(const Course& course) {
  std::vector<std::pair<std::string, std::string>> pages;
  if (!course.why) return pages;
  pages.emplace_back("so-why.md", why_markdown(course));
  const std::string folder = fs::path(course.lessons.front().folder).parent_path().string();
  for (const std::string& language : languages_in(folder)) {
    const Course other = read_course(folder, language);
    if (other.why && other.why->file != course.why->file)
      pages.emplace_back(fmt::format("so-why.{}.md", language), why_markdown(other));
  }
  return pages;
}

}  // namespace normscope::course
