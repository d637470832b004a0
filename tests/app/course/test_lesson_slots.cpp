// These tests cover a wiring's slots as knobs of a lesson.
#include <string>

#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "app/support/shipped_course.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test_lesson_slots {
namespace {

using namespace course;
using test::contains;

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

}  // namespace

TEST_CASE("the slots of a run say its wiring, and every choice is one", "[lesson]") {
  const Lesson& lesson = papers();
  CHECK(lesson.own == "D");
  CHECK(wrong_slots(lesson, "D").empty());
  const Knob& trunk = *lesson.knob("trunk");
  CHECK(shown_value(trunk, first_value(lesson, trunk)) == "nothing");
  CHECK(shown_value(trunk, 1) == "LayerNorm");
  CHECK(first_value(lesson, *lesson.knob("warmup")) == 0);
  // Post-LN out of the table of slots.
  RunSpec spec = lesson.run("D")->spec;
  const auto post = [&](const Knob& knob) {
    return knob.id == "before" || knob.id == "after" || knob.id == "trunk" || knob.id == "last" ? 1.0 : 0.0;
  };
  for (const auto& [key, words] : wiring_of_slots(lesson, "D", post)) set_field(spec, key, words);
  complete(spec);
  for (const std::string& key : wiring_keys(spec))
    CHECK(get_field(spec, key) == get_field(lesson.run("A")->spec, key));
  CHECK(wiring_settings(spec) == std::vector<std::string>{"model.placement=none", "wiring.L*=trunk=ln"});

  CHECK(contains(refusal("slot = \"trunk\"", "slot = \"trunks\""), "[knob.slot]"));
  CHECK(contains(refusal("choices = [\"none\", \"ln\", \"rms\", \"dyt\"]",
                         "choices = [\"ln\", \"none\", \"rms\", \"dyt\"]"),
                 "the slots begin with wiring."));
  CHECK(
      contains(refusal("names = [\"nothing\", \"LayerNorm\", \"RMSNorm\", \"DyT\"]", "names = [\"nothing\"]"),
               "as many names"));
  CHECK(contains(refusal("own = \"D\"", "own = \"C\""), "'C' has no slots"));
}

}  // namespace normscope::test_lesson_slots
