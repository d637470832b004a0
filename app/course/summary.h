// The summary is the last page of a course, so-why.md beside the lessons (in another language LANGUAGE/so-why.md): what the
// lessons have measured, put together. Of the marks of prose.h it has two: {lesson ID}, and {band ID.MEASURE}, the range
// of five seeds that the lesson ID keeps of one of its measures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/course/reader.h"

namespace normscope::course {

/// Reads the page of a folder, in English where there is none in the language. What it says about lessons that
/// the folder lacks is left out; a faulty page is an entry in `broken`, and left out as a whole.
void take_why(Course& course, const std::string& folder, const std::string& language);

/// Finds "dependency.times": the lesson, and the measure in it. Both are null where it is not there.
std::pair<const Lesson*, const Measure*> measure_named(const Course& course, const std::string& name);

/// The last pages for readers without the program, by the names of their files: so-why.md, and
/// so-why.de.md. Ranges stand in place of their marks, and rings are links to ID.html.
std::vector<std::pair<std::string, std::string>> why_pages(const Course& course);

}  // namespace normscope::course
