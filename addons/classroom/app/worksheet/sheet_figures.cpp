// Figures on paper: the student gets axes to draw on, the teacher what was measured. See sheet.h.
#include "addons/classroom/app/worksheet/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/course/figures.h"
#include "app/course/labels.h"
#include "app/course/pictures/stills.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/plot/plot.h"
#include "app/ui/svg.h"
#include "app/ui/theme.h"

namespace normscope::course {
namespace {

constexpr plot::ExportSize kSize{640, 360};

/// Makes an SVG document an element of a page.
std::string inlined(const std::string& document) { return document.substr(document.find("<svg ")); }

/// Draws where a drawing begins: the one measured point that is given.
void add_start(const Sheet& sheet, const Figure& figure, plot::PlotSpec& plot) {
  const Prediction& asked = sheet.lesson.prediction;
  if (asked.kind != Prediction::Kind::Draw || !sheet.kept) return;
  FigureData data;
  data.reference = sheet.kept;
  const auto start = start_of(sheet.lesson, asked.curve, data);
  if (!start) return;
  const Words& words = *sheet.lesson.words;
  plot::Series point;
  point.id = "start";
  point.name = words.tr("start here");
  for (const FigureLine& line : figure.lines)
    if (line.curve == asked.curve && !line.run.empty()) point.ink = plot::Ink::run(line.run[0] - 'A');
  point.x = plot::Column::of({static_cast<float>(start->first)});
  point.y = plot::Column::of({static_cast<float>(start->second)});
  plot.series.push_back(std::move(point));
}

/// Has the axes, the theory and what is known without training; before the prediction neither theory nor lines.
plot::PlotSpec axes(const Sheet& sheet, const Figure& figure, bool predicting) {
  FigureData data;
  data.level = sheet.kept ? sheet.kept->level : 0;
  if (predicting) data.draw_only = "nothing";
  plot::PlotSpec plot = figure_plot(sheet.lesson, figure, data);
  if (predicting) add_start(sheet, figure, plot);
  return plot;
}

/// Returns "A Post-LN, no warm-up; B Post-LN, warm-up 200".
std::string names_of(const Lesson& lesson, const Figure& figure) {
  std::string names;
  for (const FigureLine& line : figure.lines) {
    const Curve* curve = lesson.curve(line.curve);
    const std::string letter = letter_of(lesson, line);
    names += fmt::format("{}{}{}{}", names.empty() ? "" : "; ", letter, letter.empty() ? "" : " ",
                         line.name.empty() ? run_label(lesson, line.run, {}, curve) : line.name);
  }
  return names;
}

/// A tape to be filled in by hand; in the teacher's copy it has run.
std::string tape_html(const Sheet& sheet, const Figure& figure) {
  const std::vector<std::vector<std::string>> cells = cells_of_tape(
      table_of_tape(tape_of(sheet.lesson, figure.tape, {}), sheet.answers ? kMostSmallNames * 2 : 0));
  std::string rows;
  for (const std::vector<std::string>& row : cells) {
    std::string one;
    for (const std::string& cell : row) {
      // <br/> is a line break of HTML that is XML too.
      std::string inside;
      for (size_t at = 0, end = 0; end != cell.npos; at = end + 4) {
        end = cell.find("<br>", at);
        inside += ui::svg_escaped(cell.substr(at, end - at)) + (end == cell.npos ? "" : "<br/>");
      }
      one += element(&row == &cells.front() ? "th" : "td", inside, cell.empty() ? "fill" : "");
    }
    rows += element("tr", one) + "\n";
  }
  return element("h3", ui::svg_escaped(figure.title)) + element("table", "\n" + rows) + "\n";
}

std::string figure_html(const Sheet& sheet, const Figure& figure, StepKind step) {
  if (!figure.tape.empty()) return tape_html(sheet, figure);
  const bool predicting = step == StepKind::Predict, measured = sheet.answers && sheet.kept && !predicting;
  if ((!figure.map_run.empty() || !figure.walk.empty() || !figure.chain.empty()) && !measured) return "";
  const Words& words = *sheet.lesson.words;
  std::string caption;
  const std::string svg = measured ? kept_svg(sheet.lesson, figure, *sheet.kept, ui::theme(false), kSize)
                          : is_picture(figure)
                              ? picture_svg(sheet.lesson, figure, {}, ui::theme(false), kSize)
                              : plot::to_svg(axes(sheet, figure, predicting), ui::theme(false), kSize);
  if (!measured && !predicting && !is_picture(figure))
    caption = element("figcaption", words.tr("Draw what you measured: {runs}",
                                             {{"runs", ui::svg_escaped(names_of(sheet.lesson, figure))}}));
  // The site finds its own picture of the figure by this name.
  return fmt::format("<figure id=\"{}-{}\">\n{}{}</figure>\n", to_string(step), figure.id, inlined(svg),
                     caption);
}

}  // namespace

std::string figures_html(const Sheet& sheet, StepKind step) {
  const Lesson& lesson = sheet.lesson;
  const std::vector<std::string>&figures = lesson.step(step).figures,
        &compared = lesson.step(StepKind::Compare).figures;
  if (step == StepKind::Predict) {
    if (lesson.prediction.kind == Prediction::Kind::Order || figures.empty()) return "";  // cards, no axes
    const auto shown = std::find_if(figures.begin(), figures.end(),
                                    [&](const std::string& id) { return lesson.figure(id)->follow == 0; });
    return shown == figures.end() ? "" : figure_html(sheet, *lesson.figure(*shown), step);
  }
  std::string out;
  if (step == StepKind::Run) return out;
  for (const std::string& id : figures) {
    const Figure& figure = *lesson.figure(id);
    if (figure.follow > 0) continue;  // paper has the table of a tape, to be filled in
    if (step == StepKind::Compare || std::find(compared.begin(), compared.end(), id) == compared.end())
      out += figure_html(sheet, figure, step);
  }
  return out;
}

}  // namespace normscope::course
