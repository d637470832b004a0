// Lessons in another language: a folder of texts beside lesson.toml, "de" for German, with the four Markdown files and
// texts.toml, one text for every text of lesson.toml that is shown. What is measured is the same, and so is every
// number, tile and formula of the texts: only words differ. What the player itself says is in assets/words. A lesson
// without such a folder is shown in English.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

/// Every text of lesson.toml that is shown, with its key in texts.toml: "figure.losses.title". Empty ones are left out,
/// and sources stay as they are.
void each_text(Lesson& lesson, const std::function<void(const std::string& key, std::string& text)>& said);

/// Of a lesson's folder: the names of the folders in it that have a texts.toml, sorted.
std::vector<std::string> languages_of(const std::string& lesson_folder);
/// Of a folder of lessons: those that any of them has.
std::vector<std::string> languages_in(const std::string& folder);

/// The files of one language of a lesson.
std::vector<std::string> language_files(const Lesson& lesson, const std::string& language);

/// The lesson in that language. Throws Error that names every key that is missing or superfluous in texts.toml, and
/// every number, tile or form that a Markdown file has and the English one has not, or the other way round.
Lesson translated(const Lesson& lesson, const std::string& language);

/// What is wrong with the languages of a lesson, one line each.
std::vector<std::string> language_faults(const Lesson& lesson);

/// What the lessons call a kind of thing ("setting", "elsewhere") by a key that is not of this program; `otherwise` where
/// assets/words/course.toml has no word for it.
std::string called(const Words& words, std::string_view kind, std::string_view key,
                   std::string_view otherwise);

}  // namespace normscope::course
