// The course as a page: claims, settings, measured numbers and figures, from measured.json. HTML and
// Markdown; the figures as SVG in both themes. docs/claims.md is its claims.md, between markers. A worksheet has the
// same rows and figures.
#pragma once

#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "app/course/reader.h"
#include "app/plot/plot_spec.h"

namespace normscope::course {

/// Writes index.html, report.md, claims.md and figures into the folder; returns the paths. Throws Error.
std::vector<std::string> write_report(const Course& course, const std::string& folder);
/// All that it may write there.
std::vector<std::string> report_files(const Course& course, const std::string& folder);
/// What it reads: the lessons' own files.
std::vector<std::string> lesson_files(const Course& course);

/// The claim table alone, Markdown: what each lesson claims, measured, spread, verdict.
std::string claim_table(const Course& course);
/// One line a lesson: its claim and the first of its checks that is a sentence by itself.
std::string headline_table(const Course& course);
/// A page with one of the tables between its markers (the marker says which); Error when it has none.
/// insert_claims does it to a file.
std::string with_claims(const std::string& page, const Course& course, const std::string& name);
void insert_claims(const Course& course, const std::string& path);

/// A check in words: what it says and is about, what was measured over the seeds, what the band leaves out.
struct ClaimRow {
  std::string says, what, value, range, band, excludes;
  bool holds = false;
};
/// Those that were measured.
std::vector<ClaimRow> claim_rows(const Lesson& lesson, const Results& kept);
/// "B: Post-LN, warm-up 200, train.warmup 200": what it is called, and every field with another value than usual.
std::string settings_of(const Lesson& lesson, const LessonRun& run);
/// A figure over the measurements of all seeds.
plot::PlotSpec kept_plot(const Lesson& lesson, const Figure& figure, const Results& kept);

}  // namespace normscope::course
