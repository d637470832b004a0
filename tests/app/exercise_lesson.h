// A small lesson with sentences to complete and a challenge: models that take no time.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

#include "small_lesson.h"

namespace normscope::fixture {

inline const std::string& exercise_toml() {
  static const std::string text = [] {
    std::string out = R"(
id = "task"
title = "Task"
question = "How?"
claim = "This."
minutes = 1
sources = ["none"]
spotlight = "lesson/slider"
)";
    const std::string small =
        "model.layers = 2\nmodel.d_model = 16\nmodel.heads = 2\nmodel.feed_forward = 32\n"
        "model.sequence = 16\ntrain.batch = 4\ntrain.steps = 4\n";
    for (const auto& [id, name, placement] :
         {std::array{"A", "Your stack", "post"}, {"one", "One", "pre"}, {"two", "Two", "sandwich"}})
      out +=
          fmt::format("\n[run.{}]\nname = \"{}\"\nmodel.placement = \"{}\"\n{}", id, name, placement, small);
    for (const char* id : {"A", "one", "two"})
      out += fmt::format(
          "\n[curve.loss_{0}]\nof = \"run\"\nrun = \"{0}\"\ny = \"loss\"\nsteps = [1, 4]\n"
          "\n[measure.end_{0}]\nlabel = \"end of {0}\"\ncurve = \"loss_{0}\"\ntake = \"at\"\nx = 4\ndigits = 3\n",
          id);
    return out + R"(
[[check]]
measure = "end_A"
low = 2
says = "Stuck."
excludes = [{ what = "as one", measure = "end_one" }]

[[check]]
measure = "end_one"
high = 2
says = "One."
excludes = [{ what = "stuck", measure = "end_A" }]

[[check]]
measure = "end_two"
high = 2
says = "Two."
excludes = [{ what = "stuck", measure = "end_A" }]

[figure.f]
title = "F"
x = { label = "training step", low = 0, high = 4, ticks = [1, 4] }
y = { label = "loss", low = 0, high = 5, ticks = [0, 5] }
lines = [{ curve = "loss_A", run = "A" }]

)" + one_figure("f") +
           R"(
[prediction]
kind = "value"
ask = "Where does it end?"
measure = "end_A"
start = 1
low = 0
high = 4
step = 0.1
axis = "y"

[challenge]
text = "Bring it below."
run = "A"
measure = "end_A"
line = 2
budget = 4
points = 40
per_run = 5
hints = [{ text = "First.", costs = 5 }, { text = "Second.", costs = 10 }]
ways = [{ run = "one", measure = "end_one" }, { run = "two", measure = "end_two" }]

[[challenge.choices]]
field = "model.placement"
label = "Placement"
values = [
  { value = "post", text = "Post-LN" },
  { value = "pre", text = "Pre-LN" },
  { value = "sandwich", text = "Sandwich" },
]

[[challenge.choices]]
field = "train.warmup"
label = "Warm-up"
values = [{ value = "0", text = "none" }, { value = "2", text = "2" }]

[[say]]
text = "The sky is ___."
word = "blue"
others = [{ word = "green", why = "That is grass." }, { word = "ash", why = "That is a tree." }]

[[say]]
text = "___ is a number."
word = "Three"
others = [{ word = "Red", why = "A colour." }, { word = "Up", why = "A direction." }]

[[say]]
text = "Water is ___ here."
word = "wet"
others = [{ word = "dry", why = "That is sand." }, { word = "loud", why = "That is a bell." }]
)";
  }();
  return text;
}

inline lessons::Lesson parsed_exercise(const std::string& toml = exercise_toml(),
                                       const std::string& prose = "Run {A}.") {
  return parsed_lesson(toml, prose);
}

/// The lesson's text with one place of it changed.
inline std::string exercise_with(const std::string& from, const std::string& to) {
  return replaced(exercise_toml(), from, to);
}

}  // namespace normscope::fixture
