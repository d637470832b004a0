// Figures for a paper: a PDF and an SVG whose letters are outlines, in the size that a column asks for.
#include <regex>

#include "app/panels/plot_cell.h"
#include "app/plot/plot_layout.h"
#include "app/support/english.h"
#include "app/support/lab_plots.h"
#include "app/support/program.h"
#include "app/support/well_formed.h"
#include "app/ui/glyphs.h"
#include "app/view/caption_facts.h"
#include "catch.hpp"
#include "skip.h"

namespace normscope::plot {
namespace {

using test::contains;

/// Whether the table at the end leads to each of its objects.
bool leads_to_objects(const std::string& pdf) {
  const size_t table = pdf.rfind("xref\n0 ", pdf.rfind("startxref"));
  if (table == pdf.npos || std::stoul(pdf.substr(pdf.rfind("startxref\n") + 10)) != table) return false;
  size_t at = pdf.find("f \n", table) + 3;
  for (int number = 1; pdf.compare(at, 7, "trailer") != 0; ++number, at += 20) {
    const std::string head = fmt::format("{} 0 obj\n", number);
    if (pdf.compare(std::stoul(pdf.substr(at, 10)), head.size(), head) != 0) return false;
  }
  return true;
}

std::string content_of(const std::string& pdf) {
  const size_t begin = pdf.find("stream\n") + 7;
  return pdf.substr(begin, pdf.find("\nendstream") - begin);
}

bool there_is(const char* program) {
  return std::system(fmt::format("command -v {} >/dev/null 2>&1", program).c_str()) == 0;
}

}  // namespace

TEST_CASE("a figure for a paper is as wide as its column, has no font, and is the same bytes each time") {
  const PlotSpec plot = fixture::lab_plot("plot/loss");
  const std::string pdf = to_pdf(plot, {});
  CHECK(pdf.starts_with("%PDF-1.4\n"));
  CHECK(leads_to_objects(pdf));
  CHECK(pdf == to_pdf(plot, {}));
  CHECK_FALSE(contains(pdf, "/Font"));
  CHECK(contains(pdf, fmt::format("/Length {} ", content_of(pdf).size())));
  CHECK(contains(pdf, "/MediaBox [0 0 238.11 147.628]"));  // 84 mm, and 62 % of it, at 72 points an inch
  CHECK(std::abs(std::stof(content_of(pdf)) - 8 / 11.f) < 1e-5f);  // ticks of 11 px have 8 points
  CHECK(contains(to_pdf(plot, {.width = kTwoColumns, .height = 60}), "/MediaBox [0 0 493.228 170.079]"));

  const std::string svg = to_paper_svg(plot, {});
  CHECK(test::well_formed(svg));
  CHECK(contains(svg, "width=\"84mm\" height=\"52.08mm\""));
  CHECK_FALSE(contains(svg, "<text"));
  CHECK(contains(svg, "aria-label=\"loss, nats per letter\""));
  CHECK_FALSE(contains(svg, "aria-label=\"Loss\""));  // the title is the author's
  for (const std::string& words : {plot.sentence, plot.question}) CHECK_FALSE(contains(svg, words));
}

TEST_CASE("a figure gives the numbers at its y axis the room that they need") {
  const Measure measure = [](ui::TextStyle style, std::string_view text) {
    return ui::Glyphs::found().width(style, text);
  };
  const PlotSpec plot = fixture::lab_plot("plot/loss");
  CHECK(still(plot, measure, 300).pad_left == PlotSpec{}.pad_left);
  const float needed = still(plot, measure, 300, true).pad_left;
  CHECK(needed > measure({ui::Face::Mono, ui::type::tick}, "4"));
  CHECK(needed < 30);
}

TEST_CASE("qpdf finds no fault in a figure") {
  if (!there_is("qpdf")) SKIP_CASE("there is no qpdf");
  const test::Folder folder;
  for (const char* panel : {"plot/loss", "plot/gradient-by-layer", "plot/dependency"}) {
    const std::string path = folder.write("figure.pdf", to_pdf(fixture::lab_plot(panel), {}));
    CHECK(std::system(fmt::format("qpdf --check '{}' >/dev/null 2>&1", path).c_str()) == 0);
  }
}

TEST_CASE("the outlines of letters have the size of the text") {
  const ui::Glyphs& glyphs = ui::Glyphs::found();
  const ui::TextStyle style{ui::Face::Sans, 100};
  CHECK(glyphs.width(style, "MM") == 2 * glyphs.width(style, "M"));
  CHECK(glyphs.width({ui::Face::Sans, 50}, "MM") == glyphs.width(style, "M"));
  CHECK(glyphs.width(style, "\u4e00") == 0);           // no face has Chinese signs
  CHECK(glyphs.width(style, "W_Q") < glyphs.width(style, "WQ"));  // a small subscript
  float left = 1e9f, right = -1e9f, top = 1e9f, bottom = -1e9f;
  int begun = 0;
  for (const ui::Stroke& each : glyphs.outline(style, {10, 200}, "H")) {
    begun += each.to == ui::Stroke::To::Move ? 1 : each.to == ui::Stroke::To::Close ? -1 : 0;
    CHECK((begun == 0 || begun == 1));
    if (each.to == ui::Stroke::To::Close) continue;
    left = std::min(left, each.end.x), right = std::max(right, each.end.x);
    top = std::min(top, each.end.y), bottom = std::max(bottom, each.end.y);
  }
  CHECK(begun == 0);
  CHECK(bottom == 200);  // it stands on the baseline
  CHECK(std::abs(200 - top - 72.7f) < 1);
  CHECK(left >= 10);
  CHECK(right <= 10 + glyphs.width(style, "H"));
  CHECK_FALSE(
      glyphs.outline({ui::Face::Mono, 11}, {}, "β−1").empty());  // of another face, where this has none
  const test::Folder none;
  CHECK(contains(test::error_of([&] { ui::Glyphs(std::vector{none.file(".")}); }),
                 "expected the fonts Inter, JetBrains Mono or DejaVu"));
}

TEST_CASE("a figure in greys has no colour, and its runs differ") {
  const std::string content = content_of(to_pdf(fixture::lab_plot("plot/loss"), {.grey = true}));
  const std::regex colours("([0-9.]+) ([0-9.]+) ([0-9.]+) (rg|RG)");
  int seen = 0;
  for (auto at = std::sregex_iterator(content.begin(), content.end(), colours); at != std::sregex_iterator();
       ++at, ++seen)
    CHECK(((*at)[1] == (*at)[2] && (*at)[2] == (*at)[3]));
  CHECK(seen > 20);
  const ui::Theme& grey = ui::grey_theme();
  for (int a = 0; a < ui::max_runs; ++a) {
    const ui::RunLook& one = grey.runs[static_cast<size_t>(a)];
    CHECK(ui::contrast(one.line, grey.panel) >= 3);
    CHECK(ui::contrast(one.text, grey.panel) >= 4.5);
    for (int b = 0; b < a; ++b) {
      const ui::RunLook& other = grey.runs[static_cast<size_t>(b)];
      if (one.dash.on == other.dash.on && one.dash.off == other.dash.off && one.marker == other.marker)
        CHECK(ui::contrast(one.line, other.line) >= 1.5);
    }
  }
}

TEST_CASE("with a figure for a paper its data and what the caption needs are saved") {
  const test::Folder folder;
  const auto lab = fixture::lab_view({.step = 214});
  const std::string facts = view::caption_facts(*lab);
  for (const RunView& run : lab->runs)
    CHECK(contains(facts,
                   fmt::format("{}: {}; seed {}, step {}", run.letter, run.name, run.spec->seed, run.step)));
  CHECK(contains(facts, "normscope"));
  const PlotSpec plot = fixture::lab_plot("plot/loss");
  const view::SavePlot save{std::make_shared<const std::vector<PlotSpec>>(1, plot),
                            {},
                            view::PlotFormat::Pdf,
                            {.width = 60, .grey = true},
                            facts};
  const std::vector<std::string> paths = panels::save_plot(save, folder.file("."), true);
  REQUIRE(paths.size() == 3);
  CHECK(test::read_all(paths[0]) == to_pdf(plot, {.width = 60, .grey = true}));
  CHECK(test::read_all(paths[1]) == to_csv(plot));
  CHECK(test::read_all(paths[2]) == panels::figure_words(plot, facts));
  for (const std::string& path : paths) CHECK(contains(path, "normscope-" + plot.id + "."));
}

}  // namespace normscope::plot
