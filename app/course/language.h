// A language of a lesson is a folder of texts beside lesson.toml, "de" for German, with the four Markdown files and
// texts.toml, which has one text for every text of lesson.toml that is shown. What is measured is the same, and so is
// every number, tile and formula of the texts: only words differ. The player's own words are in assets/words. A lesson
// without such a folder is shown in English.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

/// Visits every text of lesson.toml that is shown, with its key in texts.toml: "figure.losses.title". It
/// leaves out empty texts and sources.
void each_text(Lesson& lesson, const std::function<void(const std::string& key, std::string& text)>& said);

/// The names of the folders in a lesson's folder that have a texts.toml, sorted.
std::vector<std::string> languages_of(const std::string& lesson_folder);
std::vector<std::string> languages_in(const std::string& folder);

std::vector<std::string> language_files(const Lesson& lesson, const std::string& language);

/// The lesson in that language. It throws an Error that names every missing or superfluous key of
/// texts.toml, and every number, tile or form that is in only one of a Markdown file and its English original.
Lesson translated(const Lesson& lesson, const std::string& language);

/// What is wrong with the languages of a lesson, one line each.
std::vector<std::string> language_faults(const Lesson& lesson);

/// What the lessons call a thing of some kind ("setting") by a key from outside this program.
/// It is `otherwise` where assets/words/course.toml has no word for it.
std::string called(const Words& words, std::string_view kind, std::string_view key,
                   std::string_view otherwise);

}  // namespace normscope::course
