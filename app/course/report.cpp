#include "app/course/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>

#include "app/course/curves.h"
#include "app/course/pictures/pictures.h"
#include "app/course/reader.h"
#include "app/course/tapes.h"
#include "app/ui/paint.h"
#include "engine/core/error.h"
#include "engine/io/output_file.h"
#include "training/io/input_kinds.h"

namespace normscope::course {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// Translates the English words of a band: "−0.1 to 0.1", "at least 2".
std::string claim_in_words(const Lesson& lesson, std::string text) {
  const auto put = [&](std::string_view english, const std::string& word) {
    if (const size_t at = text.find(english); at != text.npos) text.replace(at, english.size(), word);
  };
  put(" to ", lesson.words->tr(" to "));
  put("at least ", lesson.words->tr("at least "));
  put("at most ", lesson.words->tr("at most "));
  return words::with_decimal(std::move(text), *lesson.words);
}

std::string picture_of(const Lesson& lesson, const Figure& figure, bool dark) {
  return fmt::format("{}-{}{}.svg", lesson.id, figure.id, dark ? "-dark" : "");
}

/// Draws a figure from the measurements of all seeds.
plot::PlotSpec kept_plot(const Lesson& lesson, const Figure& figure, const Results& kept) {
  plot::PlotSpec plot = figure_plot(lesson, figure, {.reference = &kept, .level = kept.level});
  plot.pad_right = 120;
  if (!figure.map_run.empty() || lesson.runs.empty() || !shows_ranges(figure)) return plot;
  const bool bars = ranges_as_bars(figure, kept);
  plot.note += (plot.note.empty() ? "" : "; ") +
               lesson.words->tr(bars ? "{seeds} seeds, ranges as bars" : "{seeds} seeds, range as band",
                                {{"seeds", kept.seeds}});
  return plot;
}

}  // namespace

std::vector<ClaimRow> claim_rows(const Lesson& lesson, const Results& kept) {
  std::vector<ClaimRow> rows;
  for (const Check& check : lesson.checks) {
    const Measure& m = *lesson.measure(check.measure);
    const auto it = kept.measures.find(m.id);
    if (it == kept.measures.end()) continue;
    const CheckOutcome v{&check, &m, it->second, holds(check, it->second)};
    std::string excludes;
    for (const Neighbour& n : check.excludes) {
      const std::vector<double> values = values_of(lesson, check, n, kept);
      excludes += fmt::format("{}{} ({})", excludes.empty() ? "" : "; ", n.what,
                              shown(spread_of(values, m.mean).mean, m, *lesson.words));
    }
    rows.push_back({check.says, m.label, shown(it->second.spread.mean, m, *lesson.words),
                    claim_in_words(lesson, spread_text(v)), claim_in_words(lesson, band_text(check)),
                    excludes, v.holds});
  }
  return rows;
}

std::string settings_of(const Lesson& lesson, const LessonRun& run) {
  std::string out = fmt::format("{}: {}", run.id, run_label(lesson, run.id));
  const RunSpec standard;
  for (const auto& [key, value] : field_values(run.spec))
    if (key != "run.name" && value != get_field(standard, key)) out += fmt::format(", {} {}", key, value);
  return out;
}

std::string kept_svg(const Lesson& lesson, const Figure& figure, const Results& kept, const ui::Theme& theme,
                     plot::ExportSize size) {
  if (!is_picture(figure)) return plot::to_svg(kept_plot(lesson, figure, kept), theme, size);
  return picture_svg(lesson, figure, {.reference = &kept}, theme, size);
}

std::string claim_table(const Course& course) {
  std::string out = "| claim | measured | range of five seeds | verdict |\n|--|--|--|--|\n";
  for (const Lesson& lesson : course.lessons) {
    out += fmt::format("| **{}. {}** {} | | | |\n", lesson.number, lesson.title, lesson.claim);
    const std::optional<Results> kept = load_results(lesson);
    if (!kept) continue;
    for (const ClaimRow& row : claim_rows(lesson, *kept))
      out += fmt::format("| {} | {} | {} | {} |\n", row.says, row.value, row.range,
                         row.holds ? "holds" : "fails");
  }
  return out;
}

std::string with_claims(const std::string& page, const Course& course, const std::string& name) {
  constexpr std::string_view kMark = "<!-- claims: normscope lesson report --page -->\n",
                             kEnd = "<!-- end of claims -->";
  const size_t begin = page.find(kMark), end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    throw Error("{}:1: has no place for the claim table: expected a line {}, later {}", name,
                kMark.substr(0, kMark.size() - 1), kEnd);
  return page.substr(0, begin + kMark.size()) + "\n" + claim_table(course) + "\n" + page.substr(end);
}

void insert_claims(const Course& course, const std::string& path) {
  write_file(path, with_claims(read_input_file(path, input::kPage), course, path), "report");
}

std::vector<std::string> report_files(const Course& course, const std::string& folder) {
  std::vector<std::string> files{folder + "/index.html", folder + "/report.md", folder + "/claims.md"};
  for (const Lesson& lesson : course.lessons)
    for (const Figure& figure : lesson.figures)
      for (const bool dark : {false, true})
        if (figure.tape.empty() || figure.follow > 0)
          files.push_back(folder + "/" + picture_of(lesson, figure, dark));
  for (const auto& [name, text] : why_pages(course)) files.push_back(folder + "/" + name);
  return files;
}

std::vector<std::string> lesson_files(const Course& course) {
  std::vector<std::string> files;
  for (const Lesson& lesson : course.lessons) {
    for (const char* name : {"lesson.toml", "measured.json", "limits.md"})
      files.push_back((std::filesystem::path(lesson.folder) / name).string());
    for (const StepKind step : kSteps)
      files.push_back((std::filesystem::path(lesson.folder) / to_string(step)).string() + ".md");
    for (const std::string& language : lesson_languages(lesson.folder))
      for (std::string& path : language_files(lesson, language)) files.push_back(std::move(path));
  }
  return files;
}

namespace {

// Collects the report as HTML and as Markdown at the same time.
struct Pages {
  std::string html =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>normscope: claims and "
      "measurements</title>\n"
      "<style>body{font:16px/1.6 Inter,system-ui,sans-serif;max-width:860px;margin:40px auto;padding:0 "
      "16px;color:#191b20;background:#fff}"
      "td,th{text-align:left;padding:4px 14px 4px "
      "0;vertical-align:top}td:nth-child(2){font-family:'JetBrains Mono',monospace;white-space:nowrap}"
      "img{max-width:100%}small{color:#4e525b}</style>\n<h1>Claims and measurements</h1>\n";
  std::string markdown = "# Claims and measurements\n\n";
};

void add_head(Pages& pages, const Lesson& lesson) {
  pages.html += fmt::format("<h2>{}. {}</h2>\n<p>{}</p>\n", lesson.number, escaped(lesson.title),
                            escaped(lesson.claim));
  pages.markdown += fmt::format("## {}. {}\n\n{}\n\n", lesson.number, lesson.title, lesson.claim);
  const auto add_line = [&](const std::string& line) {
    pages.html += fmt::format("<small>{}</small><br>\n", escaped(line));
    pages.markdown += fmt::format("- {}\n", line);
  };
  for (const LessonRun* run : lesson.all_runs()) add_line(settings_of(lesson, *run));
  for (const std::string& source : lesson.sources) add_line(source);
  if (lesson.closing) add_line(lesson.closing->ask + " " + answers_of(*lesson.closing).front());
}

void add_rows(Pages& pages, const std::vector<ClaimRow>& rows) {
  pages.html +=
      "<table><tr><th>claim<th>measured<th>range of seeds<th>must lie in<th>excludes "
      "(there)<th>verdict</tr>\n";
  pages.markdown +=
      "\n| claim | measured | value, mean | range of seeds | must lie in | excludes (there) | "
      "verdict |\n|--|--|--|--|--|--|--|\n";
  for (const ClaimRow& row : rows) {
    const char* verdict = row.holds ? "holds" : "fails";
    pages.html +=
        fmt::format("<tr><td>{}<br><small>{}</small><td>{}<td>{}<td>{}<td>{}<td>{}</tr>\n", escaped(row.says),
                    escaped(row.what), row.value, row.range, row.band, escaped(row.excludes), verdict);
    pages.markdown += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.says, row.what, row.value,
                                  row.range, row.band, row.excludes, verdict);
  }
  pages.html += "</table>\n";
  pages.markdown += "\n";
}

/// Shows a tape after all of its instructions have run.
void add_tape(Pages& pages, const Lesson& lesson, const Figure& figure) {
  const std::vector<std::vector<std::string>> cells =
      cells_of_tape(table_of_tape(tape_of(lesson, figure.tape, {}), kMaxSmallNames * 2));
  pages.html += fmt::format("<h3>{}</h3>\n<table>", escaped(figure.title));
  pages.markdown += fmt::format("{}:\n\n", figure.title);
  for (const std::vector<std::string>& row : cells) {
    pages.html += fmt::format("<tr><td>{}</tr>\n", fmt::join(row, "<td>"));
    pages.markdown += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (&row == &cells.front()) pages.markdown += "|--|--|--|--|\n";
  }
  pages.html += "</table>\n";
  pages.markdown += "\n";
}

void add_figure(Pages& pages, const Lesson& lesson, const Figure& figure) {
  pages.html += fmt::format("<p><img src=\"{0}-{1}.svg\" alt=\"{2}\"></p>\n", lesson.id, figure.id,
                            escaped(figure.title));
  pages.markdown += fmt::format("![{2}]({0}-{1}.svg)\n\n", lesson.id, figure.id, figure.title);
}

}  // namespace

std::vector<std::string> write_report(const Course& course, const std::string& folder) {
  make_folder(folder, Access::Shared, "report");
  std::vector<std::string> paths;
  std::exception_ptr failure;  // thrown at the end, so that all other files are written
  const auto write = [&](const std::string& name, const std::string& text) {
    try {
      write_file(folder + "/" + name, text, "report");
      paths.push_back(folder + "/" + name);
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
  };
  Pages pages;
  for (const Lesson& lesson : course.lessons) {
    const std::optional<Results> kept = load_results(lesson);
    add_head(pages, lesson);
    if (!kept) continue;
    add_rows(pages, claim_rows(lesson, *kept));
    const std::string limits = (std::filesystem::path(lesson.folder) / "limits.md").string();
    if (const auto text = read_input_file_if_there(limits, input::kPage))
      pages.markdown += "#" + *text + "\n";
    for (const Figure& figure : lesson.figures) {
      if (!figure.tape.empty() && figure.follow == 0) {
        add_tape(pages, lesson, figure);
        continue;
      }
      for (const bool dark : {false, true})
        write(picture_of(lesson, figure, dark), kept_svg(lesson, figure, *kept, ui::theme(dark), {640, 400}));
      add_figure(pages, lesson, figure);
    }
  }
  write("index.html", pages.html + "</html>\n");
  write("report.md", pages.markdown);
  write("claims.md", claim_table(course));
  for (const auto& [name, text] : why_pages(course)) write(name, text);
  if (failure) std::rethrow_exception(failure);
  return paths;
}
namespace {

constexpr float kSentenceLine = 17;

/// Draws a picture below its title and its sentence.
ui::Vec paint_still(ui::Painter& p, const ui::Theme& t, const Lesson& lesson, const Figure& figure,
                    const FigureData& data, plot::ExportSize size) {
  const ui::Rect whole{0, 0, size.width, size.height};
  p.begin_group(figure.title);
  p.fill(whole, t.panel);
  ui::Rect rest = whole.inset(ui::space::pad, 8);
  const Words& words = *lesson.words;
  ui::Rect head = rest.take_top(26);
  head.take_left(p.text_in(head, {ui::Face::Bold, ui::type::title}, t.ink, figure.title) + 12);
  if (data.reference && figure.bars.empty() && figure.follow == 0)  // nothing of a tape is random
    p.text_in(head, {ui::Face::Sans, ui::type::body}, t.ink3,
              words.tr("mean of {seeds} seeds", {{"seeds", data.reference->seeds}}));
  const auto say = [&](const std::string& sentence) {
    rest.take_top(p.text_wrapped(rest, {ui::Face::Sans, ui::type::body}, t.ink2, sentence, kSentenceLine), 6);
  };
  if (!figure.bars.empty()) {
    say(figure.note);
    Bars bars = bars_of(lesson.tape(figure.bars)->tape, {}, tape_beside(lesson, figure));
    bars.back_known = data.reference != nullptr && data.draw_only.empty();
    paint_bars(p, t, bars, rest, words, false);
  } else if (figure.follow > 0) {
    say(figure.note);
    const SmallTape& tape = lesson.tape(figure.tape)->tape;
    const bool known = data.reference != nullptr && data.draw_only.empty();
    const size_t done = known ? kMaxSmallNames * 2 : 0;
    const TapeTable table = table_of_tape(tape, done, words), shorter = table_of_tape(tape, done, words, 2);
    const TapeNetwork network = network_of(tape, table);
    draw_network(p, t, {&network, &table, &shorter, static_cast<size_t>(figure.follow)},
                 places_of(network, rest));
  } else if (!figure.chain.empty()) {
    const Chain chain = chain_of(figure, data, chain_layers(figure, data));
    say(chain.shown == 0 ? figure.note : chain_sentence(chain, words));
    paint_chain(p, t, chain, rest, words);
  } else {
    const auto [first, last] = walk_steps(lesson, figure, data);
    const Walk walk = walk_at(lesson, figure, data, opening_step(figure, {first, last}));
    say(last < first ? figure.note : walk_sentence(walk, words));
    paint_walk(p, t, walk, rest, words);
  }
  p.end_group();
  return {size.width, size.height};
}

}  // namespace

bool is_picture(const Figure& figure) {
  return !figure.walk.empty() || !figure.chain.empty() || !figure.bars.empty() || figure.follow > 0;
}

std::string picture_svg(const Lesson& lesson, const Figure& figure, const FigureData& data,
                        const ui::Theme& theme, plot::ExportSize size) {
  return ui::to_svg(
      figure.title,
      [&](ui::Painter& p, const ui::Theme& t) { return paint_still(p, t, lesson, figure, data, size); },
      theme);
}

}  // namespace normscope::course
