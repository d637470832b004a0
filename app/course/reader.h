// Reads lessons from their folders. Errors name file, line, key, the value found and what was expected:
//   lessons/03-first-steps/lesson.toml:31: [curve.g1] 'stat' is not known: expected of, run, y, ...
// A broken lesson does not stop the others. The player, the command line and the tests call it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/course/lesson.h"
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "training/io/toml.h"

namespace normscope::course {

/// Reads FOLDER/lesson.toml and FOLDER/{predict,run,compare,explain}.md. Throws Error.
Lesson read_lesson(const std::string& folder);

/// Reads a lesson from memory: `toml` is the text of lesson.toml, and ReadProse returns the text of each
/// Markdown file by its path.
using ReadProse = std::function<std::string(const std::string& path)>;
Lesson parse_lesson(std::string_view toml, const std::string& folder, const ReadProse& read_prose);

/// Reads a file that a lesson must have. Throws Error if it is missing.
std::string read_required(const std::string& path, const InputKind& kind);

/// The folder lessons/ beside the program, or in the sources; NORMSCOPE_LESSONS overrides both.
std::string lessons_folder();

/// The language set by set_course_language(), else by NORMSCOPE_LANGUAGE, such as "de"; empty: English.
std::string course_language();
/// Sets the language that a command line names; it overrides NORMSCOPE_LANGUAGE.
void set_course_language(const std::string& language);

struct LessonError {
  std::string folder;
  Message error;
};
struct Course {
  std::vector<Lesson> lessons;  ///< by number
  std::vector<LessonError> broken;
  const Words* words = &words::language("en");  ///< the player's labels
  std::optional<Prose> why;                     ///< the last page, so-why.md, if the folder has one
  const Lesson* find(std::string_view id_or_number) const;
};
/// Reads every sub-folder named NN-name. A folder that cannot be read gives an empty course with one entry in `broken`.
/// The language is course_language(), or `language` ("de"; empty: English). A lesson without that language, or with
/// faulty texts in it (an entry in `broken`), stays English; so does a folder in which no lesson has it.
Course read_course(const std::string& folder);
Course read_course(const std::string& folder, const std::string& language);

inline constexpr int32_t kMaxClaimWords = 25, kMaxStepWords = 130;  ///< at most

/// Checks the references between a lesson's tables, and the lengths of its texts. Throws Error.
void check_references(const Lesson& lesson, const Table& root);

// The last page of a course is so-why.md beside the lessons (in another language LANGUAGE/so-why.md): it combines
// what the lessons have measured. It may use three marks of prose.h: {lesson ID}; {band ID.MEASURE}, the five-seed
// range of a measure of lesson ID; and {cut KEY=VALUE} in its numbered list. The list is the page's picture, a circle
// of causes (pictures.h): an item has the cause in *emphasis*, what was measured of the arrow to the next cause, the
// settings that cut the arrow, and what came of it.

/// Finds "dependency.times": the lesson, and its measure. Both are null if either is missing.
std::pair<const Lesson*, const Measure*> measure_named(const Course& course, const std::string& name);

/// The last page in each language for readers without the program, as file name (so-why.md, so-why.de.md) and text,
/// and its picture (so-why.svg). Ranges replace their marks, and {lesson ID} marks are links to ID.html.
std::vector<std::pair<std::string, std::string>> why_pages(const Course& course);

// A language of a lesson is a folder of texts beside lesson.toml, "de" for German, with the four Markdown files and
// texts.toml, which has one text for every text of lesson.toml that is shown. What is measured is the same, and so is
// every number, tile and formula of the texts: only words differ. The player's own words are in assets/words. A lesson
// without such a folder is shown in English.

/// Visits every text of lesson.toml that is shown, with its key in texts.toml: "figure.losses.title". It
/// leaves out empty texts and sources.
void each_text(Lesson& lesson, const std::function<void(const std::string& key, std::string& text)>& visit);

/// The names of the folders in a lesson's folder that have a texts.toml, sorted.
std::vector<std::string> lesson_languages(const std::string& lesson_folder);
/// The languages that any lesson in a folder of lessons has, sorted.
std::vector<std::string> course_languages(const std::string& folder);

/// The files of a lesson's language, by their paths.
std::vector<std::string> language_files(const Lesson& lesson, const std::string& language);

/// The lesson in that language. It throws an Error that names every missing or superfluous key of
/// texts.toml, and every number, tile or form that differs between a Markdown file and its English original.
Lesson translated(const Lesson& lesson, const std::string& language);

/// The faults in a lesson's translations, one line each.
std::vector<std::string> language_faults(const Lesson& lesson);

/// The word for a key of `kind` ("setting") in assets/words/course.toml, else `otherwise`.
std::string word_for(const Words& words, std::string_view kind, std::string_view key,
                     std::string_view otherwise);

}  // namespace normscope::course
