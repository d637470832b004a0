// These tests read lessons as data: what the reader refuses and how it says so, measures on made-up curves, checks, and
// that one changed number turns every lesson's claim down.
#include <algorithm>
#include <regex>

#include "app/course/map.h"
#include "app/course/report.h"
#include "app/course/tables.h"
#include "app/support/shipped_course.h"
#include "app/ui/numbers.h"
#include "training/support/lab_runs.h"
#include "training/trainer/trainer.h"

using namespace normscope;
using namespace course;
using namespace experiments;
using test::contains, test::write_text;
namespace fs = std::filesystem;

namespace {

const std::string kLessons = NORMSCOPE_SOURCE_DIR "/lessons";

const Lesson& lesson_of(const Course& course, const std::string& id) {
  const Lesson* lesson = course.find(id);
  REQUIRE(lesson);
  return *lesson;
}

/// Demands that a source says that nobody has looked there, but for four that were read.
bool tells_what_was_read(const std::string& source) {
  for (const char* read : {"Xiong et al. 2020, On Layer Normalization", "Liu et al. 2020, Understanding",
                           "Xu et al. 2019, Understanding", "Su 2022, blog of March 29"})
    if (source.starts_with(read)) return true;
  return contains(source, "(from the literature, not checked here)") || contains(source, ": docs/theory.md");
}

void shorten(Lesson& lesson, int32_t steps) {
  for (LessonRun* run : lesson.all_runs()) run->spec.train.steps = steps;
}

/// Counts the sentences of the paragraph that is always seen of how far a claim reaches.
int sentences_of_reach(const Lesson& lesson) {
  const std::string text = test::read_all(fs::path(lesson.folder) / "explain.md");
  const std::string heading = "## How far does this reach?\n\n";
  const size_t at = text.find(heading);
  if (at == text.npos) return 0;
  const size_t from = at + heading.size();
  std::string seen = text.substr(from, text.find("\n\n", from) - from) + " ";
  seen = std::regex_replace(seen, std::regex("et al\\.|\\{[^}]*\\}"), "");
  const std::regex end("[.!?] ");
  return static_cast<int>(
      std::distance(std::sregex_iterator(seen.begin(), seen.end(), end), std::sregex_iterator()));
}

TEST_CASE("the course reads, and keeps its own rules") {
  const Course& course = fixture::shipped_course();
  for (const LessonError& broken : course.broken) FAIL_CHECK(broken.error);
  CHECK(course.lessons.size() >= 16);
  for (const Lesson& lesson : course.lessons) {
    INFO(lesson.id);
    CHECK(lesson.sources.size() >= 1);
    for (const std::string& source : lesson.sources) {
      INFO(source);
      CHECK(tells_what_was_read(source));
    }
    CHECK(lesson.checks.size() >= 3);
    CHECK(sentences_of_reach(lesson) == 2);
  }
}

/// Whether a lesson asks to order all its lettered runs, and placements alone do not tell these apart: then a letter
/// belongs to a card.
bool letters_are_of_cards(const Lesson& lesson) {
  std::set<std::string> asked, placements;
  for (const Prediction::Card& card : lesson.prediction.cards)
    if (const Curve* curve = lesson.curve(lesson.measure(card.measure)->curve)) asked.insert(curve->run);
  for (const LessonRun& run : lesson.runs)
    placements.insert(get_field(run.spec, "model.placement") +
                      get_field(run.spec, "model.encoder_placement"));
  return placements.size() < lesson.runs.size() && asked.size() == lesson.runs.size() &&
         std::ranges::all_of(lesson.runs, [&](const LessonRun& run) { return asked.contains(run.id); });
}

TEST_CASE("a letter means the same in every lesson") {
  // As lessons/README.md has it: A Post-LN without warm-up, B Post-LN with one, C Pre-LN, D what a lesson adds. A
  // second addition takes B where no Post-LN with a warm-up is.
  size_t seen = 0, of_cards = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    if (letters_are_of_cards(lesson)) {
      INFO(lesson.id);
      CHECK(lesson.id == "why-a-norm");
      CHECK(lesson.runs.size() == lesson.prediction.cards.size());
      ++of_cards;
      continue;
    }
    const auto is = [](const LessonRun& run, const char* placement) {
      return get_field(run.spec, "model.placement") == placement &&
             get_field(run.spec, "model.encoder_placement") == "same";
    };
    for (const LessonRun& run : lesson.runs) {
      INFO(lesson.id << ", run " << run.id << ", " << run.name);
      const bool warm = run.spec.train.schedule.warmup > 0;
      const RunSpec& first = lesson.runs.front().spec;  // another optimizer, norm or attention
      const bool adds = run.spec.train.optimizer != first.train.optimizer ||
                        run.spec.model.norm != first.model.norm ||
                        run.spec.model.attention.mixing != first.model.attention.mixing;
      ++seen;
      if (run.id == "A") CHECK((is(run, "post") && !warm));
      if (run.id == "B") CHECK(((is(run, "post") && warm) || (!is(run, "pre") && lesson.has_letter("D"))));
      if (run.id == "C") CHECK(is(run, "pre"));
      if (run.id == "D") CHECK((adds || !(is(run, "post") || is(run, "pre"))));
      if (is(run, "post") && !adds) CHECK(run.id == (warm ? "B" : "A"));
      if (is(run, "pre")) CHECK(run.id == "C");
    }
  }
  CHECK(seen > 30);
  CHECK(of_cards == 1);
}

TEST_CASE("no line has the look of another run than the one that it was measured of") {
  for (const Lesson& lesson : fixture::shipped_course().lessons)
    for (const Figure& figure : lesson.figures)
      for (const FigureLine& line : figure.lines) {
        INFO(lesson.id << ", figure " << figure.id << ", line " << line.curve);
        const std::string& run = lesson.curve(line.curve)->run;
        CHECK((line.run.empty() || line.run == run || !lesson.has_letter(run)));
      }
}

TEST_CASE("what surprises in lesson 1 can be seen: the two losses stand apart") {
  const Lesson& lesson = *fixture::shipped_course().find("why-a-norm");
  const Results seeds = *load_results(lesson);
  const std::vector<std::string>& figures = lesson.step(StepKind::Compare).figures;
  CHECK(std::ranges::any_of(figures, [&](const std::string& id) {
    const Figure& figure = *lesson.figure(id);
    const auto at = [&](const char* measure) {
      const double loss = seeds.measures.at(measure).spread.mean;
      return figure.y.log ? std::log(loss / figure.y.low) / std::log(figure.y.high / figure.y.low)
                          : (loss - figure.y.low) / (figure.y.high - figure.y.low);
    };
    return at("pre_small") - at("none_small") > 0.1;
  }));
  // Its axis ends before the curves do, and the numbers stand at the points that are seen.
  FigureData data;
  data.reference = &seeds;
  const plot::PlotSpec plot = figure_plot(lesson, *lesson.figure("close"), data);
  REQUIRE(plot.series.size() == 2);
  CHECK(plot.series[0].value == ui::decimals(seeds.curves.at("by_size_D").mean[2], 2));
  CHECK(plot.series[1].value == ui::decimals(seeds.curves.at("by_size_C").mean[2], 2));
}

TEST_CASE("recorded means are thin lines with a name, until the learner's own line has come as far") {
  const Lesson& lesson = *fixture::shipped_course().find("two-stacks");
  const fixture::FiveSeeds kept(lesson);
  const Figure& figure = *lesson.figure("losses");
  CurveSet own;
  FigureData data = kept.data();
  data.own = &own;
  data.recorded = true;
  const auto recorded = [&] {
    std::map<std::string, plot::Series> found;
    for (const plot::Series& series : figure_plot(lesson, figure, data).series)
      if (series.id.ends_with(".recorded")) found[series.letter] = series;
    return found;
  };
  const std::map<std::string, plot::Series> at_first = recorded();
  REQUIRE(at_first.size() == 4);
  for (const auto& [letter, series] : at_first) {
    const CurveBand& band = kept.results->curves.at("loss_" + letter);
    CHECK(series.end_label);
    const Measure& end = *lesson.measure("end_" + letter);
    CHECK(contains(shown(kept.results->measures.at(end.id).spread.mean, end, *lesson.words), series.value));
    CHECK(series.y.size() == band.mean.size());
    CHECK(series.width < plot::Series{}.width);
  }
  const CurveBand& whole = kept.results->curves.at("loss_A");
  own["loss_A"] = {{whole.x.begin(), whole.x.begin() + 100}, {whole.mean.begin(), whole.mean.begin() + 100}};
  CHECK_FALSE(recorded().at("A").end_label);  // the own line has it now
  CHECK(recorded().at("B").end_label);
  own["loss_A"] = {whole.x, whole.mean};
  CHECK_FALSE(recorded().contains("A"));
  CHECK(recorded().size() == 3);
  data.changes["B"]["train.lr"] = "0.001";  // the five seeds had no such rate
  CHECK_FALSE(recorded().contains("B"));
  data.recorded = false;
  CHECK(recorded().empty());
}

TEST_CASE("no range of five seeds covers a step along which a ball is dragged") {
  size_t balls = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    const std::optional<Results> seeds = load_results(lesson);
    FigureData data;
    data.reference = seeds ? &*seeds : nullptr;
    for (const Figure& figure : lesson.figures)
      if (!figure.ball.empty()) {
        ++balls;
        CHECK(figure_plot(lesson, figure, data).bands.empty());
      }
  }
  CHECK(balls == 2);
}

TEST_CASE("a broken lesson names file, line, key and what was expected; the others open") {
  const fixture::CourseCopy copy("05-growing-stream");  // which trains nothing
  const auto error = [&] {
    const Course course = read_course(copy.folder.path.string());
    CHECK(course.lessons.size() + 1 == fixture::shipped_course().lessons.size());  // the others still open
    REQUIRE(course.broken.size() == 1);
    return course.broken[0].error;
  };
  std::string wall;
  for (int i = 0; i < 140; ++i) wall += "word ";
  struct Fault {
    const char* file;
    std::string from, to;
    std::vector<std::string> says;
  };
  // Those of lesson.toml alone: tests/refusals/lesson.txt.
  const Fault faults[] = {
      {"lesson.toml", "minutes = 6", "minutes = 6\nhours = 1", {"lesson.toml:6: [hours] is not known here"}},
      {"compare.md",
       "\\frac{\\ell}{2}",
       "\\frak{\\ell}{2}",
       {"compare.md:", "\\frak is not known", "position"}},
      {"run.md", "Fresh", "Fr\xffsh", {"run.md:1: a byte that is not UTF-8"}},
      {"predict.md",
       "According to",
       "After {value pre_last}, according to",
       {"predict.md:1: {pre_last} before the prediction"}},
      {"run.md", "Fresh", wall, {"expected at most"}},
      {"run.md",
       "Fresh",
       "It is {value pre_last}. Fresh",
       {"run.md:1: {value pre_last} in a sentence with one form only: expected {if NAME"}},
      {"run.md",
       "Fresh",
       "{if pre_last > 7}It is {value pre_last}.{end} Fresh",
       {"run.md:1: {if pre_last > 7} has no form for the case that it is not so: expected {else}"}}};
  for (const Fault& fault : faults) {
    INFO(fault.file << ": " << fault.says[0]);
    const std::string whole = copy.read(fault.file);
    copy.replace(fault.file, fault.from, fault.to);
    const std::string said = error();
    for (const std::string& words : fault.says) CHECK(contains(said, words));
    write_text(copy.path(fault.file), whole);
  }
  fs::remove(copy.path("compare.md"));
  CHECK(contains(error(), "compare.md:1: the file is missing"));
}

TEST_CASE("prose: blocks, formulas and braces") {
  const Prose p = parse_prose(
      "Run {A} falls by *much*, $x_1$ and {value fall}.\n\n$$ a = b $$ for all\n\n## How far does this reach?\n\n- one\n",
      "t.md");
  REQUIRE(p.blocks.size() == 4);
  CHECK(p.blocks[0].inlines[1].kind == Inline::Kind::Tile);
  CHECK(p.blocks[1].kind == Block::Kind::Display);
  CHECK(p.blocks[2].kind == Block::Kind::Heading);
  CHECK(p.blocks[3].kind == Block::Kind::Item);
  CHECK(p.words() == 17);
  CHECK_THROWS_WITH(parse_prose("a\n\nb {walue x}", "t.md"),
                    Catch::Contains("t.md:3: {walue x}: expected {A}"));
  CHECK_THROWS_WITH(parse_prose("a `code`", "t.md"), Catch::Contains("t.md:1"));
}

TEST_CASE(
    "values at a bound of their measurement are counted and have a median, which the bound does not move") {
  const std::vector<double> near{0.55, 0.3, 64, 64, 64};
  Lesson lesson;
  lesson.curves.push_back({.id = "share", .y = "rate / critical_rate"});
  lesson.curves.push_back({.id = "border", .of = Curve::Of::Border, .xs = {0, 60}, .values = {0.001, 0.002}});
  const Measure passes{.curve = "share", .take = "passes", .limit = 1, .mean = Mean::Count},
      middle{.curve = "share", .take = "median", .mean = Mean::Median};
  const CurveSet set{{"share", {{1, 6, 11}, {0.2, 64, 0.4}}}};
  CHECK(evaluate(lesson, passes, set) == 1);
  CHECK(evaluate(lesson, {.curve = "share", .take = "passes", .a = 10, .b = 12, .limit = 1}, set) == 0);
  CHECK(evaluate(lesson, middle, set) == 0.4);
  CHECK(range_text(spread_of({0, 1, 1, 0, 1}, Mean::Count), passes) == "3 of 5");
  CHECK(spread_text({nullptr, &passes, {{0, 1, 1, 0, 1}, spread_of({0, 1, 1, 0, 1}, Mean::Count)}, true}) ==
        "3 of 5");
  // What lies at a bound says so wherever it is shown.
  lesson.measures = {
      {.id = "most", .curve = "share", .take = "max", .mean = Mean::Median},
      {.id = "rate", .curve = "border", .take = "at", .mean = Mean::Median},
      {.id = "twice", .take = "ratio", .first = "rate", .second = "rate", .mean = Mean::Median}};
  set_bounds(lesson);
  CHECK(shown(64, lesson.measures[0]) == "at least 64");
  CHECK(shown(static_cast<double>(0.003F / (0.003F / 64)), lesson.measures[0]) == "at least 64");
  CHECK(shown(1.0 / 1024, lesson.measures[0]) == "at most 0.00098");
  CHECK(shown(63, lesson.measures[0]) == "63");
  CHECK(range_text(spread_of(near, Mean::Median), lesson.measures[0]) == "0.3 to at least 64");
  CHECK(shown(0.002, lesson.measures[1]) == "at least 0.002");
  CHECK(shown(0.001, lesson.measures[1]) == "0.001");
  CHECK(may_be_censored(lesson, lesson.measures[2]));
  CHECK_FALSE(may_be_censored(lesson, passes));
  CHECK_FALSE(may_be_censored(Curve{.id = "c", .y = "loss"}));
}

TEST_CASE("a line, a root and a logarithm come out as themselves") {
  Lesson lesson;
  lesson.curves.push_back({.id = "c"});
  lesson.curves.push_back({.id = "n"});
  lesson.measures.push_back({.id = "n0", .curve = "n", .take = "mean"});
  const std::vector<std::string> laws{"line", "root", "log"};
  const std::vector<double> x{2, 4, 6, 8, 12, 16, 24, 36};
  for (const std::string& is : laws)
    for (double offset : {3.0, 10.0}) {
      CurveSet set;
      set["c"] = {x, law_values(is, x, offset)};
      set["n"] = {{1}, {offset}};
      for (double& y : set["c"].y) y *= 0.07;  // a law is known up to its factor
      for (const std::string& said : laws) {
        INFO(is << " with N0 " << offset << ", said to be a " << said);
        Measure lead{.curve = "c", .take = "lead", .law = said, .offset = "n0"};
        for (const std::string& other : laws)
          if (other != said) lead.rivals.push_back(other);
        const double times = evaluate(lesson, lead, set);
        const double miss = misfit(law_values(said, x, offset), set["c"].y);
        if (is == said) {
          CHECK(miss < 1e-7);
          CHECK(times > 100);
        } else {
          CHECK(miss > 0.04);  // the nearest two: a root and log(1 + N/3), 4.2 % apart over these N
          CHECK(times < 1);
        }
      }
    }
  CHECK(std::isnan(misfit({1, 2}, {1, 2, 3})));
}

TEST_CASE("every check tells its claim from the neighbour that it names") {
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    const auto kept = load_results(lesson);
    REQUIRE(kept);
    for (const Check& check : lesson.checks)
      for (const Neighbour& neighbour : check.excludes) {
        const std::vector<double> there = values_of(lesson, check, neighbour, *kept);
        REQUIRE_FALSE(there.empty());
        for (double value : there) {
          INFO(lesson.id << ", " << check.measure << ": " << check.says << " Neighbour: " << neighbour.what
                         << ", " << value);
          CHECK_FALSE(std::isnan(value));  // what could not be measured excludes nothing
          CHECK_FALSE(holds(check, {{value}, {}}));
        }
      }
  }
}

TEST_CASE("one changed number turns a claim down, with the sentence that it contradicts") {
  const Course& course = fixture::shipped_course();
  RunStore store(2);
  struct Mutation {
    const char *lesson, *run, *field, *value;
    const char* says;  // of a check that must fail
    int32_t steps;
  };
  // Fewer steps where the first ones decide already: the mutation must be seen, not the whole lesson repeated.
  const Mutation mutations[] = {
      {"why-a-norm", "usual_none", "model.placement", "pre",
       "Without norms the stream of an untrained model grows", 2},
      {"warm-up", "C", "model.placement", "post", "Pre-LN learns without any warm-up.", 120},
      {"first-steps", "A", "train.lr", "1e-5", "The gradient that reaches layer 1 falls", 20},
      {"last-layer", "C", "model.placement", "post", "At one position Pre-LN's falls like", 0},
      {"growing-stream", "C", "model.placement", "post",
       "After every layer l the stream of Pre-LN has at least", 0},
      {"dependency", "C", "model.placement", "post", "With 36 sub-layers Post-LN changes", 0},
      {"admin", "D", "model.placement", "post", "Admin's last branch starts with a share like Pre-LN's.", 2},
      {"two-stacks", "A", "model.placement", "pre", "In a Post-LN decoder that reads an encoder", 2},
      {"not-only-adam", "raw", "train.bias_correction", "true", "Without Adam's correction it sticks", 120},
      {"price-of-pre-ln", "C", "model.placement", "admin", "Without its top quarter Admin loses more", 20},
      {"map-of-rates", "A", "model.placement", "pre", "Without warm-up Post-LN learns at 0.002", 40},
      {"after-the-papers", "lns", "model.placement", "pre", "LayerNorm Scaling does what it is made for", 0},
      {"edge-of-stability", "C", "model.placement", "post",
       "Pre-LN at full rate stays below its critical rate", 0},
      {"inside-layernorm", "variance", "model.norm", "detach-mean", "With the variance held constant", 120},
      {"eighteen-layers", "A", "model.placement", "pre", "Before training the own shares of Post-LN", 0},
  };
  for (const Lesson& lesson : course.lessons) {  // those of a tape alone: test_lesson_tape.cpp
    INFO(lesson.id);
    CHECK((lesson.runs.empty() || std::any_of(std::begin(mutations), std::end(mutations),
                                              [&](const Mutation& m) { return lesson.id == m.lesson; })));
  }
  for (const Mutation& m : mutations) {
    INFO(m.lesson);
    Lesson lesson = lesson_of(course, m.lesson);
    if (m.steps > 0) shorten(lesson, m.steps);
    for (LessonRun* run : lesson.all_runs())
      if (run->id == m.run) {
        set_field(run->spec, m.field, m.value);
        complete(run->spec);
      }
    // Only what the check in question needs.
    std::erase_if(lesson.checks, [&](const Check& c) { return !contains(c.says, m.says); });
    REQUIRE(lesson.checks.size() == 1);
    std::vector<std::string> needed;
    const std::function<void(const std::string&)> need = [&](const std::string& id) {
      const Measure& measure = *lesson.measure(id);
      if (!measure.curve.empty()) return needed.push_back(measure.curve);
      need(measure.first);
      need(measure.second);
    };
    need(lesson.checks[0].measure);
    std::erase_if(lesson.curves,
                  [&](const Curve& c) { return std::ranges::find(needed, c.id) == needed.end(); });
    const Measure& asked = *lesson.measure(lesson.checks[0].measure);
    for (Curve& c : lesson.curves) {
      c.fast_seeds = 1;
      if (c.of == Curve::Of::Border && asked.take == "at") c.xs = {asked.a};  // the one column that is read
    }
    lesson.figures.clear();
    for (Measure& measure : lesson.measures)  // the loss at the end of as many steps
      if (m.steps >= 100 && measure.take == "mean" && measure.a > m.steps) {
        measure.a = m.steps - 19;
        measure.b = m.steps;
      }
    const LessonReport report = check_lesson(lesson, store, Tier::Fast);
    CHECK_FALSE(report.passed());
    CHECK(contains(to_text(report), "this contradicts: " + lesson.checks[0].says));
    CHECK(contains(to_text(report), "FAIL"));
    CHECK_FALSE(report.stale.empty());  // and its numbers are no longer those that were kept
  }
}

TEST_CASE("the example of lessons/README.md is a whole lesson, and its claim holds") {
  const std::string page = test::read_all(fs::path(kLessons) / "README.md");
  const auto block = [&](const std::string& kind) {
    const size_t from = page.find("```" + kind + "\n") + kind.size() + 4;
    return page.substr(from, page.find("```", from) - from);
  };
  const fs::path folder = "lesson_example_test/07-light-start";
  fs::remove_all(folder.parent_path());
  fs::create_directories(folder);
  write_text(folder / "lesson.toml", block("toml"));
  write_text(folder / "explain.md", block("markdown"));
  for (const char* step : {"predict", "run", "compare"})
    write_text(folder / (std::string(step) + ".md"), "Runs {A} and {B}.\n");
  const Course course = read_course(folder.parent_path().string());
  for (const LessonError& broken : course.broken) FAIL_CHECK(broken.error);
  REQUIRE(course.lessons.size() == 1);
  RunStore store(2);
  const LessonReport report = check_lesson(course.lessons[0], store, Tier::Fast);
  INFO(to_text(report));
  CHECK(report.passed());
  // Every key, word and command of the page is one that the reader knows: the others are refused.
  save_results(course.lessons[0], report.results);
  CHECK(load_results(course.lessons[0]));
  fs::remove_all(folder.parent_path());
}

TEST_CASE("measured.json is of this course") {
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    INFO(lesson.id << ": write it again with normscope lesson check --full --write");
    const auto kept = load_results(lesson);
    REQUIRE(kept);
    CHECK(kept->seeds == kFullSeeds);
    for (const Check& check : lesson.checks)
      for (double v : kept->measures.at(check.measure).values) {
        INFO(check.measure << " " << v);
        CHECK((!check.low || v >= *check.low));
        CHECK((!check.high || v <= *check.high));
      }
  }
}

TEST_CASE("a line over many settings is no run's: it carries no run's letter") {
  const Course& course = fixture::shipped_course();
  size_t sweeps = 0, others = 0;
  for (const Lesson& lesson : course.lessons) {
    const fixture::FiveSeeds kept(lesson);
    for (const Figure& figure : lesson.figures)
      for (const plot::Series& s : figure_plot(lesson, figure, kept.data()).series) {
        const Curve* curve = lesson.curve(s.id);
        INFO(lesson.id << ": " << figure.id << ": " << s.id);
        if (!curve) continue;
        const bool sweep = is_swept(*curve);
        CHECK((!sweep || (s.letter.empty() && !s.name.empty())));
        (sweep ? sweeps : others)++;
      }
  }
  CHECK(sweeps > 0);
  CHECK(others > 10);
}

TEST_CASE("the report has every claim and figure, in both forms") {
  const Course& course = fixture::shipped_course();
  const std::string folder = "lesson_report_test";
  const std::vector<std::string> paths = write_report(course, folder);
  const std::string html = test::read_all(folder + "/index.html"),
                    markdown = test::read_all(folder + "/report.md");
  for (const Lesson& lesson : course.lessons) {
    CHECK(contains(markdown, lesson.claim));
    CHECK(contains(html, lesson.title.substr(0, 9)));
    CHECK(contains(test::read_all(folder + "/claims.md"), lesson.claim));
    for (const Figure& figure : lesson.figures)
      if (!figure.tape.empty() && figure.follow == 0)
        CHECK((contains(markdown, figure.title + ":\n\n| name |") && contains(html, "<h3>" + figure.title)));
      else
        CHECK(contains(test::read_all(folder + "/" + lesson.id + "-" + figure.id + ".svg"), "</svg>"));
  }
  CHECK(paths.size() > 20);
  // Where a curve has few points its ranges are bars, and the note says so.
  CHECK(contains(test::read_all(folder + "/map-of-rates-borders.svg"), "5 seeds, ranges as bars"));
  CHECK(contains(test::read_all(folder + "/warm-up-losses.svg"), "5 seeds, range as band"));
  fs::remove_all(folder);
}

TEST_CASE("the claim table of the manual is that of measured.json") {
  const Course& course = fixture::shipped_course();
  const std::string page = test::read_all(NORMSCOPE_SOURCE_DIR "/docs/claims.md");
  INFO("write it again with normscope lesson report --page docs/claims.md");
  CHECK(contains(page, claim_table(course)));
  CHECK(with_claims(page, course, "claims.md") == page);
  for (const Lesson& lesson : course.lessons) CHECK(contains(page, lesson.claim));
  for (const Lesson& lesson : course.lessons)
    for (const Check& check : lesson.checks) CHECK(contains(page, check.says));
  CHECK_THROWS_WITH(with_claims("no markers", course, "page.md"),
                    Catch::Contains("page.md:1: has no place for the claim table"));
}

TEST_CASE(
    "the Limits of a lesson say in which settings its effect fails, and what only time undoes is called slow") {
  const std::map<std::string, std::vector<std::string>> words{
      {"width 32", {"width 32"}},         {"width 128", {"width 128"}},   {"depth × 0.5", {"half", "three"}},
      {"depth × 2", {"twice", "twelve"}}, {"steps × 5", {"1,500 steps"}}, {"another text", {"another text"}},
      {"warm-up 50", {"warm-up"}},        {"warm-up 100", {"warm-up"}},   {"warm-up 200", {"warm-up"}},
      {"no warm-up", {"warm-up"}}};
  size_t failing = 0, slow = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    const std::string explain = test::read_all(fs::path(lesson.folder) / "explain.md");
    const std::string limits = explain.substr(explain.find("## How far does this reach?"));
    const std::vector<std::vector<std::string>> rows = [&] {
      std::vector<std::vector<std::string>> table;
      std::istringstream in(test::read_all(fs::path(lesson.folder) / "limits.md"));
      for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("| ")) continue;
        table.emplace_back();
        for (size_t at = 2, end; (end = line.find(" |", at)) != std::string::npos; at = end + 3)
          table.back().push_back(line.substr(at, end - at));
      }
      return table;
    }();
    for (const std::vector<std::string>& row : rows) {
      const auto setting = words.find(row.front());
      if (setting == words.end()) continue;  // the head, and the lesson as it is
      for (size_t i = 1; i < row.size(); ++i) {
        if (!row[i].starts_with("**")) continue;
        INFO(lesson.id << ": " << rows.front()[i] << ", " << row.front() << ": " << row[i]);
        ++failing;
        CHECK(std::ranges::any_of(setting->second,
                                  [&](const std::string& word) { return contains(limits, word); }));
        if (row.front() != "steps × 5") continue;
        for (const Check& check : lesson.checks)
          if (rows.front()[i].starts_with(lesson.measure(check.measure)->label + " ("))
            CHECK(contains(check.says, "slow"));
        CHECK(contains(lesson.claim, "slow"));
        ++slow;
      }
    }
  }
  CHECK(failing > 20);
  CHECK(slow == 2);
}

// These tests demand that the lessons' runs are trained once, found in the store that they share with the Lab, and
// have the same bits however many are trained side by side.

TEST_CASE("the same run is never trained twice") {
  RunStore store(1);
  RunSpec spec = test::with_fields({}, {{"train.steps", "3"}});
  int steps = 0;
  const auto count = [&](const RunProgress&) {
    ++steps;
    return true;
  };
  const auto first = store.get({spec}, count), again = store.get({spec}, count);
  CHECK(first == again);
  CHECK(steps == 3);
  CHECK(store.trained() == 1);
  CHECK(store.beside(1)->get({spec}, count) == first);
  store.get({spec, {{2, "train.lr", "0.001"}}}, count);
  CHECK(store.trained() == 2);
  CHECK_THROWS_AS(store.get({preset_run("pre")}, [](const RunProgress&) { return false; }), Cancelled);
}

std::vector<float> losses_of(const History& history) { return history.loss().values; }

}  // namespace

TEST_CASE("the Lab and the lessons have one store: what one has trained the other finds") {
  std::vector<RunSpec> specs{preset_run("post"), preset_run("pre")};
  for (RunSpec& spec : specs) set_field(spec, "train.steps", "12");
  const std::vector<std::vector<Edit>> edits{{{5, "train.lr", "0.001"}}, {}};
  int steps = 0;
  const auto count = [&](const RunProgress&) {
    ++steps;
    return true;
  };

  SECTION("trained in the Lab, an edit on the way included, found by a lesson") {
    Lab lab({.threads = 1});
    test::view_after(lab, session::ReplaceRuns{specs, edits, true});
    REQUIRE(lab.view()->step == 12);
    RunStore store(1, lab.trainer());
    RunStore alone(1);
    for (size_t i = 0; i < 2; ++i) {
      const auto found = store.get({specs[i], edits[i]}, count);
      CHECK(steps == 0);
      const auto trained = alone.get({specs[i], edits[i]}, {});
      CHECK(losses_of(*found->history) == losses_of(*trained->history));
      CHECK(found->text == trained->text);
      CHECK(found->shares_start == trained->shares_start);
      CHECK(found->shares_end == trained->shares_end);
    }
    CHECK(store.trained() == 0);
  }
  SECTION("trained by a lesson, opened in the Lab: it stands at its end and goes on from there") {
    auto trainer = std::make_shared<Trainer>(1);
    RunStore store(1, trainer);
    const auto known = store.get({specs[0], edits[0]}, count);
    REQUIRE(steps == 12);
    Lab lab({.threads = 1, .trainer = trainer}), straight({.threads = 1});
    test::view_after(lab, session::ReplaceRuns{{specs[0]}, {edits[0]}, true, true});
    auto view = lab.view();
    REQUIRE(view->runs.size() == 1);
    CHECK(view->step == 12);
    CHECK(view->seconds_per_step == 0);  // nothing was trained
    CHECK(losses_of(*view->runs[0].history) == losses_of(*known->history));
    CHECK(view->runs[0].edits == edits[0]);
    // With one that nobody trained, that one catches up.
    test::view_after(lab, session::ReplaceRuns{specs, edits, true, true});
    CHECK(lab.view()->runs[1].step == 12);
    // Trained on, it is the run that was never interrupted.
    lab.post(session::SetBudget{20});
    test::view_after(lab, session::Play{});
    straight.post(session::ReplaceRuns{specs, edits, false});
    straight.post(session::SetBudget{20});
    test::view_after(straight, session::Play{});
    for (size_t i = 0; i < 2; ++i)
      CHECK(losses_of(*lab.view()->runs[i].history) == losses_of(*straight.view()->runs[i].history));
  }
}

TEST_CASE("side by side on two threads a lesson comes to the same bits as on one") {
  Lesson lesson = read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/07-admin");
  for (LessonRun& run : lesson.runs) run.spec.train.steps = 6;
  for (Curve& curve : lesson.curves)
    if (curve.of == Curve::Of::Run) curve.from = 1;
  for (Measure& measure : lesson.measures)
    if (measure.take == "mean") {
      measure.a = 1;
      measure.b = 6;
    }
  RunStore one(1), two(2);
  const Results a = check_lesson(lesson, one, Tier::Fast).results,
                b = check_lesson(lesson, two, Tier::Fast).results;
  for (const auto& [id, measured] : a.measures) CHECK(measured.values == b.measures.at(id).values);
  CHECK(a.texts == b.texts);
}
