// Files of other trackers, made by their own writers (tests/fixtures/trackers.py): the same four steps in each.
#include "addons/recorded/training/event_file.h"

#include <cmath>
#include <string>

#include "addons/recorded/training/recorded_run.h"
#include "app/view/lab_data.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "folder.h"
#include "training/files/file_kind.h"

using namespace normscope;
using namespace normscope::records;

namespace {

const std::string kFixtures = NORMSCOPE_SOURCE_DIR "/addons/recorded/tests/fixtures/";

std::vector<float> values(const History& history, const std::string& name) {
  for (size_t i = 0; i < history.layout().size(); ++i)
    if (history.layout()[i].name == name) return history.series(static_cast<int32_t>(i)).values;
  return {};
}

}  // namespace

TEST_CASE("files of TensorBoard, Weights & Biases and trackio say the same of a run") {
  for (const char* file : {"events.out.tfevents.1", "run.wandb", "trackio.jsonl"}) {
    INFO(file);
    CHECK(look_at(kFixtures + file).kind == FileKind::Recorded);
    const RecordedFile read = read_recorded(kFixtures + file);
    CHECK(read.broken == 0);
    REQUIRE(read.runs.size() == 1);
    const History& history = *read.runs[0].seeds.front().history;
    CHECK(history.loss().steps == std::vector<int32_t>{1, 2, 3, 4});
    CHECK(history.loss().values[1] == 3.5f);
    CHECK(std::isnan(history.loss().values[2]));
    CHECK(history.rate().values[3] == 0.003f);
    CHECK(values(history, "L02.attn.wq.grad_norm") == std::vector<float>{1 / 2.f, 1 / 3.f, 1 / 4.f, 1 / 5.f});
    CHECK(history.validation().values == std::vector<float>{3.5f});
  }
}

TEST_CASE("a file of another tracker that ends within an event keeps the steps before") {
  const std::string whole = test::read_all(kFixtures + "events.out.tfevents.1");
  for (size_t length = 0; length < whole.size(); ++length) {
    LinesRead read;
    int32_t last = 0;
    try {
      read_events(whole.substr(0, length), "events", read, [&](const LogStep& step) { last = step.step; });
      CHECK(last >= 1);
    } catch (const Error&) {
      CHECK(last == 0);  // no scalar so far
    }
    CHECK(read.broken <= 1);
  }
}

TEST_CASE("room behind the last event that was never used is no event") {
  const std::string whole = test::read_all(kFixtures + "events.out.tfevents.1");
  for (size_t zeros = 1; zeros < 16; ++zeros) {
    LinesRead read;
    int steps = 0;
    read_events(whole + std::string(zeros, '\0'), "events", read, [&](const LogStep&) { ++steps; });
    CHECK(steps == 4);
    CHECK(read.broken == 1);
  }
}

TEST_CASE("of several names of a series in a line the likeliest counts") {
  LogStep step;
  LogAbout about;
  REQUIRE(
      read_line(
          R"({"step": 3, "eval/loss": 2, "test/loss": 4, "train/loss_step": 7, "train/loss": 3, "x/y": "text"})",
          1, step, about) == LineKind::Step);
  CHECK(step.loss == 3);
  CHECK(step.validation == 2);
}

TEST_CASE("names of scalars tell series and tensors") {
  using Of = ScalarName::Of;
  CHECK(scalar_name("Loss/train").of == Of::Loss);
  CHECK(scalar_name("lm loss").of == Of::Loss);
  CHECK(scalar_name("learning-rate").of == Of::Rate);
  CHECK(scalar_name("val_loss").of == Of::Validation);
  for (const char* name : {"grad_norm/h.3.mlp.c_fc.weight", "train/grad_norm/h.3.mlp.c_fc.weight",
                           "h.3.mlp.c_fc.weight/grad_norm", "grad_2.0_norm/h.3.mlp.c_fc.weight"}) {
    INFO(name);
    CHECK(scalar_name(name).of == Of::Tensor);
    CHECK(scalar_name(name).tensor == "h.3.mlp.c_fc.weight");
  }
  for (const char* name : {"train/grad_norm", "throughput/tokens", "accuracy", ""})
    CHECK(scalar_name(name).of == Of::Other);
}
