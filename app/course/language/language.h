// Lessons in another language: a folder of texts beside lesson.toml, "de" for German, with the four Markdown files and
// texts.toml, one text for every text of lesson.toml that is shown. What is measured is the same, and so is every
// number, tile and formula of the texts: only words differ. Words of the player itself stand in lessons/de.toml. A lesson
// without such a folder is shown in English.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::lessons {

/// By their English form; "{}" in both stands for the same number.
using Words = std::map<std::string, std::string>;

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

/// FOLDER/de.toml; empty where there is none. Throws Error for a text that does not stand for the same numbers.
Words read_words(const std::string& folder, const std::string& language);
/// The word in that language; in English where the table does not have it.
std::string word_of(const Words& words, const std::string& english);
/// The same with the numbers or names that its "{}" stand for.
template <typename... Args>
std::string phrase_of(const Words& words, const std::string& english, const Args&... args) {
  return fmt::format(fmt::runtime(word_of(words, english)), args...);
}

}  // namespace normscope::lessons
