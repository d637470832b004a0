// These tests play the capstone by mouse and by keyboard: a slow start does not bring eighteen layers below the line,
// each of the four measured ways does; score, hints and the session that is left.
#include "app/support/player_driver.h"
#include "training/files/config_file.h"

namespace normscope::test_player_capstone {
namespace {

using namespace course;
using namespace normscope::lessons;
using fixture::PlayerDriver;

/// Gives a stack the result of a measured way, or of the slow start, where it has the same settings; any
/// other stays where the start does.
void as_measured(const Lesson& lesson, MeasureState& state) {
  if (!lesson.challenge) return;
  const Challenge& task = *lesson.challenge;
  const RunSpec mine = spec_of(lesson, task.run, 1, state.changes);
  std::vector<Challenge::Way> known = task.ways;
  known.push_back({"B", "end_B"});
  for (const Challenge::Way& way : known) {
    const RunSpec& there = lesson.run(way.run)->spec;
    const auto same = [&](const Challenge::Choice& choice) {
      return get_field(mine, choice.field) == get_field(there, choice.field);
    };
    if (std::ranges::all_of(task.choices, same))
      state.curves[lesson.measure(task.measure)->curve] = state.curves.at(lesson.measure(way.measure)->curve);
  }
}

void choose(PlayerDriver& p, const Challenge::Choice& choice, const std::string& value, bool keyboard) {
  const std::string name = "lesson/challenge/" + choice.field, now = p.driver.value(name);
  long from = -1, to = -1;
  for (size_t i = 0; i < choice.values.size(); ++i) {
    if (choice.values[i].text == now) from = static_cast<long>(i);
    if (choice.values[i].value == value) to = static_cast<long>(i);
  }
  REQUIRE((from >= 0 && to >= 0));
  if (from == to) return;
  const std::string& wanted = choice.values[static_cast<size_t>(to)].text;
  if (keyboard) {
    p.focus(name);
    for (long i = 0; i < std::abs(to - from); ++i) p.driver.key(to > from ? "Down" : "Up");
  } else {
    p.click(name);
    p.driver.click(name + "/" + wanted);
  }
  p.driver.frames(2);
  REQUIRE(p.driver.value(name) == wanted);
}

}  // namespace

TEST_CASE("the capstone is not won by a slow start, and is won in each of its ways", "[player]") {
  for (const bool keyboard : {false, true}) {
    INFO((keyboard ? "keyboard" : "mouse"));
    const test::Folder folder;
    PlayerDriver p(folder.file("lessons.json"), {1600, 1000}, 1, as_measured);
    p.open("eighteen-layers", StepKind::Compare);
    p.press("lesson/next", keyboard);
    p.driver.frames(2);
    REQUIRE(p.player().page() == PageKind::Challenge);
    const Lesson& lesson = *p.player().lesson();
    const Challenge& task = *lesson.challenge;
    const auto train_as = [&](const RunSpec& spec) {
      for (const Challenge::Choice& choice : task.choices)
        choose(p, choice, get_field(spec, choice.field), keyboard);
      p.press("lesson/challenge/train", keyboard);
      p.driver.frames(3);
    };
    const auto& tries = p.player().progress("eighteen-layers").tries;

    train_as(lesson.run("B")->spec);
    CHECK(p.says(": not below the line."));
    CHECK(ways_found(task, tries).empty());
    for (size_t i = 0; i < task.ways.size(); ++i) {
      INFO(task.ways[i].run);
      train_as(lesson.run(task.ways[i].run)->spec);
      CHECK(p.says(": below the line."));
      CHECK(ways_found(task, tries).size() == i + 1);
    }
    const int ways = static_cast<int>(task.ways.size());
    int points = ways * task.points - (ways + 1) * task.per_run;
    CHECK(p.driver.value("lesson/challenge/score") == std::to_string(points));

    for (size_t i = 0; i < task.hints.size(); ++i) {
      p.press("lesson/challenge/hint", true);
      p.driver.frames(2);
      points -= task.hints[i].costs;
      CHECK(p.player().progress("eighteen-layers").hints == static_cast<int>(i + 1));
      CHECK(p.driver.value("lesson/challenge/score") == std::to_string(points));
    }
    CHECK(points > 0);

    const std::vector<ConfigRun> runs = read_config(folder.file("lessons/eighteen-layers.toml"));
    REQUIRE(runs.size() == 4);  // the start, and the best three
    CHECK(get_field(runs[0].spec, "model.placement") == "post");
    for (const ConfigRun& run : runs) {
      CHECK(run.spec.model.layers == 18);
      CHECK(run.spec.train.steps == task.budget);
    }
  }
}

}  // namespace normscope::test_player_capstone
