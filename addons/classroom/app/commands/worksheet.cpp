#include "addons/classroom/app/commands/worksheet.h"

#include <algorithm>
#include <sstream>

#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/course/map.h"
#include "app/course/report.h"
#include "app/course/tapes.h"
#include "app/ui/widgets.h"
#include "training/files/command_text.h"

namespace normscope::course {
namespace {

using ui::svg_escaped;

// Widths follow the size of the paper, so that A4 and Letter both hold a page.
constexpr const char* kStyle = R"(@page{margin:18mm}
*{box-sizing:border-box}
body{font:11pt/1.45 Georgia,'DejaVu Serif',serif;color:#000;background:#fff;max-width:178mm;margin:8mm auto;padding:0 4mm}
h1{font-size:18pt;margin:0 0 2mm}
h2{font-size:14pt;border-bottom:.4pt solid #000;margin:8mm 0 3mm}
h3{font-size:11pt;margin:4mm 0 1mm}
h1,h2,h3{font-family:Helvetica,Arial,sans-serif;break-after:avoid}
p{margin:0 0 2.5mm}
.person{display:flex;gap:8mm;margin:0 0 5mm}
.person span{flex:1;border-bottom:.4pt solid #000;padding-bottom:1mm}
.blank{display:inline-block;min-width:22mm;height:1em;border-bottom:.4pt solid #000}
.long{min-width:95%;margin-top:4mm}
.line{height:8mm;border-bottom:.4pt solid #777;break-before:avoid}
.box{display:inline-block;width:3mm;height:3mm;border:.6pt solid #000;margin:0 1mm 0 0}
.form{border:.4pt dotted #777;padding:0 1mm}
.tile{border:.6pt solid #000;padding:0 1.2mm;font-family:Helvetica,Arial,sans-serif;font-size:9pt}
.answers{list-style:none;margin:0 0 2.5mm;padding:0}
.answer{font-weight:bold;border-bottom:.4pt dotted #000}
.display{display:flex;align-items:center;gap:6mm;margin:2mm 0 4mm 6mm}
.small{font-size:9pt}
table{border-collapse:collapse;width:100%;margin:2mm 0 4mm}
th,td{border:.4pt solid #000;padding:1.2mm 2mm;text-align:left;vertical-align:top}
th{font-family:Helvetica,Arial,sans-serif;font-size:9pt}
td.fill{width:22%;height:8mm}
pre{font:8.5pt/1.4 'DejaVu Sans Mono',monospace;white-space:pre-wrap;overflow-wrap:anywhere;border:.4pt solid #777;padding:2mm}
figure{margin:3mm 0 5mm}
figure svg{width:100%;height:auto;max-height:76mm}
figcaption{font-size:9pt}
table,figure,pre,.display,.ask{break-inside:avoid}
@media print{body{max-width:none;margin:0;padding:0}section.page{break-before:page}section.page h2{margin-top:0}}
)";

/// A line to write on, and a box to tick.
constexpr std::string_view kBlank = "<span class=\"blank\"></span>", kBox = "<span class=\"box\"></span>";

/// Wraps HTML in an element, with `style` as its class unless it is empty.
std::string element(std::string_view name, std::string_view inside, std::string_view style = {}) {
  if (style.empty()) return fmt::format("<{0}>{1}</{0}>", name, inside);
  return fmt::format("<{0} class=\"{2}\">{1}</{0}>", name, inside, style);
}

std::string lines_to_write(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += element("div", "", "line");
  return lines + "\n";
}

/// All parts of a worksheet are made from its sheet, which shows a measured number in the teacher's copy and a blank
/// in the student's. A part that shows a number in any other way gives the answer away: test_worksheet changes all
/// numbers and expects the same student's copy.
struct Sheet {
  const Lesson& lesson;
  const Results* kept = nullptr;  ///< measured.json; null: there is none
  bool answers = false;           ///< the teacher's copy

  /// The measure over the seeds that were kept; null: not measured.
  const Spread* spread(const std::string& measure) const {
    if (!kept) return nullptr;
    const auto found = kept->measures.find(measure);
    return found == kept->measures.end() ? nullptr : &found->second.spread;
  }
  /// Shows the text as an answer, or a blank followed by the unit.
  std::string answer(const std::string& text, std::string_view unit = {}) const {
    if (answers && !text.empty()) return element("span", svg_escaped(text), "answer");
    return std::string(kBlank) + (unit.empty() ? "" : " " + svg_escaped(unit));
  }
  /// The mean with its unit, in `range` with the range over the seeds.
  std::string mean(const std::string& measure) const {
    const Measure& m = *lesson.measure(measure);
    const Spread* s = spread(measure);
    return answer(s ? shown(s->mean, m, *lesson.words) : "", m.unit);
  }
  std::string range(const std::string& measure) const {
    const Measure& m = *lesson.measure(measure);
    const Spread* s = spread(measure);
    return answer(s ? range_text(*s, m, *lesson.words) : "", m.unit);
  }
};

/// The text of a step as HTML. For the student a measured number is a blank, and a sentence in several forms is a
/// question: its forms to tick, in the order of their letters, so that the order reveals nothing. {ref NAME} in
/// Predict, the point from which a drawing starts, is shown.
std::string prose_html(const Sheet& sheet, StepKind step);
/// The figures of a step as inline SVG, each with what is to be drawn in it, and each once: Run has none, Explain
/// those that Compare has not. Predict has only its first figure, empty in both copies except for the start of a
/// drawing. A map of shares and a walk cannot be drawn by hand: they are the teacher's only.
std::string figures_html(const Sheet& sheet, StepKind step);

std::string escaped_lines(const std::string& text) {
  std::string out, line;
  for (std::istringstream lines(text); std::getline(lines, line);) out += svg_escaped(line) + "\n";
  return out;
}

std::string row(const std::vector<std::string>& cells, const char* kind = "td") {
  std::string out;
  for (const std::string& cell : cells) out += element(kind, cell, cell.empty() ? "fill" : "");
  return element("tr", out) + "\n";
}

std::string head_of(const Sheet& sheet) {
  const Lesson& lesson = sheet.lesson;
  std::string out = element("h1", fmt::format("{}. {}", lesson.number, svg_escaped(lesson.title))) + "\n";
  if (sheet.answers)
    out += element("p", element("b", lesson.words->tr("Teacher's copy, with answers"))) + "\n";
  else
    out +=
        element("div", element("span", lesson.words->tr("Name")) + element("span", lesson.words->tr("Date")),
                "person") +
        "\n";
  return out + element("p", element("b", svg_escaped(lesson.question))) + "\n" +
         element("p", lesson.words->tr("About {minutes} minutes.", {{"minutes", lesson.minutes}}), "small") +
         "\n";
}

std::string cards(const Sheet& sheet, const Prediction& asked) {
  const Words& words = *sheet.lesson.words;
  std::string out = row(
      {svg_escaped(words.tr("place (1: {first}, {cards}: {last})",
                            {{"first", asked.first}, {"cards", asked.cards.size()}, {"last", asked.last}})),
       words.tr("what")},
      "th");
  std::vector<std::string> order;  // the measures, from the smallest
  for (const Prediction::Card& card : asked.cards) order.push_back(card.measure);
  if (sheet.answers)
    std::ranges::stable_sort(order, [&](const std::string& a, const std::string& b) {
      const Spread *left = sheet.spread(a), *right = sheet.spread(b);
      return left && right && left->mean < right->mean;
    });
  for (const Prediction::Card& card : asked.cards) {
    const auto place = std::ranges::find(order, card.measure) - order.begin() + 1;
    const std::string measured =
        sheet.answers ? fmt::format("{} ({})", sheet.answer(std::to_string(place)), sheet.mean(card.measure))
                      : "";
    out += row({measured, svg_escaped(card.text)});
  }
  return element("table", "\n" + out);
}

std::string value_asked(const Sheet& sheet, const Prediction& asked) {
  const Words& words = *sheet.lesson.words;
  std::string out;
  for (const double value : asked.values) out += fmt::format("{} {} ", kBox, ui::number(value, 3));
  if (asked.values.empty())
    out =
        words.tr("{blank} (from {low} to {high}) ",
                 {{"blank", kBlank}, {"low", ui::number(asked.low, 3)}, {"high", ui::number(asked.high, 3)}});
  out = element("p", out + svg_escaped(asked.unit));
  return sheet.answers
             ? out + element("p", words.tr("Measured: {value}", {{"value", sheet.mean(asked.measure)}}))
             : out;
}

std::string prediction(const Sheet& sheet) {
  const Prediction& asked = sheet.lesson.prediction;
  std::string out = element("p", element("b", svg_escaped(asked.ask)), "ask") + "\n";
  if (asked.kind == Prediction::Kind::Order) out += cards(sheet, asked);
  if (asked.kind == Prediction::Kind::Value) out += value_asked(sheet, asked);
  out += figures_html(sheet, StepKind::Predict);
  const Words& words = *sheet.lesson.words;
  return out + element("p", words.tr("Why do you think so?")) + "\n" + lines_to_write(2);
}

/// The measures that the prediction and the texts refer to.
std::set<std::string> told_measures(const Lesson& lesson) {
  std::set<std::string> named{lesson.prediction.measure};
  for (const Prediction::Card& card : lesson.prediction.cards) named.insert(card.measure);
  for (const Step& step : lesson.steps)
    for (const Block& block : step.text.blocks)
      for (const Inline& piece : block.inlines) {
        if (piece.kind == Inline::Kind::Value || piece.kind == Inline::Kind::Band) named.insert(piece.text);
        named.insert(piece.answers.begin(), piece.answers.end());
      }
  return named;
}

void add_runs_of(const Lesson& lesson, const Measure& measure, std::set<std::string>& runs) {
  if (const Curve* curve = lesson.curve(measure.curve)) runs.insert(curve->run);
  for (const std::string& part : {measure.first, measure.second})
    if (const Measure* of = lesson.measure(part)) add_runs_of(lesson, *of, runs);
}

/// The runs that a student meets: those with a letter, and those of a figure or of a number in the texts. Others, such as
/// the small ones behind Lesson::what_if, are measured for the checks alone.
std::set<std::string> runs_met(const Lesson& lesson) {
  std::set<std::string> runs;
  for (const LessonRun& run : lesson.runs) runs.insert(run.id);
  for (const Figure& figure : lesson.figures)
    for (const FigureLine& line : figure.lines) runs.insert(lesson.curve(line.curve)->run);
  std::set<std::string> told = told_measures(lesson);
  for (const Step& step : lesson.steps)
    for (const Block& block : step.text.blocks)
      for (const Inline& piece : block.inlines)
        for (const Condition& condition : piece.conditions) told.insert(condition.measure);
  for (const std::string& id : told)
    if (const Measure* measure = lesson.measure(id)) add_runs_of(lesson, *measure, runs);
  return runs;
}

/// The measures that checks, prediction and text refer to, in the lesson's order, of runs that a student meets.
std::vector<const Measure*> measured_here(const Lesson& lesson) {
  std::set<std::string> named = told_measures(lesson);
  for (const Check& check : lesson.checks) named.insert(check.measure);
  const std::set<std::string> met = runs_met(lesson);
  std::vector<const Measure*> measures;
  for (const Measure& measure : lesson.measures) {
    std::set<std::string> runs;
    add_runs_of(lesson, measure, runs);
    const bool here = std::ranges::includes(met, runs) || lesson.runs.empty();
    if (here && named.contains(measure.id)) measures.push_back(&measure);
  }
  return measures;
}

std::string measurements(const Sheet& sheet) {
  // The command measures five seeds; an earlier measurement may have fewer.
  const int32_t seeds = sheet.kept ? sheet.kept->seeds : 0;
  const Words& words = *sheet.lesson.words;
  const std::string mean = words.tr("one seed | {count} seeds: mean", {{"count", seeds}});
  const std::string measured = words.tr("what is measured");
  std::string rows = sheet.answers ? row({measured, mean, words.tr("range")}, "th")
                                   : row({measured, words.tr("I expect"), words.tr("I measured")}, "th");
  for (const Measure* measure : measured_here(sheet.lesson)) {
    const std::string unit = measure->unit.empty() ? "" : fmt::format(" [{}]", measure->unit);
    const std::string what = svg_escaped(measure->label + unit);
    rows +=
        sheet.answers ? row({what, sheet.mean(measure->id), sheet.range(measure->id)}) : row({what, "", ""});
  }
  return element("table", "\n" + rows) + "\n";
}

std::string check_command(const Lesson& lesson, const std::string& folder) {
  const std::string where = folder.empty() ? "" : " --lessons " + shell_quoted(folder);
  return fmt::format("normscope lesson check {} --full{}", shell_quoted(lesson.id), where);
}

std::string listed(const std::vector<double>& values) {
  std::string out;
  for (const double x : values) out += (out.empty() ? "" : words::say("format.between")) + ui::number(x, 3);
  return out;
}

std::string to_do_again(const Lesson& lesson, const std::string& folder) {
  std::string commands = check_command(lesson, folder) + "\n";
  std::vector<ConfigRun> runs;
  for (const LessonRun& run : lesson.runs) runs.push_back({run.id[0], run.spec, run.edits});
  if (std::ranges::any_of(lesson.curves, is_trained)) commands += command_of(runs, "normscope train") + "\n";
  std::string out = "<ul>\n";
  const std::set<std::string> met = runs_met(lesson);
  for (const LessonRun* run : std::as_const(lesson).all_runs())
    if (met.contains(run->id)) out += element("li", svg_escaped(settings_of(lesson, *run)), "small");
  std::set<std::string> said;
  for (const Curve& curve : lesson.curves) {
    if (!is_swept(curve) || curve.values.size() == 1) continue;  // their border has the same cells
    std::string sweep =
        lesson.words->tr("{run} again with {setting} = {values}",
                         {{"run", curve.run}, {"setting", curve.field}, {"values", listed(curve.xs)}});
    if (!curve.other.empty())
      sweep += lesson.words->tr(", each with {setting} = {values}",
                                {{"setting", curve.other}, {"values", listed(curve.values)}});
    if (said.insert(sweep).second) out += element("li", svg_escaped(sweep), "small");
  }
  return out + "</ul>\n" + element("pre", escaped_lines(commands)) + "\n";
}

std::string exercises(const Sheet& sheet) {
  const Lesson& lesson = sheet.lesson;
  std::string out;
  for (const Knob& knob : lesson.knobs)
    out += element("p", lesson.words->tr("{knob} ({low} to {high}): {blank} It gives {result}",
                                         {{"knob", svg_escaped(knob.label)},
                                          {"low", svg_escaped(shown_value(knob, knob.low))},
                                          {"high", svg_escaped(shown_value(knob, knob.high))},
                                          {"blank", kBlank},
                                          {"result", kBlank}})) +
           "\n";
  if (!lesson.puzzle) return out;
  out += element("p", element("b", svg_escaped(lesson.puzzle->text)), "ask") + lines_to_write(2);
  return out;
}

/// The challenge: the settings that the student may change, and a table for the attempts.
std::string challenge(const Sheet& sheet) {
  if (!sheet.lesson.challenge) return "";
  const Words& words = *sheet.lesson.words;
  const Challenge& task = *sheet.lesson.challenge;
  const Measure& measure = *sheet.lesson.measure(task.measure);
  std::string out =
      element("h3", words.tr("Challenge")) + "\n" +
      element("p",
              svg_escaped(words.tr(
                  "{text} Below {line} after {steps} steps.",
                  {{"text", task.text}, {"line", shown(task.line, measure, words)}, {"steps", task.budget}})),
              "ask") +
      "\n" +
      element("p",
              svg_escaped(words.tr("About {minutes} minutes.", {{"minutes", task.minutes}}) + " " +
                          score_rule(task, words)),
              "small") +
      "\n";
  std::vector<std::string> head, empty;
  for (const Challenge::Choice& choice : task.choices) {
    std::string values;
    for (const Challenge::Choice::Value& value : choice.values)
      values += (values.empty() ? "" : ", ") + value.text;
    head.push_back(svg_escaped(fmt::format("{} ({})", choice.label, values)));
  }
  head.push_back(
      svg_escaped(words.tr("came to") + (measure.unit.empty() ? "" : fmt::format(" [{}]", measure.unit))));
  empty.resize(head.size());
  return out + element("table", "\n" + row(head, "th") + row(empty) + row(empty) + row(empty)) + "\n";
}

/// What the teacher's copy adds to the case: the right answer, what is behind each, and the author's sentence.
std::string solution(const Sheet& sheet, const Case& closing) {
  const Words& words = *sheet.lesson.words;
  const std::vector<std::string> answers = answers_of(closing);
  std::string out = element("p", sheet.answer(answers.front()));
  for (size_t i = 0; i < answers.size(); ++i)
    out += element(
        "p",
        element("i", svg_escaped(answers[i])) + " " +
            svg_escaped(words.tr(i == 0 ? "Right. {why}" : "No. {why}", {{"why", reason_of(closing, i)}})),
        "small");
  out += element("p", svg_escaped(words.tr("The author's sentence")) + ": " + sheet.answer(closing.own));
  return element("div", out, "solution") + "\n";
}

/// The case at the end: the student ticks an answer and writes why.
std::string closing_case(const Sheet& sheet) {
  if (!sheet.lesson.closing) return "";
  const Case& closing = *sheet.lesson.closing;
  const Words& words = *sheet.lesson.words;
  const std::vector<std::string> answers = answers_of(closing);
  std::string offered;
  for (const size_t answer : offered_order(closing))
    offered += element("li", fmt::format("{} {}", kBox, svg_escaped(answers[answer])));
  const std::string out = element("h3", words.tr("A new case")) + "\n" +
                          element("p", svg_escaped(closing.ask), "ask") + element("ul", offered, "answers") +
                          "\n";
  if (sheet.answers) return out + solution(sheet, closing);
  return out + element("p", svg_escaped(words.tr("Why? In one sentence of your own:")), "ask") +
         lines_to_write(2);
}

std::string claims(const Sheet& sheet) {
  const Lesson& lesson = sheet.lesson;
  std::string rows = row({lesson.words->tr("claim"), lesson.words->tr("measured"),
                          lesson.words->tr("range of seeds"), lesson.words->tr("must lie in"),
                          lesson.words->tr("excludes (value then)"), lesson.words->tr("verdict")},
                         "th");
  for (const ClaimRow& claim : claim_rows(lesson, *sheet.kept))
    rows += row({svg_escaped(claim.says) + "<br/>" + element("span", svg_escaped(claim.what), "small"),
                 svg_escaped(claim.value), svg_escaped(claim.range), svg_escaped(claim.band),
                 svg_escaped(claim.excludes),
                 claim.holds ? lesson.words->tr("holds") : lesson.words->tr("fails")});
  return element("h2", lesson.words->tr("Claim")) + element("p", svg_escaped(lesson.claim)) +
         element("table", "\n" + rows) + "\n";
}

std::string step_html(const Sheet& sheet, StepKind step, const std::string& after, bool new_page = true) {
  return element("section",
                 "\n" + element("h2", sheet.lesson.words->tr(title_of(step))) + "\n" +
                     prose_html(sheet, step) + after,
                 new_page ? "page" : "") +
         "\n";
}

constexpr plot::ExportSize kSize{640, 360};

/// Draws the start of a drawing: the only measured point in the student's copy.
void add_start(const Sheet& sheet, const Figure& figure, plot::PlotSpec& plot) {
  const Prediction& asked = sheet.lesson.prediction;
  if (asked.kind != Prediction::Kind::Draw || !sheet.kept) return;
  const auto start = start_of(sheet.lesson, asked.curve, {.reference = sheet.kept});
  if (!start) return;
  const Words& words = *sheet.lesson.words;
  plot::Series point{.id = "start", .name = words.tr("start here")};
  for (const FigureLine& line : figure.lines)
    if (line.curve == asked.curve && !line.run.empty()) point.ink = plot::Ink::run(line.run[0] - 'A');
  point.x = plot::Column::of({static_cast<float>(start->first)});
  point.y = plot::Column::of({static_cast<float>(start->second)});
  plot.series.push_back(std::move(point));
}

/// The axes, the theory and the lines that need no training; before the prediction neither theory nor lines.
plot::PlotSpec axes(const Sheet& sheet, const Figure& figure, bool predicting) {
  FigureData data{.level = sheet.kept ? sheet.kept->level : 0};
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

/// A tape to be filled in by hand; filled in the teacher's copy.
std::string tape_html(const Sheet& sheet, const Figure& figure) {
  const std::vector<std::vector<std::string>> cells = cells_of_tape(
      table_of_tape(tape_of(sheet.lesson, figure.tape, {}), sheet.answers ? kMaxSmallNames * 2 : 0));
  std::string rows;
  for (const std::vector<std::string>& row : cells) {
    std::string one;
    for (const std::string& cell : row) {
      // <br/> is valid in HTML and in XML.
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
  return fmt::format("<figure id=\"{}-{}\">\n{}{}</figure>\n", to_string(step), figure.id,
                     svg.substr(svg.find("<svg ")), caption);
}

using Kind = Inline::Kind;

/// A value of the knob that is not its own: half way to the end of its range that is further away.
double another_value(const Knob& knob, double own) {
  const double end = knob.high - own >= own - knob.low ? knob.high : knob.low;
  const double steps = std::round((own + (end - own) / 2 - knob.low) / knob.step);
  const double value = knob.low + steps * knob.step;
  return std::abs(value - own) < knob.step / 2 ? end : value;
}

class ProseWriter {
 public:
  ProseWriter(const Sheet& sheet, StepKind step) : sheet_(sheet), step_(step) {}

  std::string all() {
    std::string out;
    bool small = false, list = false;
    for (const Block& block : sheet_.lesson.step(step_).text.blocks) {
      const bool item = block.kind == Block::Kind::Item || block.kind == Block::Kind::Numbered;
      if (item != list) out += item ? "<ul>\n" : "</ul>\n";
      list = item;
      out += of_block(block, small) + "\n";
      small =
          small ||
          block.kind == Block::Kind::Heading;  // what is below "## How far does this reach?" is small print
    }
    return out + (list ? "</ul>\n" : "");
  }

 private:
  std::string of_block(const Block& block, bool small) {
    switch (block.kind) {
      case Block::Kind::Rule:
        return "<hr/>";
      case Block::Kind::Heading:
        return element("h3", words(block.inlines));
      case Block::Kind::Item:
      case Block::Kind::Numbered:
        return element("li", words(block.inlines));
      case Block::Kind::Display:
        return display(block);
      case Block::Kind::Note:
        return element("p", words(block.inlines), "small");
      case Block::Kind::Paragraph:
        break;
    }
    return element("p", words(block.inlines), small ? "small" : "");
  }

  std::string display(const Block& block) {
    const std::vector<Inline> rest(block.inlines.begin() + 1, block.inlines.end());
    return element("div",
                   mathml(block.inlines.front().formula, true) + element("span", words(rest), "beside"),
                   "display");
  }

  std::string words(const std::vector<Inline>& inlines) {
    if (!sheet_.answers) return to_tick(inlines);
    std::string out;
    const Number number = [this](const std::string& measure) -> std::optional<double> {
      if (measure == kChanged) return 0;  // the lesson's own settings
      const Spread* s = sheet_.spread(measure);
      return s ? std::optional(s->mean) : std::nullopt;
    };
    for (const Inline& piece : read_as(inlines, number, "–")) out += of_piece(piece);
    return out;
  }

  std::string to_tick(const std::vector<Inline>& inlines) {
    std::string out;
    for (size_t at = 0; at < inlines.size(); ++at) {
      if (inlines[at].kind == Kind::If)
        out += forms(inlines, at);
      else
        out += of_piece(inlines[at]);
    }
    return out;
  }

  /// Goes from {if} to {end}, where it leaves `at`. It omits parts for changed settings.
  std::string forms(const std::vector<Inline>& inlines, size_t& at) {
    std::vector<std::string> forms;
    while (at < inlines.size() && inlines[at].kind != Kind::End) {
      const std::vector<Condition>& conditions = inlines[at++].conditions;
      const bool changed =
          std::ranges::any_of(conditions, [](const Condition& c) { return c.measure == kChanged; });
      std::string form;
      while (at < inlines.size() && inlines[at].kind != Kind::Otherwise && inlines[at].kind != Kind::End)
        form += of_piece(inlines[at++]);
      if (!changed) forms.push_back(std::move(form));
    }
    if (forms.size() == 1) return forms.front();
    std::ranges::sort(forms);
    const Words& words = *sheet_.lesson.words;
    std::string out;
    for (const std::string& form : forms)
      out += (out.empty() ? " " : words.tr(" or ")) + element("span", std::string(kBox) + " " + form, "form");
    return out + " ";
  }

  std::string of_piece(const Inline& piece) {
    switch (piece.kind) {
      case Kind::Text:
        return piece.strong ? element("b", svg_escaped(piece.text)) : svg_escaped(piece.text);
      case Kind::Formula:
        return mathml(piece.formula, false);
      case Kind::Tile:
        return element("b", svg_escaped(piece.text), "tile");
      case Kind::Value:
        return sheet_.mean(piece.text);
      case Kind::Band:
        return sheet_.range(piece.text);
      case Kind::Reference:
        return given(piece.text);
      case Kind::Drag:
        return setting(*sheet_.lesson.knob(piece.text));
      case Kind::Sample:
        return sample(piece.text);
      case Kind::Name:
        return svg_escaped(run_label(sheet_.lesson, piece.text));
      case Kind::Lesson:
      case Kind::Cut:
      case Kind::If:
      case Kind::Otherwise:
      case Kind::Always:
      case Kind::Task:
      case Kind::End:
        break;
    }
    return "";
  }

  std::string given(const std::string& measure) const {
    const Spread* s = sheet_.spread(measure);
    if (step_ != StepKind::Predict || !s) return sheet_.mean(measure);
    return svg_escaped(shown(s->mean, *sheet_.lesson.measure(measure), *sheet_.lesson.words));
  }

  std::string setting(const Knob& knob) const {
    const double own = first_value(sheet_.lesson, knob);
    const bool tried =
        step_ == StepKind::Compare || step_ == StepKind::Explain;  // what a student is to change
    return svg_escaped(shown_value(knob, tried && !is_slot(knob) ? another_value(knob, own) : own));
  }

  std::string sample(const std::string& run) const {
    if (!sheet_.answers || !sheet_.kept) return element("span", "", "long blank");
    const auto text = sheet_.kept->texts.find(run);
    return sheet_.answer(text == sheet_.kept->texts.end() ? "" : text->second);
  }

  const Sheet& sheet_;
  StepKind step_;
};

using tex::NodeKind;
using tex::NodePtr;

class MathWriter {
 public:
  explicit MathWriter(bool display) : display_(display) {}

  std::string element(const NodePtr& node) const {
    if (!node) return row("");
    switch (node->kind) {
      case NodeKind::Row:
        return row(all(node->children));
      case NodeKind::Symbol:
        return symbol(*node);
      case NodeKind::Operator:
        return tag("mo", ui::svg_escaped(node->text));
      case NodeKind::Space:
        return fmt::format("<mspace width=\"{:g}em\"/>", node->width);
      case NodeKind::Fraction:
        return tag("mfrac", all(node->children));
      case NodeKind::Root:
        return node->children[1] ? tag("mroot", all(node->children))
                                 : tag("msqrt", element(node->children[0]));
      case NodeKind::Scripts:
        return scripts(*node);
      case NodeKind::Fence:
        return row(fence(node->text) + element(node->children[0]) + fence(node->close));
      case NodeKind::Accent:
        return fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", element(node->children[0]),
                           accent(node->text));
      case NodeKind::Big:
        return fmt::format("<mo largeop=\"true\" movablelimits=\"false\">{}</mo>",
                           ui::svg_escaped(node->text));
    }
    return row("");
  }

 private:
  static std::string tag(std::string_view name, const std::string& inside) {
    return fmt::format("<{0}>{1}</{0}>", name, inside);
  }
  static std::string row(const std::string& inside) { return tag("mrow", inside); }

  std::string all(const std::vector<NodePtr>& nodes) const {
    std::string out;
    for (const NodePtr& node : nodes) out += element(node);
    return out;
  }

  /// A number, a sign, words with their blanks, or a name.
  static std::string symbol(const tex::Node& node) {
    const std::string& text = node.text;
    if (text.empty()) return row("");
    const bool digits = std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (digits) return tag("mn", text);
    constexpr std::string_view kSigns = "()[]{}|,;:/!";
    if (text.size() == 1 && kSigns.find(text[0]) != kSigns.npos)
      return fmt::format("<mo stretchy=\"false\">{}</mo>", text);
    if (text.find(' ') != text.npos) return tag("mtext", unbroken(text));
    return fmt::format("<mi{}>{}</mi>", node.bold ? " style=\"font-weight:bold\"" : "",
                       ui::svg_escaped(text));
  }

  /// Keeps blanks at either end, which would be left out otherwise.
  static std::string unbroken(const std::string& text) {
    std::string out;
    for (const char c : ui::svg_escaped(text)) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
    return out;
  }

  std::string scripts(const tex::Node& node) const {
    const NodePtr &base = node.children[0], &below = node.children[1], &above = node.children[2];
    const bool limits = display_ && base && base->kind == NodeKind::Big;
    const char* name = below && above ? (limits ? "munderover" : "msubsup")
                       : below        ? (limits ? "munder" : "msub")
                                      : (limits ? "mover" : "msup");
    return tag(name, element(base) + (below ? element(below) : "") + (above ? element(above) : ""));
  }

  static std::string fence(const std::string& sign) {
    if (sign.empty()) return "";
    return fmt::format("<mo fence=\"true\" stretchy=\"true\">{}</mo>", ui::svg_escaped(sign));
  }

  static const char* accent(const std::string& kind) {
    return kind == "hat" ? "^" : kind == "bar" ? "¯" : kind == "tilde" ? "~" : kind == "dot" ? "˙" : "→";
  }

  bool display_;
};

std::string figures_html(const Sheet& sheet, StepKind step) {
  const Lesson& lesson = sheet.lesson;
  const std::vector<std::string>&figures = lesson.step(step).figures,
        &compared = lesson.step(StepKind::Compare).figures;
  if (step == StepKind::Predict) {
    if (lesson.prediction.kind == Prediction::Kind::Order || figures.empty()) return "";  // cards, no axes
    const auto shown =
        std::ranges::find_if(figures, [&](const std::string& id) { return lesson.figure(id)->follow == 0; });
    return shown == figures.end() ? "" : figure_html(sheet, *lesson.figure(*shown), step);
  }
  std::string out;
  if (step == StepKind::Run) return out;
  for (const std::string& id : figures) {
    const Figure& figure = *lesson.figure(id);
    if (figure.follow > 0) continue;  // paper has the table of a tape, to be filled in
    if (step == StepKind::Compare || std::ranges::find(compared, id) == compared.end())
      out += figure_html(sheet, figure, step);
  }
  return out;
}

std::string prose_html(const Sheet& sheet, StepKind step) { return ProseWriter(sheet, step).all(); }

}  // namespace

std::string worksheet(const Lesson& lesson, const std::optional<Results>& kept, bool answers,
                      const std::string& folder) {
  if (answers && !kept)
    throw Error("{}: nothing was measured yet: {} --write does it", lesson.folder,
                check_command(lesson, folder));
  const Sheet sheet{lesson, kept ? &*kept : nullptr, answers};
  std::string body = head_of(sheet);
  body += step_html(sheet, StepKind::Predict, prediction(sheet), false);
  body += step_html(sheet, StepKind::Run,
                    element("h3", lesson.words->tr("In a terminal")) + "\n" + to_do_again(lesson, folder) +
                        measurements(sheet));
  body += step_html(sheet, StepKind::Compare, figures_html(sheet, StepKind::Compare) + challenge(sheet));
  body += step_html(sheet, StepKind::Explain,
                    figures_html(sheet, StepKind::Explain) + exercises(sheet) + closing_case(sheet));
  if (answers) body += claims(sheet);
  std::string sources;
  for (const std::string& source : lesson.sources) sources += element("li", svg_escaped(source), "small");
  body += element("h3", lesson.words->tr("Sources")) + "\n" + element("ul", sources);
  return fmt::format(
      "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"/><title>{}. {}</title>\n"
      "<style>{}</style></head>\n<body>\n{}</body></html>\n",
      lesson.language.empty() ? "en" : lesson.language, lesson.number, svg_escaped(lesson.title), kStyle,
      body);
}

std::string mathml(const tex::Formula& formula, bool display) {
  return fmt::format("<math xmlns=\"http://www.w3.org/1998/Math/MathML\"{}>{}</math>",
                     display ? " display=\"block\"" : "", MathWriter(display).element(formula.root));
}

}  // namespace normscope::course

namespace normscope::commands {

using namespace cli;
namespace {

using namespace course;

constexpr const char* kSheets = "out/worksheets";

struct WorksheetOptions {
  std::string id;      ///< of the lesson
  std::string folder;  ///< of the lessons; empty: the course's
  std::string language{};
  std::string out;  ///< empty: in kSheets
  bool answers = false;
};

Exit lesson_worksheet(const WorksheetOptions& options) {
  const Course course = course_of(options.folder, options.language, course_language());
  words::use(course.words->name());  // its numbers are written as its texts
  const Lesson& lesson = lesson_of(course, options.id);
  const std::string path =
      options.out.empty() ? fmt::format("{}/{}{}.html", kSheets, lesson.id, options.answers ? "-answers" : "")
                          : options.out;
  std::vector<NamedFile> inputs;
  for (const std::string& file : lesson_files(course)) inputs.push_back({"a lesson", file});
  refuse_clashes({{"--out", path}}, inputs);
  const std::string page = with_exit(
      Exit::Input, [&] { return worksheet(lesson, load_results(lesson), options.answers, options.folder); });
  if (options.out.empty()) make_folder(kSheets, Access::Shared, "worksheet");
  write_file(path, page, "worksheet");
  say("wrote {}\n", path);
  return Exit::Ok;
}

}  // namespace

void add_lesson_worksheet(CLI::App& group, Command& command) {
  const auto [sheet, options] = add_command(
      group, command, "worksheet", "A lesson as a page to print and fill in, as HTML", lesson_worksheet);
  add_value(sheet, "lesson", options.id, "LESSON", "its name or number");
  add_value(sheet, "--lessons", options.folder, "DIR", "another folder of lessons");
  add_language(sheet, options.language);
  add_value(sheet, "--out", options.out, "FILE", "the file to write", {},
            fmt::format("{}/LESSON.html", kSheets));
  sheet.add_flag("--answers", options.answers,
                 "the teacher's copy: with the measured values, the claim and its checks");
}

}  // namespace normscope::commands
