// The report is the course as a page: claims, settings, measured numbers and figures, from measured.json. It is written
// as HTML and Markdown, with figures as SVG in both themes; its claims.md is also docs/claims.md, between markers.
#pragma once

#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/course/reader.h"
#include "app/plot/plot.h"
#include "app/ui/theme.h"

namespace normscope::course {

/// Writes index.html, report.md, claims.md and figures into the folder and returns their paths. Throws Error.
std::vector<std::string> write_report(const Course& course, const std::string& folder);
/// Lists everything that write_report may write into the folder.
std::vector<std::string> report_files(const Course& course, const std::string& folder);
/// Lists the lessons' own files in all languages: inputs that no output may overwrite.
std::vector<std::string> lesson_files(const Course& course);

/// The claim table alone, as Markdown: what each lesson claims, measured, spread, verdict.
std::string claim_table(const Course& course);
/// Returns `page` with the claim table between its two markers. Throws an Error that calls the page `name` if a
/// marker is missing. `insert_claims` does this to a file.
std::string with_claims(const std::string& page, const Course& course, const std::string& name);
void insert_claims(const Course& course, const std::string& path);

/// A check as texts: its sentence and measure, mean and range over the seeds, the band, the hypotheses it excludes.
struct ClaimRow {
  std::string says, what, value, range, band, excludes;
  bool holds = false;
};
/// One row for each check that was measured.
std::vector<ClaimRow> claim_rows(const Lesson& lesson, const Results& kept);
/// Names a run and every field with a non-default value: "B: Post-LN, warm-up 200, train.warmup 200".
std::string settings_of(const Lesson& lesson, const LessonRun& run);
/// The figure over all seeds as SVG, whether it is a plot or a picture.
std::string kept_svg(const Lesson& lesson, const Figure& figure, const Results& kept, const ui::Theme& theme,
                     plot::ExportSize size);

// A still is a figure as SVG: a plot, or one of the pictures of pictures/pictures.h in the state before a user moves
// anything.

/// Whether a figure is a picture (walk, chain, bars, network), not a plot or a table.
bool is_picture(const Figure& figure);

/// Draws a picture as SVG, without the curves that `data` still hides from the learner.
std::string picture_svg(const Lesson& lesson, const Figure& figure, const FigureData& data,
                        const ui::Theme& theme, plot::ExportSize size);

}  // namespace normscope::course
