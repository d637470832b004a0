// A study that looks at its runs keeps what others measured of them.
#include "app/support/program.h"
#include "catch.hpp"
#include "training/experiments/study.h"
#include "training/run/run.h"

namespace normscope::test {

TEST_CASE("a study that looks at its runs keeps their states, and what others measured of them") {
  using namespace experiments;
  RunSpec spec = preset_run("pre");
  for (const auto& [key, value] : {std::pair("model.layers", "1"),
                                   {"model.d_model", "16"},
                                   {"model.heads", "2"},
                                   {"model.feed_forward", "32"},
                                   {"model.sequence", "16"},
                                   {"train.batch", "4"},
                                   {"train.steps", "60"}})
    set_field(spec, key, value);
  const Folder folder;
  ResultStore store(folder.file("runs"));
  const auto carry_on = [](const Progress&) { return true; };
  Study layers{.name = "layers", .runs = {{spec}, {spec}}, .numbers = {kLayers}};
  CHECK(train(layers, store, {}, carry_on).trained == 1);

  Study looks{.name = "looks", .runs = layers.runs};
  std::vector<Series> shown;
  looks.on_run = [&](size_t place, Run& run) {
    CHECK(place == 0);
    CHECK(run.steps_done() == 60);
    shown.push_back(run.history()->validation());
  };
  const StudyResults first = train(looks, store, {}, carry_on);
  CHECK(first.trained == 1);  // nobody kept its state
  CHECK(first.first == std::vector<size_t>{0, 0});
  const StudyResults again = train(looks, store, {}, carry_on);
  CHECK(again.trained == 0);
  REQUIRE(again.runs[1]);
  CHECK(again.runs[1]->steps == 60);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].steps == std::vector<int32_t>{50, 60});
  CHECK(shown[1].steps == shown[0].steps);
  CHECK(shown[1].values == shown[0].values);
  const StudyResults layered = train(layers, store, {}, carry_on);
  CHECK(layered.trained == 0);
  CHECK(layered.runs[0]->has({kLayers}));
}

}  // namespace normscope::test
