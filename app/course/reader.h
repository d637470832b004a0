// Reads lessons from their folders. Errors say file, line, key, what stands there and what was expected:
//   lessons/02-first-steps/lesson.toml:31: [curve.g1] 'stat' is not known: expected of, run, y, ...
// A broken lesson does not stop the others. Called by the player, the command line and the tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

/// Reads FOLDER/lesson.toml and FOLDER/{predict,run,compare,explain}.md. Throws Error.
Lesson read_lesson(const std::string& folder);

/// The same from memory: lesson.toml's text, and what gives the text of each Markdown file by its path.
using ReadProse = std::function<std::string(const std::string& path)>;
Lesson parse_lesson(std::string_view toml, const std::string& folder, const ReadProse& read_prose);

/// The folder lessons/ beside the program, or that of the sources; NORMSCOPE_LESSONS overrides both.
std::string lessons_folder();

/// The language of NORMSCOPE_LANGUAGE, "de"; empty: English.
std::string course_language();

struct Broken {
  std::string folder, error;
};
struct Course {
  std::vector<Lesson> lessons;  ///< by number
  std::vector<Broken> broken;
  const Words* words = &words::language("en");  ///< of the player
  const Lesson* find(std::string_view id_or_number) const;
};
/// Every sub-folder named NN-name. A folder that cannot be read gives an empty course with one entry in broken.
/// In the language of NORMSCOPE_LANGUAGE, or in `language` ("de"; empty: English): a lesson that does not have it, or
/// whose texts in it are at fault (an entry in broken), stays English; so does a folder in which none has it.
Course read_course(const std::string& folder);
Course read_course(const std::string& folder, const std::string& language);

}  // namespace normscope::course
