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
/// Lists what it reads: the lessons' own files.
std::vector<std::string> lesson_files(const Course& course);

/// The claim table alone, as Markdown: what each lesson claims, measured, spread, verdict.
std::string claim_table(const Course& course);
/// A page with one of the tables between its markers (the marker says which); throws Error when
/// the page has none. `insert_claims` does it to a file.
std::string with_claims(const std::string& page, const Course& course, const std::string& name);
void insert_claims(const Course& course, const std::string& path);

/// A check in words: what it says and is about, what was measured over the seeds, what the band excludes.
struct ClaimRow {
  std::string says, what, value, range, band, excludes;
  bool holds = false;
};
/// One row for each check that was measured.
std::vector<ClaimRow> claim_rows(const Lesson& lesson, const Results& kept);
/// Names a run and every field with a non-default value: "B: Post-LN, warm-up 200, train.warmup 200".
std::string settings_of(const Lesson& lesson, const LessonRun& run);
/// The figure as a file, also where it is a picture and no plot.
std::string kept_svg(const Lesson& lesson, const Figure& figure, const Results& kept, const ui::Theme& theme,
                     plot::ExportSize size);

// A still is a figure as a file, whatever kind it is: a plot, or a picture of this room as it stands when no user moves
// it.

/// Whether a figure is drawn by a painter of this room, and not as a plot or a table.
bool is_picture(const Figure& figure);

/// Draws such a figure with what may be seen of it.
std::string picture_svg(const Lesson& lesson, const Figure& figure, const FigureData& data,
                        const ui::Theme& theme, plot::ExportSize size);

}  // namespace normscope::course
