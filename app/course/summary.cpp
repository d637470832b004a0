#include "app/course/summary.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>

#include "app/course/check.h"
#include "app/course/language.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/io/input_file.h"

namespace normscope::course {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWhyFile = "so-why.md";

/// Whether the lesson that a mark names is in the course; throws an Error for a mark that has no place
/// on this page, and for a measure that its lesson lacks.
bool is_there(const Course& course, const Inline& piece, const std::string& file) {
  using Kind = Inline::Kind;
  if (piece.kind == Kind::Text || piece.kind == Kind::Formula) return true;
  const size_t point = piece.text.find('.');
  const bool lesson = course.find(piece.text.substr(0, point)) != nullptr;
  const bool range = piece.kind == Kind::Band && point != std::string::npos;
  if (piece.kind == Kind::Lesson || (range && !lesson)) return lesson;
  if (range && measure_named(course, piece.text).second) return true;
  throw Error(
      "{}:{}: '{}' is not in this course: expected {{lesson ID}}, or {{band ID.MEASURE}} of one of its lessons",
      file, piece.line, piece.text);
}

/// Leaves out the paragraphs about lessons that the folder lacks.
Prose what_is_there(const Course& course, Prose why) {
  std::erase_if(why.blocks, [&](const Block& block) {
    bool all = true;
    for (const Inline& piece : block.inlines) all = is_there(course, piece, why.file) && all;
    return !all;
  });
  return why;
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
  const Message wrong = guarded(file, [&] {
    const auto text = read_input_file_if_there(file, input::kProse);
    if (!text) return;
    Prose why = what_is_there(course, parse_prose(*text, file));
    if (!why.blocks.empty()) course.why = std::move(why);
  });
  if (!wrong.empty()) course.broken.push_back({file, wrong});
}

namespace {

std::string why_markdown(const Course& course) {
  using Kind = Inline::Kind;
  std::map<const Lesson*, std::optional<Results>> kept;
  const auto said = [&](const Inline& piece) -> std::string {
    if (piece.kind == Kind::Formula) return "$" + piece.text + "$";
    if (piece.kind == Kind::Text) return piece.strong ? "*" + piece.text + "*" : piece.text;
    if (piece.kind == Kind::Lesson) {
      const Lesson& lesson = *course.find(piece.text);
      return fmt::format("[({})]({}.html)", lesson.number, lesson.id);
    }
    const auto [lesson, measure] = measure_named(course, piece.text);
    if (!kept.contains(lesson)) kept[lesson] = load_results(*lesson);
    const std::optional<Results>& results = kept[lesson];
    if (!results || !results->measures.contains(measure->id)) return "–";
    return range_text(results->measures.at(measure->id).spread, *measure, *course.words);
  };
  std::string out;
  bool list = false;
  for (const Block& block : course.why->blocks) {
    const bool item = block.kind == Block::Kind::Item;
    if (list && !item) out += "\n";
    list = item;
    out += block.kind == Block::Kind::Heading ? "## " : item ? "- " : "";
    for (const Inline& piece : block.inlines) out += said(piece);
    out += item ? "\n" : "\n\n";
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
