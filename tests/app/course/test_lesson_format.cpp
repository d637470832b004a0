// These tests use what a lesson's format offers beside runs with letters and curves over steps: runs that are only
// compared, numbers by layer of a trained run, layers left out, encoder-decoders, cards that count as alike; and the
// list of lessons, which holds all of them however small the window is.
#include <algorithm>

#include "app/course/lesson.h"
#include "app/course/map.h"
#include "app/course/pictures/pictures.h"
#include "app/course/report.h"
#include "app/course/tables.h"
#include "app/lesson-player/progress.h"
#include "app/plot/plot.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "training/run/run.h"
#include "training/session/analysis.h"
#include "training/trainer/trainer.h"

namespace normscope::test_lesson_format {
namespace {

using namespace course;
using test::contains;
using namespace normscope::lesson_player;
using namespace experiments;
using fixture::parsed_lesson, fixture::PlayerDriver, fixture::refusal_of, fixture::replaced;

// Two small runs: one with a letter, one that is only compared.
const std::string kSmall = test::refusal_base("lesson");

std::string with(const std::string& from, const std::string& to) { return replaced(kSmall, from, to); }

TEST_CASE("a run with a name is measured, and nothing that a learner sees or changes") {
  const Lesson lesson = parsed_lesson(kSmall);
  REQUIRE(lesson.runs.size() == 1);
  REQUIRE(lesson.beside.size() == 1);
  CHECK(lesson.run("other") == &lesson.beside[0]);
  CHECK_FALSE(lesson.has_letter("other"));
  CHECK(run_label(lesson, "other") == "Pre-LN at 0.01");  // its settings are fixed: the name may say one
  CHECK(run_label(lesson, "A") == "Post-LN");             // and are not part of the others' labels
  const Figure& figure = *lesson.figure("f");
  CHECK(letter_of(lesson, figure.lines[0]) == "A");
  CHECK(letter_of(lesson, figure.lines[1]).empty());
  CHECK(letter_of(lesson, figure.lines[2]).empty());
  // What decides its numbers is part of the lesson's definition, and of its report.
  CHECK(definition(parsed_lesson(with("train.lr = 0.01\n", "train.lr = 0.02\n"))) != definition(lesson));
  CHECK(contains(settings_of(lesson, lesson.beside[0]), "other: Pre-LN at 0.01, "));

  CHECK(contains(refusal_of(kSmall, "It writes {text other}."),
                 "'other' is not in this lesson: expected a run with a letter of it"));
}

/// Why a lesson is refused whose Compare says this; empty when it is not.
std::string refused_in_compare(const std::string& toml, const std::string& prose) {
  return test::error_of(
      [&] {
        parse_lesson(toml, "lessons/99-small", [&](const std::string& file) {
          return file.ends_with("compare.md") ? prose : std::string("Run {A}.");
        });
      },
      "");
}

TEST_CASE("a task is of a figure of its page, and has answers that the figure shows") {
  const std::string hidden =
      with("[measure.b]",
           "[measure.c]\nlabel = \"c\"\ncurve = \"over_time\"\ntake = \"at\"\nx = 1\n\n[measure.b]");
  const std::string mixed =
      replaced(hidden, "[measure.b]",
               "[measure.d]\nlabel = \"d\"\ntake = \"ratio\"\nfirst = \"a\"\nsecond = \"c\"\n\n[measure.b]");
  for (const char* right :
       {"{task f}How much? {value a}.{end}", "{task f a}How much?{end} {always}{value a}.{end}",
        "{task f a}How much?{end} {if a > 1}Much.{else}Little.{end}"})
    CHECK(refused_in_compare(hidden, right) == "");
  for (
      const auto& [prose, why] :
      {std::pair{
           "{task f}How much? {value c}.{end}",
           "compare.md:1: 'c' answers a task of figure f, and is computed from what that figure does not show"},
       {"{task f}How much? {value d}.{end}", "'d' answers a task of figure f"},
       {"{task f c}How much?{end} {always}{value c}.{end}", "'c' answers a task of figure f"},
       {"{task f a}How much?{end}", "{task f}: no text tells 'a'"},
       {"{task f e}How much?{end}", "'e' is not in this lesson: expected a measure"},
       {"{task f}How much?{end}", "{task f} has no answer"},
       {"{task g}How much? {value a}.{end}", "{task g} is of no figure of this page"}}) {
    INFO(prose);
    CHECK(contains(refused_in_compare(mixed, prose), why));
  }
}

TEST_CASE("what the norms of a walk leave is one over the divisors that its picture shows") {
  const Lesson& lesson = *fixture::shipped_course().find("first-steps");
  const std::optional<Results> kept = load_results(lesson);
  REQUIRE(kept);
  const Figure& figure = *lesson.figure("walk");
  const Walk::Stack stack = walk_at(lesson, figure, {.reference = &*kept}, 20).stacks.front();
  REQUIRE(stack.divisors.size() == 6);
  for (const auto& [id, layer] : {std::pair{"left_4", 4}, {"left_1", 1}}) {
    double left = 1;
    for (int below = 5; below >= layer; --below)
      for (const double divisor : stack.divisors[static_cast<size_t>(below) - 1]) left /= divisor;
    CHECK(kept->measures.at(id).spread.mean == Approx(left).epsilon(1e-3));  // five digits are kept
  }
  const std::string toml = replaced(
      with("step = 2\n", "steps = [1, 3]\n"), "[measure.b]",
      "[measure.l]\nlabel = \"l\"\ncurve = \"by_layer\"\ntake = \"left\"\nstep = 2\nlayer = 1\n\n[measure.b]");
  CHECK(contains(refusal_of(toml), "[measure.l.curve] 'by_layer' meets no norms"));
}

TEST_CASE("what an axis is of is known from its curves, whatever its label says") {
  const auto figure = [](const std::string& x, const std::string& curve) {
    return *parsed_lesson(with("[step.predict]",
                               "[curve.loss]\nof = \"run\"\nrun = \"A\"\ny = \"loss\"\nsteps = [1, 4]\n\n"
                               "[curve.above]\nof = \"run\"\nrun = \"A\"\ny = \"excess\"\nsteps = [1, 4]\n\n"
                               "[figure.g]\ntitle = \"G\"\nx = { label = \"" +
                                   x +
                                   "\", low = 0, high = 4, ticks = [4] }\n"
                                   "y = { label = \"nats\", low = 0, high = 4, ticks = [4] }\n"
                                   "lines = [{ curve = \"" +
                                   curve + "\", run = \"A\" }]\n\n[step.predict]"))
                .figure("g");
  };
  for (const char* label : {"training step", "step", "Schritt"})
    for (const char* curve : {"loss", "above"}) CHECK(ends_in_means(figure(label, curve)));
  CHECK_FALSE(ends_in_means(figure("training step", "over_time")));
  CHECK(figure("training step", "over_time").x.steps);
  CHECK_FALSE(figure("training step", "by_layer").x.steps);
}

TEST_CASE("a profile is the history's number at a step, of every layer") {
  const Lesson lesson = parsed_lesson(kSmall);
  RunStore store(1);
  const CurveData profile = measure_curve(lesson, *lesson.curve("by_layer"), 1, store),
                  over_time = measure_curve(lesson, *lesson.curve("over_time"), 1, store);
  CHECK(store.trained() == 1);
  REQUIRE(profile.x == std::vector<double>{1, 2});
  CHECK(profile.y[0] == 1);
  CHECK(profile.y[1] == over_time.y[1]);
  CHECK(profile.y[1] != over_time.y[0]);
}

TEST_CASE("a prediction is drawn from the first point of its curve to the last, whatever its axis") {
  std::set<Curve::Of> kinds;
  for (const Lesson& lesson : read_course(NORMSCOPE_SOURCE_DIR "/lessons").lessons) {
    const std::optional<Results> measured = load_results(lesson);
    REQUIRE(measured);
    for (const auto& [id, band] : measured->curves) {
      const Curve& curve = *lesson.curve(id);
      if (asks_critical_rate(curve) || is_walk(curve)) continue;  // now and then; layers and steps at once
      INFO(lesson.id << " " << id);
      const std::vector<double> grid = drawn_grid(lesson, curve);
      if (curve.of == Curve::Of::Tape && grid.empty()) continue;  // of the places of its numbers
      REQUIRE_FALSE(grid.empty());
      CHECK(grid.front() == band.x.front());
      CHECK(grid.back() == band.x.back());
      kinds.insert(curve.of);
    }
  }
  CHECK(kinds.size() > 6);
  // None of these is over sub-layers of the wiring, the last of which is not a point.
  const auto drawn = [&](const std::string& layers) {
    const std::string wiring =
        replaced(with("model.layers = 2", "model.layers = " + layers), "[curve.over_time]",
                 "[curve.norms]\nof = \"wiring\"\nrun = \"A\"\ny = \"norms\"\n\n[curve.over_time]");
    const size_t from = wiring.find("[prediction]"), to = wiring.find("[knob.rate]");
    const std::string draws = "[prediction]\nkind = \"draw\"\nask = \"Draw.\"\ncurve = \"norms\"\n\n";
    const std::string whole = wiring.substr(0, from) + draws + wiring.substr(to);
    return replaced(whole, "{ curve = \"by_layer\", run = \"A\" }", "{ curve = \"norms\", run = \"A\" }");
  };
  const Lesson lesson = parsed_lesson(drawn("2"));
  RunStore store(1);
  const CurveData norms = measure_curve(lesson, *lesson.curve("norms"), 1, store);
  CHECK(norms.x == std::vector<double>{1, 2, 3});
  CHECK(drawn_grid(lesson, *lesson.curve("norms")) == norms.x);
  CHECK(contains(refusal_of(replaced(drawn("1"), "L02.ffn.w2.grad_norm / ", "")),
                 "[prediction.curve] has no axis to draw along: expected a curve of two points at least"));
}

TEST_CASE("what is left out of a lesson's run is what the engine leaves out of it") {
  const Lesson lesson = parsed_lesson(kSmall);
  RunStore store(1);
  const CurveData each = measure_curve(lesson, *lesson.curve("each"), 1, store),
                  top = measure_curve(lesson, *lesson.curve("top"), 1, store);
  CHECK(store.trained() == 1);
  const RunSpec spec = spec_of(lesson, "other", 1);
  Run run(spec, store.task(spec.data), store.backend());
  for (int32_t step = 0; step < spec.train.steps; ++step) run.step();
  const Ablation ablation = layer_ablation(run);
  REQUIRE(each.x == std::vector<double>{1, 2, 3});
  REQUIRE(top.x == each.x);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(each.y[i] == ablation.layers[i].loss - ablation.whole);
    CHECK(top.y[i] == ablation.from_top[i].loss - ablation.whole);
    CHECK(each.y[i] != 0);
  }
  // The weights made room for another run's: trained again, to the same bits.
  RunStore forgetful(1, std::make_shared<Trainer>(1, std::make_shared<RunCache>(1)));
  CHECK(measure_curve(lesson, *lesson.curve("each"), 1, forgetful).y == each.y);
  measure_curve(lesson, *lesson.curve("over_time"), 1, forgetful);
  CHECK(measure_curve(lesson, *lesson.curve("top"), 1, forgetful).y == top.y);
  CHECK(forgetful.trained() == 3);
}

TEST_CASE("an encoder-decoder is a run of a lesson like any other") {
  Lesson lesson = fixture::small_lesson("09-two-stacks");
  for (LessonRun* run : lesson.all_runs()) run->spec.train.steps = 3;
  RunStore store(1);
  const CurveData decoder = measure_curve(lesson, *lesson.curve("dec_A"), 1, store),
                  encoder = measure_curve(lesson, *lesson.curve("enc_A"), 1, store);
  REQUIRE(decoder.y.size() == 6);
  REQUIRE(encoder.y.size() == 6);
  CHECK(decoder.y[0] == 1);
  CHECK(decoder.y != encoder.y);
  const auto done = store.find(run_of(lesson, "A", 1).key());
  REQUIRE(done);
  CHECK(contains(done->text, "\u2190"));  // a translation, and what was translated
  CHECK(done->shares_end.empty());
  CHECK(done->level == Approx(std::log(32.0)).epsilon(0.01));
}

TEST_CASE("the list of lessons holds all of them in every window") {
  for (const ui::Vec size : {ui::Vec{1024, 600}, {1440, 900}, {1600, 1000}}) {
    PlayerDriver p("", size);
    if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
    float bottom = 0;
    for (const Lesson& lesson : p.player().course().lessons) {
      INFO(size.x << " " << lesson.id);
      const ui::Rect row = p.driver.control("lesson/list/" + lesson.id).rect;
      CHECK(row.y >= bottom);
      CHECK(row.h >= 24);
      bottom = row.bottom();
    }
    CHECK(bottom <= size.y);
    const std::string last = p.player().course().lessons.back().id;
    p.click("lesson/list/" + last);
    CHECK(p.player().lesson()->id == last);
  }
}

TEST_CASE("a notice with a long path stays within the list, and is whole under the mouse") {
  PlayerDriver p;
  Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  std::string whole = "/home/somebody";
  for (int i = 0; i < 6; ++i) whole += "/a-folder-with-a-long-näme";
  whole += "/07-x/lesson.toml:31: [run.A] is no run";
  course.broken.push_back({"07-x", whole});
  p.state.screens.lessons.player = std::make_shared<Player>(
      std::move(course), std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
  p.driver.frames(3);
  const ui::Rect notice = p.driver.control("lesson/broken/0").rect;
  std::string shown;
  for (const ui::TextRecord& text : p.ui.texts())
    if (notice.contains(text.rect.centre())) {
      INFO(text.text);
      CHECK(text.rect.right() <= notice.right() + 1);
      shown += text.text + " ";
    }
  CHECK(shown.starts_with("/home/"));
  CHECK(contains(shown, "…"));
  CHECK(contains(shown, "/lesson.toml:31: "));
  p.driver.move_to("lesson/broken/0");
  std::string help;
  for (int frame = 0; frame < 60 && help.empty(); ++frame) {
    p.driver.frames(1);
    for (const ui::TextRecord& text : p.ui.texts())
      if (text.layer == 3) {
        CHECK(text.rect.w <= 281);
        help += text.text;
      }
  }
  std::erase(help, ' ');
  std::erase(whole, ' ');
  CHECK(help == whole);
}

// Sentences to complete and challenges: what is refused, the score, who trains the ways, the paper.

using fixture::exercise_with, fixture::parsed_exercise;

TEST_CASE("a case is read with an experiment of its own, which decides nothing that the lesson measured") {
  const Lesson lesson = parsed_exercise();
  REQUIRE(lesson.closing);
  const Case& closing = *lesson.closing;
  CHECK(answers_of(closing) ==
        std::vector<std::string>{"The full rate", "As in the first step", "None at all"});
  CHECK(offered_order(closing) == std::vector<size_t>{1, 2, 0});  // in the order of the alphabet
  CHECK(reason_of(closing, 0) == "Behind its warm-up the rate stays where it is.");
  CHECK(reason_of(closing, 2) == "A rate of nought is asked for nowhere.");
  CHECK(place_of_answer(closing, "None at all") == 2);
  CHECK_FALSE(place_of_answer(closing, "blue"));
  CHECK_FALSE(place_of_answer(closing, ""));
  CHECK(answers_right(closing, "The full rate"));
  CHECK_FALSE(answers_right(closing, "None at all"));
  CHECK(closing.experiment->run("rising"));
  CHECK_FALSE(lesson.run("rising"));
  CHECK(definition(lesson) ==
        definition(parsed_exercise(exercise_with("train.lr = 0.01", "train.lr = 0.02"))));
  const std::string& whole = fixture::exercise_toml();
  CHECK_FALSE(parsed_exercise(whole.substr(0, whole.find("[case]"))).closing);
  CHECK(lesson.challenge->ways.size() == 2);
}

/// Whether the check of a lesson says that its case holds.
bool case_holds(const Lesson& lesson) {
  RunStore store(1);
  const LessonReport report = check_lesson(lesson, store, Tier::Fast);
  const CheckOutcome& last = report.outcomes.back();
  REQUIRE(last.check == &lesson.closing->experiment->checks.front());
  CHECK(last.measured.values.size() == 3);  // as many starts
  return last.holds;
}

TEST_CASE("a case is decided by its training: its answer must hold, and no other may be as right") {
  CHECK(case_holds(parsed_exercise()));
  CHECK_FALSE(case_holds(parsed_exercise(exercise_with("low = 0.009", "low = 0.011"))));
  CHECK_FALSE(
      case_holds(parsed_exercise(exercise_with("low = 0.009", "low = 0.004"))));  // half the rate is in it
  CHECK_FALSE(case_holds(parsed_exercise(exercise_with("value = 0,", "value = 0.02,"))));
  CHECK_FALSE(case_holds(
      parsed_exercise(exercise_with("train.warmup = 2\n\n[case.c", "train.warmup = 9\n\n[case.c"))));
}

TEST_CASE("the rule of the score is a sentence, and settings are read back as they are written") {
  CHECK(contains(score_rule(*parsed_exercise().challenge), "below 2 is worth 40 points"));
  CHECK(settings_of(to_text(Settings{{"a.b", "1"}, {"c", "x"}})) == Settings{{"a.b", "1"}, {"c", "x"}});
}

TEST_CASE("what was said and tried is kept, also a loss that is no number; damage is refused") {
  const test::Folder folder;
  const std::string path = folder.file("lessons.json");
  {
    lesson_player::Progress progress(path);
    LessonProgress& p = progress.of("task");
    p.answer = "None at all";
    p.sentence = "because … \"so\"";
    p.tries = {{"model.placement=pre", 1.5},
               {"model.placement=none", std::numeric_limits<double>::infinity()}};
    p.hints = 2;
    progress.save();
  }
  lesson_player::Progress again(path);
  CHECK(again.notice().empty());
  CHECK(again.of("task").answer == "None at all");
  CHECK(again.of("task").sentence == "because … \"so\"");
  REQUIRE(again.of("task").tries.size() == 2);
  CHECK(again.of("task").tries[0] == Try{"model.placement=pre", 1.5});
  CHECK(std::isinf(again.of("task").tries[1].loss));
  CHECK(again.of("task").hints == 2);
  for (const char* bad :
       {R"({"lessons":{"a":{"answer":["1"]}}})", R"({"lessons":{"a":{"hints":-1}}})",
        R"({"lessons":{"a":{"tries":[{"set":"x"}]}}})", R"({"lessons":{"a":{"tries":[1]}}})"})
    CHECK_THROWS_AS(parse_progress(bad, "lessons.json"), Error);
  CHECK(parse_progress(R"({"lessons":{"a":{"step":2}}})", "lessons.json").at("a").tries.empty());
  // What an earlier version kept of sentences to complete is left out; the rest is read.
  CHECK(parse_progress(R"({"lessons":{"a":{"step":2,"words":["blue","","wet"]}}})", "lessons.json")
            .at("a")
            .step == 2);
}

TEST_CASE("no learner waits for the measured ways of a challenge") {
  const Lesson lesson = parsed_exercise();
  CHECK(belongs_to_way(lesson, *lesson.curve("loss_one")));
  CHECK(belongs_to_way(lesson, *lesson.measure("end_two")));
  CHECK_FALSE(belongs_to_way(lesson, *lesson.curve("loss_A")));
  Worker worker({}, 1);
  // Also when the learner trains the very settings of a way.
  for (const Changes& changes : {Changes{}, Changes{{"A", {{"model.placement", "pre"}}}}}) {
    worker.start(lesson, changes);
    worker.wait();
    const auto state = worker.state();
    REQUIRE(state->error == "");
    REQUIRE(state->done);
    CHECK(state->curves.contains("loss_A"));
    CHECK_FALSE(state->curves.contains("loss_one"));
    CHECK_FALSE(state->curves.contains("loss_two"));
  }
}

// A case cannot be passed by reading again.

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
    if (letter) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (letter || word.empty()) continue;
    words.insert(word);
    word.clear();
  }
  return words;
}

/// The words that the pages of a lesson emphasise.
std::set<std::string> emphasised(const Lesson& lesson) {
  std::set<std::string> words;
  for (const StepKind kind : kSteps)
    for (const Block& block : lesson.step(kind).text.blocks)
      for (const Inline& piece : block.inlines)
        if (piece.strong) words.merge(words_of(piece.text));
  return words;
}

/// How likely somebody finds the right answer who takes the one that counts most, and guesses among equals.
double found_by(const Case& closing, const std::function<size_t(const std::string&)>& count) {
  size_t most = 0, equals = 0;
  bool right = false;
  const std::vector<std::string> answers = answers_of(closing);
  for (size_t i = 0; i < answers.size(); ++i) {
    const size_t counted = count(answers[i]);
    if (counted > most || i == 0) {
      most = counted;
      equals = 0;
      right = i == 0;
    }
    equals += counted == most;
  }
  return right ? 1.0 / static_cast<double>(equals) : 0;
}

TEST_CASE("whoever answers the cases from the emphasised words alone fails more than half", "[lesson]") {
  for (const char* language : {"", "de"}) {
    double by_emphasis = 0, longest = 0, shortest = 0, first = 0, last = 0, all = 0;
    for (const Lesson& lesson : read_course(NORMSCOPE_SOURCE_DIR "/lessons", language).lessons) {
      if (!lesson.closing) continue;
      const Case& closing = *lesson.closing;
      const std::set<std::string> bold = emphasised(lesson);
      by_emphasis += found_by(closing, [&](const std::string& answer) {
        const auto shared = [&](const std::string& word) { return bold.contains(word); };
        return static_cast<size_t>(std::ranges::count_if(words_of(answer), shared));
      });
      longest += found_by(closing, &std::string::size);
      shortest +=
          found_by(closing, [](const std::string& answer) { return answer.max_size() - answer.size(); });
      first += offered_order(closing).front() == 0;
      last += offered_order(closing).back() == 0;
      ++all;
    }
    INFO("in '" << language << "', of " << all << ": by emphasis " << by_emphasis << ", the longest "
                << longest << ", the shortest " << shortest << ", the first " << first << ", the last "
                << last);
    CHECK(all > 0);
    for (const double found : {by_emphasis, longest, shortest, first, last}) CHECK(found * 2 < all);
  }
}

TEST_CASE("every lesson ends with a case of its own, and every answer with what is behind it", "[lesson]") {
  const Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  for (const LessonError& broken : course.broken) FAIL(broken.error);
  std::set<std::string> asked;
  for (const Lesson& lesson : course.lessons) {
    INFO(lesson.id);
    REQUIRE(lesson.closing);
    CHECK(asked.insert(lesson.closing->ask).second);
    std::set<std::string> reasons{lesson.closing->why};
    for (const std::string& why : lesson.closing->whys) CHECK(reasons.insert(why).second);
  }
}

// A wiring's slots as knobs of a lesson.

const Lesson& papers() {
  const Lesson* lesson = fixture::shipped_course().find("after-the-papers");
  REQUIRE(lesson);
  return *lesson;
}

/// Replaces one thing of the lesson's text and returns what the text is refused with.
std::string refusal(const std::string& from, const std::string& to) {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/lessons/14-after-the-papers";
  const std::string toml = test::replaced(test::read_all(folder + "/lesson.toml"), from, to);
  return test::error_of([&] { parse_lesson(toml, folder, test::read_all); }, "");
}

TEST_CASE("the slots of a run say its wiring, and every choice is one") {
  const Lesson& lesson = papers();
  CHECK(wrong_slots(lesson, "D").empty());
  const Knob& stream = *lesson.knob("stream");
  CHECK(shown_value(stream, first_value(lesson, stream)) == "nothing");
  CHECK(shown_value(stream, 1) == "LayerNorm");
  CHECK(first_value(lesson, *lesson.knob("warmup")) == 0);
  // Post-LN out of the table of slots.
  RunSpec spec = lesson.run("D")->spec;
  const auto post = [&](const Knob& knob) {
    return knob.id == "before" || knob.id == "after" || knob.id == "stream" || knob.id == "last" ? 1.0 : 0.0;
  };
  for (const auto& [key, words] : wiring_of_slots(lesson, "D", post)) set_field(spec, key, words);
  complete(spec);
  for (const std::string& key : wiring_keys(spec))
    CHECK(get_field(spec, key) == get_field(lesson.run("A")->spec, key));

  CHECK(contains(refusal("slot = \"stream\"", "slot = \"streams\""), "[knob.slot]"));
  CHECK(contains(refusal("choices = [\"none\", \"ln\", \"rms\", \"dyt\"]",
                         "choices = [\"ln\", \"none\", \"rms\", \"dyt\"]"),
                 "the slots begin with wiring."));
  CHECK(
      contains(refusal("names = [\"nothing\", \"LayerNorm\", \"RMSNorm\", \"DyT\"]", "names = [\"nothing\"]"),
               "as many names"));
}

// Borders of a lesson: the format, the runs that they ask for, the cells that a sweep would judge in the same way, the
// figure with a prediction over it, and lesson 11 by hand.

const std::string kMap = test::refusal_base("lesson-map");

/// Two rows of three cells: the lower one learns everywhere, the upper one from the second column on.
CurveSet made_up() {
  CurveSet curves;
  const std::vector<double> x{0, 10, 20};
  curves["edge.1"] = {x, {-0.5, -0.5, -0.5}};
  curves["edge.1.learns"] = {x, {1, 1, 1}};
  curves["edge.2"] = {x, {0.1, -1, -2}};
  curves["edge.2.learns"] = {x, {0, 1, 1}};
  curves["edge"] = {x, {0.000001, 0.02, 0.02}};
  return curves;
}

}  // namespace

TEST_CASE("a border is read with its cells beside it, and all of its runs are the lesson's") {
  const Lesson lesson = parsed_lesson(kMap);
  std::vector<std::string> ids;
  for (const Curve& curve : lesson.curves) ids.push_back(curve.id);
  CHECK(ids == std::vector<std::string>{"edge.1", "edge.1.learns", "edge.2", "edge.2.learns", "edge"});
  CHECK(lesson.curve("edge.2")->y == "final_excess");
  CHECK(lesson.curve("edge.2")->values == std::vector<double>{0.02});
  const auto runs = runs_of({&lesson}, Tier::Fast);
  REQUIRE(runs.size() == 6);  // each once
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& run : runs)
    pairs.emplace_back(get_field(run.spec, "train.lr"), get_field(run.spec, "train.warmup"));
  std::ranges::sort(pairs);
  CHECK(std::unique(pairs.begin(), pairs.end()) == pairs.end());
  CHECK(std::ranges::count_if(pairs, [](const auto& p) { return p.second == "10"; }) == 2);
  CHECK(runs_of({&lesson}, Tier::Full).size() == 6 * kFullSeeds);
  Lesson other = lesson;
  for (Curve& curve : other.curves)
    if (curve.id == "edge") curve.values.back() = 0.03;
  CHECK(definition(other) != definition(lesson));
  // A learner's setting reaches every cell.
  const RunSpec changed = spec_of(lesson, "A", 1, {{"A", {{"model.layers", "2"}}}});
  for (const auto& point : points_of(*lesson.curve("edge"), {changed})) CHECK(point.spec.model.layers == 2);
}

TEST_CASE("a border is the largest value that learns, by the cells beside it") {
  const Lesson lesson = parsed_lesson(kMap);
  experiments::RunStore store(1);
  const Curve &border = *lesson.curve("edge"), &upper = *lesson.curve("edge.2");
  const RunSpec spec = spec_of(lesson, "A", 1);
  CHECK(finished_part(upper, {spec}, store).y.empty());
  store.get({with_value(with_value(spec, "train.lr", 0.02), "train.warmup", 0)}, {});
  CHECK(finished_part(upper, {spec}, store).x == std::vector<double>{0});  // live: one cell so far
  CurveSet seed;
  for (const Curve& curve : lesson.curves) seed[curve.id] = measure_curve(lesson, curve, 1, store);
  CHECK(store.trained() == 6);
  CHECK(finished_part(upper, {spec}, store).y == seed.at("edge.2").y);
  REQUIRE(seed.at("edge").x == border.xs);
  for (size_t i = 0; i < border.xs.size(); ++i) {
    CHECK(seed.at("edge.1.learns").y[i] == 0);  // at a millionth nothing is learned
    CHECK(std::abs(seed.at("edge.2").y[i]) < 10);
    CHECK(seed.at("edge").y[i] == (seed.at("edge.2.learns").y[i] > 0 ? 0.02 : 0));
  }
}

TEST_CASE("cells are judged as a sweep judges them") {
  const Lesson lesson = parsed_lesson(kMap);
  const Curve& border = *lesson.curve("edge");
  CurveSet own = made_up();
  FigureData data;
  data.own = &own;
  CellMap map = cells_of(border, data);
  const auto known = [&] {
    return std::ranges::count_if(map.cells, [](const MapCell& cell) { return cell.known > 0; });
  };
  CHECK(known() == 6);
  CHECK(map.at(0, 1).side() == grid::Side::Other);
  CHECK(map.at(1, 1).side() == grid::Side::Learns);
  CHECK(map.share_learned(map.at(2, 1)) == 1);
  CHECK(map.share_learned(map.at(1, 1)) == 0.5);
  CHECK(map.share_learned(map.at(0, 1)) < 0);
  const std::vector<grid::Segment> corner{{1, 1, 1, 2}, {0, 1, 1, 1}};
  CHECK(map.border() == corner);
  // While it is measured: what is not known is neither coloured nor on a side.
  own["edge.2"] = {{0}, {0.1}};
  own.erase("edge.2.learns");
  map = cells_of(border, data);
  CHECK(known() == 4);
  CHECK(map.at(1, 1).side() == grid::Side::None);
  // Five seeds: at least half of them.
  Results kept;
  kept.seeds = 5;
  for (const auto& [id, curve] : made_up()) kept.curves[id] = {curve.x, curve.y, curve.y, curve.y};
  kept.curves["edge.2.learns"].mean = {0.4, 0.6, 1};
  data = {};
  data.reference = &kept;
  map = cells_of(border, data);
  CHECK(map.at(0, 1).learn == 2);
  CHECK(map.at(1, 1).learn == 3);
  CHECK(map.border() == corner);
  // A number that is none has no colour.
  kept.curves["edge.2"].mean[2] = std::numeric_limits<double>::quiet_NaN();
  map = cells_of(border, data);
  CHECK_FALSE(std::isfinite(map.share_learned(map.at(2, 1))));
  CHECK(map.at(2, 1).side() == grid::Side::Other);
}

TEST_CASE("a map's figure has the axes of its values, and shows nothing before the prediction") {
  const Lesson lesson = parsed_lesson(kMap);
  const Figure& figure = *lesson.figure("map");
  CHECK(figure.x.low == -5);
  CHECK(figure.x.high == 25);
  CHECK_FALSE(figure.x.log);
  CHECK(figure.y.log);
  CHECK(figure.x.label == "warm-up, steps");
  const CurveSet own = made_up();
  FigureData data{.own = &own, .drawn_x = {0, 10, 20}, .drawn_y = {0.000001, 0.001, 0.01}};
  plot::PlotSpec plot = figure_plot(lesson, figure, data);
  REQUIRE(plot.heat);
  CHECK(plot.heat->columns == 3);
  CHECK(plot.heat->rows == 2);
  CHECK(plot.heat->cells[5] == 1);  // upper row, last column
  CHECK(plot.heat->cells[3] == 0);
  const auto named = [&](const std::string& id) {
    return std::ranges::find_if(plot.series, [&](const auto& s) { return s.id == id; });
  };
  REQUIRE(named("border 1") != plot.series.end());
  CHECK(named("border 1")->x[0] == Approx(5));
  CHECK(named("border 1")->y[0] == Approx(std::sqrt(0.000001 * 0.02)));
  CHECK(named("edge") != plot.series.end());
  CHECK(named("edge")->letter.empty());
  CHECK(named("prediction") != plot.series.end());
  for (const bool dark : {false, true})
    CHECK(contains(plot::to_svg(plot, ui::theme(dark), {640, 400}), "<svg"));
  data.draw_only = "nothing";
  plot = figure_plot(lesson, figure, data);
  CHECK_FALSE(plot.heat);
  CHECK(plot.series.empty());
}

TEST_CASE("the texts of the map of rates tell of no rate and no ratio where a map has no border") {
  const Lesson lesson = *read_course(NORMSCOPE_SOURCE_DIR "/lessons").find("map-of-rates");
  const auto border = [](double cold, double warm) { return CurveData{{0, 60, 120}, {cold, cold, warm}}; };
  size_t values = 0;
  for (int which = 0; which < 16; ++which) {
    const auto rate = [&](int bit, double learns) { return (which & bit) != 0 ? learns : 0; };
    const CurveSet curves{{"border_A", border(rate(1, 0.001), rate(2, 0.004))},
                          {"border_C", border(rate(4, 0.064), rate(8, 0.064))}};
    const auto value = [&](const std::string& measure) {
      return std::optional(evaluate(lesson, *lesson.measure(measure), curves));
    };
    for (const StepKind step : {StepKind::Compare, StepKind::Explain})
      for (const Block& block : lesson.step(step).text.blocks)
        for (const Inline& piece : read_as(block.inlines, value, "")) {
          if (piece.kind != Inline::Kind::Value) continue;
          ++values;
          INFO("borders " << which << ", " << to_string(step) << ": " << piece.text);
          CHECK(*value(piece.text) > 0);
          CHECK(std::isfinite(*value(piece.text)));
        }
  }
  CHECK(values > 16);
}

TEST_CASE("the map of rates: a border drawn right and one drawn wrong") {
  const auto drawn = [](bool right) {
    PlayerDriver p;
    p.driver.click("lesson/list/map-of-rates");
    REQUIRE(p.player().lesson()->id == "map-of-rates");
    const auto kept = load_results(*p.player().lesson());
    REQUIRE(kept);
    const CurveBand& border = kept->curves.at("border_A");
    p.focus("lesson/draw");
    CHECK(p.says("draw on to 120 steps"));  // the axis is called "warm-up, steps"
    for (size_t i = 1; i < border.x.size(); ++i) p.driver.key("Right");
    const int up = static_cast<int>(std::lround(10 * std::log10(border.mean.back() / border.mean.front())));
    for (int i = 0; i < std::abs(up); ++i) p.driver.key(right == (up > 0) ? "Up" : "Down");
    p.click("lesson/next");
    p.click("lesson/next");
    REQUIRE(p.player().step() == StepKind::Compare);
    return p.player().progress("map-of-rates").score;
  };
  const std::string right = drawn(true), wrong = drawn(false);
  CHECK((right == "close" || right == "exactly right"));
  CHECK(contains(wrong, "too low"));
}

}  // namespace normscope::test_lesson_format
