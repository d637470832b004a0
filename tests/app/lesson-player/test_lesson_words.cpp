// What a lesson says is of the run that is shown: labels from settings, sentences in several forms, sweeps
// with their new point, terms that open the glossary, measurements that outlive the window.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "answers.h"
#include "app/course/curves.h"
#include "app/course/figures.h"
#include "app/course/reader.h"
#include "app/lesson-player/flow.h"
#include "app/support/listing.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "app/view/glossary.h"

using namespace normscope;
using namespace course;
using namespace normscope::lesson_player;
using fixture::PlayerDriver;
namespace fs = std::filesystem;

namespace {

/// The course, whole: what cannot be read fails here with its reason, and not where it is missed.
const Course& whole_course() {
  const Course& course = fixture::shipped_course();
  for (const LessonError& broken : course.broken) FAIL(broken.error);
  return course;
}

/// Reads "B:train.warmup=30 A:train.lr=0.001".
Changes changes_in(std::istream& words) {
  Changes changes;
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':'), equal = word.find('=');
    changes[word.substr(0, colon)][word.substr(colon + 1, equal - colon - 1)] = word.substr(equal + 1);
  }
  return changes;
}

/// What the course makes of a line of tests/answers/course.txt.
std::string answer_of(const std::string& line) {
  const auto [verb, rest] = test::verb_and_rest(line);
  std::istringstream words(rest);
  std::string first, second;
  if (verb == "sentence") {  // with the measure's value, or "unmeasured"
    words >> first >> std::ws;
    std::getline(words, second);
    std::string out;
    const auto value = first == "unmeasured" ? std::nullopt : std::optional(std::stod(first));
    const Prose prose = parse_prose(second, "t.md");
    for (const Inline& piece : read_as(
             prose.blocks[0].inlines, [&](const std::string&) { return value; }, "(later)"))
      out += piece.text;
    return out;
  }
  if (verb == "prose") return fmt::format("{} words", parse_prose(test::unescaped(rest), "t.md").words());
  if (verb == "label") {  // of a run, or of it in a curve
    words >> first >> second;
    const Lesson& lesson = *fixture::shipped_course().find(first);
    const size_t slash = second.find('/');
    return run_label(lesson, second.substr(0, slash), changes_in(words),
                     slash == second.npos ? nullptr : lesson.curve(second.substr(slash + 1)));
  }
  if (verb == "sweep") {
    words >> first >> second;
    const Lesson& lesson = *fixture::shipped_course().find(first);
    const std::vector<double> values = sweep_values(lesson, *lesson.curve(second), 1, changes_in(words), {});
    return fmt::format("{}", fmt::join(values, " "));
  }
  if (verb == "plain") return plain_word(rest);
  if (verb == "term") {
    const std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
    const TermMatch match = term_at_start(list);
    return match.term ? fmt::format("{}, {} words", match.term->id, match.words) : "none";
  }
  if (verb == "term_of") {
    const view::Term* term = term_of_text(rest);
    return term ? std::string(term->id) : "none";
  }
  if (verb == "symbol") {
    const view::Term* term = term_of_formula(rest);
    return term ? std::string(term->id) : "none";
  }
  double value = 0;
  words >> first >> std::ws;
  std::getline(words, second);
  value = std::stod(first);
  if (verb == "shown") return shown(value, {.unit = second});
  if (verb == "loss") return shown(value, {.loss = true});
  if (verb == "digits") return shown(value, {.digits = 2});
  if (verb == "measure") return shown(value, *fixture::shipped_course().find("warm-up")->measure(second));
  throw Error("no line begins with " + verb);
}

/// Lists the terms of a text in their order, without its small print, and whether each labels a list's item.
std::vector<std::pair<const view::Term*, bool>> terms_in(const Prose& text, const words::Language& language) {
  std::vector<std::pair<const view::Term*, bool>> found;
  for (const Block& block : text.at_heading().first.blocks) {
    std::vector<std::string> plain;
    size_t label = 0;
    for (const Inline& piece : block.inlines) {
      std::istringstream words{piece.kind == Inline::Kind::Text ? piece.text : "$"};
      for (std::string word; words >> word;) plain.push_back(plain_word(word));
      if (block.kind == Block::Kind::Item && &piece == &block.inlines.front() && piece.strong)
        label = plain.size();
    }
    for (size_t i = 0; i < plain.size(); ++i)
      if (const TermMatch match = term_at_start(std::span(plain).subspan(i), language); match.term) {
        found.emplace_back(match.term, i < label);
        i += match.words - 1;
      }
  }
  return found;
}

}  // namespace

TEST_CASE("the course words what it is given as told", "[listing]") {
  whole_course();
  test::check_answers("course", answer_of);
}

TEST_CASE("whatever a page asks to be worked out is a task, so that its answer is the figure's") {
  constexpr std::string_view kAsks[] = {"ultiply the", "ivide 1",          "add up to?",   "How much is left",
                                        "Work out",    "ultipliziere die", "eile 1 durch", "zusammen?",
                                        "Was bleibt?", "echne nach"};
  for (const Course& course : {whole_course(), read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de")}) {
    size_t tasks = 0;
    for (const Lesson& lesson : course.lessons)
      for (const StepKind kind : kSteps)
        for (const Block& block : lesson.step(kind).text.blocks) {
          bool task = false;
          for (const Inline& piece : block.inlines) {
            if (opens(piece.kind)) task = piece.kind == Inline::Kind::Task;
            if (piece.kind == Inline::Kind::End) task = false;
            tasks += piece.kind == Inline::Kind::Task;
            for (const std::string_view asks : kAsks) {
              INFO(lesson.id << " " << to_string(kind) << ": " << piece.text);
              CHECK((task || piece.text.find(asks) == std::string::npos));
            }
          }
        }
    CHECK(tasks >= 2);
  }
}

TEST_CASE("no run's name in the German course has a setting in English") {
  const Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de");
  const auto has_word = [](const std::string& text, std::string_view word) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end]))) return true;
    }
    return false;
  };
  std::set<std::string> english;
  for (const Field& field : spec_fields())
    if (const std::string label(field.label); words::spoken(field.label, *course.words) != label)
      english.insert(label);
  for (const std::string_view kind : {"undivided", "batch", "simple"})
    if (const std::string* name = words::language("en").find(fmt::format("norms.{}.name", kind));
        name && *course.words->find(fmt::format("norms.{}.name", kind)) != *name)
      english.insert(*name);
  REQUIRE(english.contains("norm"));
  REQUIRE(english.contains("undivided"));
  size_t names = 0;
  const auto look = [&](const Lesson& lesson, const std::string& run, const Changes& changes) {
    const std::string name = run_label(lesson, run, changes);
    ++names;
    for (const std::string& word : english) {
      INFO(lesson.id << " " << run << ": " << name << " has '" << word << "'");
      CHECK_FALSE(has_word(name, word));
    }
  };
  for (const Lesson& lesson : course.lessons) {
    for (const LessonRun* run : lesson.all_runs()) look(lesson, run->id, {});
    for (const Knob& knob : lesson.knobs)
      if (lesson.has_letter(knob.run) && !is_slot(knob))
        look(lesson, knob.run, {{knob.run, {{knob.field, fmt::format("{}", knob.high)}}}});
    if (lesson.challenge)
      for (const Challenge::Choice& choice : lesson.challenge->choices)
        for (const Challenge::Choice::Value& value : choice.values)
          look(lesson, lesson.challenge->run, {{lesson.challenge->run, {{choice.field, value.value}}}});
  }
  CHECK(names > 60);
}

TEST_CASE("one letter stands for one placement, where both stacks have it") {
  for (const Lesson& lesson : whole_course().lessons) {
    std::set<std::string> pre;
    for (const LessonRun& run : lesson.runs)
      if (get_field(run.spec, "model.placement") == "pre" &&
          get_field(run.spec, "model.encoder_placement") == "same")
        pre.insert(run.id);
    INFO(lesson.id);
    CHECK((pre.empty() || pre.contains("C")));
    CHECK((pre.size() < 2 || lesson.id == "why-a-norm"));  // its models differ in their first weights
  }
}

TEST_CASE("a sweep gets the points of earlier runs on its line too") {
  const Lesson& lesson = *whole_course().find("warm-up");
  CHECK(sweep_values(lesson, *lesson.curve("by_warmup"), 1, {{"B", {{"train.warmup", "30"}}}},
                     {{{"B", {{"train.warmup", "40"}}}}}) ==
        std::vector<double>{0, 10, 25, 30, 40, 50, 100, 200});
}

TEST_CASE("every sentence of the course has the form that the course's numbers have, and another") {
  size_t forms = 0;
  for (const Lesson& lesson : whole_course().lessons) {
    const auto kept = load_results(lesson);
    REQUIRE(kept);
    for (const StepKind kind : kSteps)
      for (const Block& block : lesson.step(kind).text.blocks)
        for (size_t i = 0; i < block.inlines.size(); ++i) {
          const Inline& piece = block.inlines[i];
          if (piece.kind != Inline::Kind::If) continue;
          ++forms;
          for (const Condition& c : piece.conditions) {
            if (c.measure == kChanged) continue;
            INFO(lesson.id << " " << to_string(kind) << ": " << piece.text);
            for (double value : kept->measures.at(c.measure).values) CHECK(c.holds(value));
            CHECK(c.holds(c.limit + 1) != c.holds(c.limit - 1));
          }
        }
  }
  CHECK(forms >= 10);
}

TEST_CASE("the note under a figure's title stands whole, also after a setting was changed") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1440, 900}, {1280, 720}, {1024, 600}}) {
    PlayerDriver p("", size, 1, fixture::without_effect);
    p.open("first-steps", StepKind::Compare);
    p.driver.click("lesson/knob/warmup", {0.5f, 0.5f});
    p.click("lesson/again");
    for (const char* tab : {"product", "gradient"}) {
      INFO(size.x << " " << tab);
      p.click(std::string("lesson/figure/") + tab);
      CHECK(p.says("band: range of 5 seeds of what you did not change"));
    }
  }
}

TEST_CASE("a figure has no range of five seeds for a run with another setting") {
  const Course& course = whole_course();
  const Lesson& lesson = *course.find("first-steps");
  const fixture::FiveSeeds kept(lesson);
  FigureData data = kept.data();
  CHECK(figure_plot(lesson, *lesson.figure("gradient"), data).bands.size() == 3);
  data.changes = {{"A", {{"train.warmup", "100"}}}};
  const plot::PlotSpec plot = figure_plot(lesson, *lesson.figure("gradient"), data);
  CHECK(plot.bands.size() == 2);
  CHECK(plot.series[0].name == "Post-LN, warm-up 100");
}

TEST_CASE("what a line comes to is said as in the texts, where it is the number of a measure") {
  struct Line {
    const char *lesson, *figure, *curve, *measure;
  };
  const Course& course = whole_course();
  for (const Line& line : {Line{"growing-stream", "stream", "pre", "pre_last"},
                           {"warm-up", "losses", "loss_A", "end_A"},
                           {"warm-up", "losses", "loss_C", "end_C"}}) {
    INFO(line.curve);
    const Lesson& lesson = *course.find(line.lesson);
    const fixture::FiveSeeds kept(lesson);
    const plot::PlotSpec plot = figure_plot(lesson, *lesson.figure(line.figure), kept.data());
    const auto series = std::ranges::find(plot.series, line.curve, &plot::Series::id);
    REQUIRE(series != plot.series.end());
    Measure bare = *lesson.measure(line.measure);
    bare.unit.clear();
    const double mean = kept.results->measures.at(line.measure).spread.mean;
    CHECK(series->value == shown(mean, bare));
    CHECK(series->y[series->y.size() - 1] == Approx(mean).epsilon(1e-4));  // its mark stands at that number
  }
}

TEST_CASE("the upper states of a map stand at the top") {
  const Course& course = whole_course();
  const Lesson& lesson = *course.find("dependency");
  const fixture::FiveSeeds kept(lesson);
  const plot::PlotSpec plot = figure_plot(lesson, *lesson.figure("map_post"), kept.data());
  REQUIRE(plot.heat);
  CHECK(plot.heat->place(0) == plot.heat->rows - 1);
  CHECK(plot.heat->place(plot.heat->rows - 1) == 0);
  CHECK(plot.heat->row_first == "1");
}

TEST_CASE("before the prediction the axis does not tell which way a curve goes") {
  for (const Lesson& lesson : whole_course().lessons) {
    if (lesson.prediction.kind != Prediction::Kind::Draw) continue;
    INFO(lesson.id);
    const Figure& figure = *lesson.figure(lesson.step(StepKind::Predict).figures[0]);
    const double start = load_results(lesson)->curves.at(lesson.prediction.curve).mean[0];
    const double above = std::log(figure.y.high / start), below = std::log(start / figure.y.low);
    CHECK(above / below > 1 / 2.5);
    CHECK(above / below < 2.5);
  }
}

TEST_CASE("what is below zero has a minus sign in the course's texts and figures, and no hyphen") {
  const auto has_hyphen = [](const std::string& text) {
    for (size_t i = 0; i + 1 < text.size(); ++i)
      if (text[i] == '-' && text[i + 1] >= '0' && text[i + 1] <= '9' &&
          (i == 0 || text[i - 1] == ' ' || text[i - 1] == '('))
        return true;
    return false;
  };
  CHECK(has_hyphen("at most -0.5"));
  const Course& course = whole_course();
  for (Lesson lesson : course.lessons) {
    INFO(lesson.id);
    each_text(lesson, [&](const std::string& key, std::string& text) {
      INFO(key << ": " << text);
      CHECK_FALSE(has_hyphen(text));
    });
    for (const StepKind kind : kSteps)
      for (const Block& block : lesson.step(kind).text.blocks)
        for (const Inline& piece : block.inlines)
          if (piece.kind == Inline::Kind::Text) CHECK_FALSE(has_hyphen(piece.text));
    for (const Check& check : lesson.checks) CHECK_FALSE(has_hyphen(band_text(check)));
  }
  const Lesson& lesson = *course.find("warm-up");
  CurveSet own;
  own["loss_A"] = {{1, 300}, {-0.25, -0.25}};
  FigureData data;
  data.own = &own;
  const plot::PlotSpec plot = figure_plot(lesson, *lesson.figure("losses"), data);
  REQUIRE(plot.series.size() == 2);  // single steps, and their mean
  CHECK(plot.series[1].value == "−0.25");
}

TEST_CASE("a lesson uses at most three new words, and one lists names of methods beside each other") {
  // What the course takes for granted (lessons/README.md): what everybody has heard of networks, school statistics, and
  // "ohne Normalisierung" and "Anfangsgewichte", which say themselves.
  const std::set<std::string_view> granted{"layer",       "weights", "loss", "deviation",
                                           "mean-square", "no-norm", "init"};
  for (const std::string language : {"", "de"}) {
    std::set<std::string_view> known = granted;
    for (const Lesson& lesson : read_course(NORMSCOPE_SOURCE_DIR "/lessons", language).lessons) {
      std::string used;
      size_t count = 0, listed = 0;
      for (const StepKind kind : kSteps)
        for (const auto& [term, labels_its_item] : terms_in(lesson.step(kind).text, *lesson.words)) {
          if (!known.insert(term->id).second) continue;
          used += fmt::format(" {}", term->id);
          ++(labels_its_item ? listed : count);
        }
      INFO(language << " " << lesson.id << ":" << used);
      CHECK(count <= 3);
      CHECK(listed == (lesson.id == "after-the-papers" ? 5 : 0));
    }
    CHECK(known.size() > 40);
  }
}

TEST_CASE("the terms that each page of a lesson explains", "[listing]") {
  for (const char* language : {"en", "de"}) {
    PlayerDriver p("", {1600, 2000});  // the whole text in sight
    p.state.screens.lessons.player =
        std::make_shared<Player>(read_course(NORMSCOPE_SOURCE_DIR "/lessons", language),
                                 std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
    p.driver.frames(3);
    std::string text;
    for (const Lesson& lesson : p.player().course().lessons)
      for (const StepKind step : kSteps) {
        p.open(lesson.id, step);
        if (step == StepKind::Explain) p.driver.click("lesson/reach");
        p.driver.frames(3);
        text += fmt::format("{} {}:", lesson.id, to_string(step));
        for (const ui::Control& control : p.ui.registry().all())
          if (control.name.starts_with("term/")) text += " " + control.name.substr(5);
        text += "\n";
      }
    fixture::check_listing(std::string("terms-of-lessons-") + language, text);
  }
}

TEST_CASE("what lesson 0 is about leads to it from wherever it is first used, by mouse and by keyboard") {
  for (const bool keyboard : {false, true}) {
    PlayerDriver p;
    size_t leading = 0;
    for (const view::Term& term : view::glossary()) {
      if (term.lesson != 0) continue;
      INFO(term.id << (keyboard ? ", keyboard" : ", mouse"));
      p.player().open("first-steps", StepKind::Predict);
      p.state.shell.glossary = term.id;
      p.driver.frames(3);
      p.press("app/glossary/lesson", keyboard);
      p.driver.frames(3);
      REQUIRE(p.player().lesson()->number == 0);
      CHECK(p.state.screens.shown == Screen::Lessons);
      CHECK_FALSE(p.ui.popup_open("app/glossary"));
      CHECK(p.state.shell.glossary.empty());
      ++leading;
    }
    CHECK(leading == 6);
  }
  PlayerDriver p;
  // From the word itself; who is in the lesson stays at the step.
  p.open("first-steps", StepKind::Predict);
  p.click("term/gradient");
  p.click("app/glossary/lesson");
  REQUIRE(p.player().lesson()->number == 0);
  p.player().open("five-minutes", StepKind::Explain);
  p.state.shell.glossary = "length";
  p.driver.frames(3);
  p.click("app/glossary/lesson");
  CHECK(p.player().step() == StepKind::Explain);
  // A term that no lesson is about leads nowhere.
  p.state.shell.glossary = "w2";
  p.driver.frames(3);
  CHECK(p.ui.registry().find("app/glossary/entry"));
  CHECK_FALSE(p.ui.registry().find("app/glossary/lesson"));
}

TEST_CASE("a course without the lesson that a term names says so") {
  PlayerDriver p;
  Course course = fixture::shipped_course();
  std::erase_if(course.lessons, [](const Lesson& lesson) { return lesson.number == 0; });
  p.state.screens.lessons.player = std::make_shared<Player>(
      std::move(course), std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
  p.player().open("first-steps", StepKind::Predict);
  p.state.shell.glossary = "gradient";
  p.driver.frames(3);
  p.click("app/glossary/lesson");
  CHECK(p.player().lesson()->id == "first-steps");
  CHECK(test::contains(p.state.notice, "lesson '0' is not in this course"));
}

TEST_CASE("a term that is broken over lines is marked on each of them, and a click on any opens it") {
  size_t broken = 0;
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1024, 600}}) {
    PlayerDriver p("", size);
    for (const Lesson& lesson : p.player().course().lessons)
      for (const StepKind step : kSteps) {
        p.open(lesson.id, step);
        std::vector<std::string> further;
        for (const ui::Control& c : p.ui.registry().all())
          if (c.name.starts_with("title/term/") && c.name.ends_with("/2")) further.push_back(c.name);
        for (const std::string& name : further) {
          const std::string first = name.substr(0, name.size() - 2), id = first.substr(11);
          INFO(size.x << " " << lesson.id << " " << to_string(step) << ": " << id);
          const auto* above = p.ui.registry().find(first);
          if (!above) continue;  // scrolled out of sight
          ++broken;
          // The words on both lines are the whole phrase.
          std::vector<std::string> words;
          for (const ui::Rect& line : {above->rect, p.driver.control(name).rect})
            for (const ui::TextRecord& text : p.ui.texts())
              if (text.layer == 0 && line.contains(text.rect.centre()))
                words.push_back(plain_word(text.text));
          const TermMatch match = term_at_start(words);
          REQUIRE(match.term);
          CHECK(match.term->id == id);
          CHECK(match.words == words.size());
          p.click("term/" + id + "/2");
          CHECK(p.driver.value("app/glossary/entry") == match.term->text);
          p.key("Escape");
        }
      }
  }
  CHECK(broken > 0);
}

TEST_CASE("measurements outlive the window; a damaged or foreign one is made again") {
  const test::Folder folder;
  Lesson lesson = fixture::small_lesson("05-growing-stream");
  for (Curve& curve : lesson.curves)
    curve.models = std::min(curve.models, 2);  // it is measured ten times here
  const std::string kept = folder.file("lessons");
  const auto measured = [&](const Changes& changes) {
    Worker worker({}, 1, nullptr, kept);
    worker.start(lesson, changes);
    worker.wait();
    const auto state = worker.state();
    REQUIRE(state->done);
    CHECK(state->changes == changes);
    return state->curves.at("pre").y;
  };
  const std::vector<double> fresh = measured({});
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kept)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  std::stringstream text;
  text << std::ifstream(files[0]).rdbuf();
  const std::string whole = text.str();
  const auto write = [&](const std::string& s) { std::ofstream(files[0], std::ios::trunc) << s; };
  CHECK(measured({}) == fresh);
  // That it was read and not measured: another number in the file is the one that is shown.
  nlohmann::json other = nlohmann::json::parse(whole);
  other["curves"]["pre"]["y"][0] = 7.5;
  write(other.dump());
  CHECK(measured({})[0] == 7.5);
  other["curves"]["pre"]["y"].erase(0);
  for (const std::string& damaged :
       {std::string("{ not json"), std::string(), whole.substr(0, whole.size() / 2), std::string("[1,2,3]"),
        std::string(R"({"lesson":"growing-stream"})"), other.dump(),
        std::string(R"({"lesson":"growing-stream","curves":{"pre":{"x":"1","y":[1]}}})")}) {
    write(damaged);
    CHECK(measured({}) == fresh);
  }
  CHECK(measured({{"C", {{"model.d_model", "32"}}}}) != fresh);
  CHECK(measured({}) == fresh);
}
