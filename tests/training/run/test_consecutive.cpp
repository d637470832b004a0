// These tests have consecutive text and its memory where something does not fit: said when the run is made, with the
// split's name; measured in fewer rows where the text is short; and no step of a batch asks for memory.
#include <cmath>
#include <memory>
#include <string>

#include "catch.hpp"
#include "engine/ops/attention/relative_attention.h"
#include "engine/support/allocation_count.h"
#include "training/measure/history.h"
#include "training/run/keyframes.h"
#include "training/run/segment_memory.h"
#include "training/support/small_runs.h"

namespace normscope::test::consecutive {
namespace {

/// Has 1,200 symbols: 1,080 to learn and 120 to validate.
std::shared_ptr<const Task> short_text() {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += static_cast<char>('a' + (i * 7 + i / 13) % 11);
  return make_text_task(TextSource(text, "whose name is longer than a short string"), 16, true);
}

/// Has segments of 16: a row needs 33 symbols, so 3 rows fit the validation text and 4 do not.
RunSpec consecutive_spec(int32_t batch) {
  RunSpec spec = small_spec("pre");
  set_field(spec, "model.memory", "8");
  set_field(spec, "train.batch", std::to_string(batch));
  return spec;
}

}  // namespace

TEST_CASE("consecutive text: a split that is too short is named when the run is made, or will be changed",
          "[recurrence]") {
  const auto task = short_text();
  const auto made = [&](int32_t batch) {
    return error_of([&] { Run(consecutive_spec(batch), task, shared_backend()); });
  };
  CHECK_THAT(made(4),
             Catch::Contains("120 symbols to validate are 30 for each of 4 consecutive rows: expected "
                             "at least 33, two segments of 16 and one more"));
  CHECK_THAT(made(40), Catch::Contains("1080 symbols to learn are 27 for each of 40"));
  Run run(consecutive_spec(3), task, shared_backend());
  for (const auto& [key, value] : {std::pair{"train.batch", "4"}, {"model.sequence", "24"}}) {
    INFO(key);
    CHECK_THAT(error_of([&] { run.schedule_edits({{2, key, value}}); }), Catch::Contains("to validate are"));
    CHECK(run.scheduled().empty());
    RunSpec changed = run.spec();
    set_field(changed, key, value);
    CHECK_THAT(error_of([&] { run.fork(changed); }), Catch::Contains("to validate are"));
  }
  run.schedule_edits({{2, "train.batch", "2"}});
  steps(run, 3);
  CHECK(std::isfinite(run.validation_loss()));
}

TEST_CASE(
    "consecutive text: a short validation text is measured in fewer rows, with one segment without memory",
    "[recurrence]") {
  const auto task = short_text();
  Run run(consecutive_spec(3), task, shared_backend());
  CHECK(task->consecutive_rows(Split::Validation, 16) == 3);
  CHECK(short_text()->consecutive_rows(Split::Train, 16) == 32);
  RunSpec wide = run.spec();
  wide.train.batch = 4;
  const TextLoss loss = text_loss(run.store(), wide, *task, 0, 100);
  CHECK(loss.batches == 1);
  CHECK(loss.targets == 3 * 16);
  CHECK(std::isfinite(loss.loss));
  CHECK_THAT(error_of([&] { text_loss(run.store(), wide, *task, 8, 100); }),
             Catch::Contains("one segment of 16 for each of 3 rows: expected a longer text, or --memory 0"));
  CHECK_THAT(error_of([&] { text_loss(run.store(), wide, *small_task(), 0, 1); }),
             Catch::Contains("expected consecutive text"));
  wide.train.batch = 2;  // 60 symbols each: two segments
  CHECK(text_loss(run.store(), wide, *task, 8, 100).batches == 2);
}

TEST_CASE("consecutive text: a batch allocates nothing", "[recurrence]") {
  const auto task = short_text();
  Batch batch(3, 16);
  bool any = false;
  const uint64_t before = allocations();
  for (uint64_t step = 1; step < 50; ++step) {
    task->batch(4, step, Split::Train, 3, 16, batch.tokens, batch.targets);
    any = any || task->goes_on(step, Split::Train, 3, 16);
  }
  const uint64_t asked = allocations() - before;
  CHECK(asked == 0);
  CHECK(any);
}

TEST_CASE("relative attention: no value serves for two of queries, keys and values", "[recurrence]") {
  Store store(shared_backend());
  Tape tape(store);
  const auto input = [&](const char* name) { return tape.input(name, {1, 2, 4}, DType::F32); };
  const ValueId c = input("c"), e = input("e"), k = input("k"), v = input("v"),
                r = tape.input("r", {2, 4}, DType::F32);
  const auto error = [&](const std::string& name, RelativeAttentionInputs in) {
    return error_of([&] { relative_attention(tape, name, in, {.heads = 2}); });
  };
  CHECK(error("a", {.content = c, .position = e, .keys = k, .values = v, .distances = r}) == "no error");
  CHECK_THAT(error("b", {.content = c, .position = e, .keys = k, .values = k, .distances = r}),
             Catch::Contains("k serves as keys and as values: expected two values"));
  CHECK_THAT(error("d", {.content = c, .position = e, .keys = c, .values = v, .distances = r}),
             Catch::Contains("c serves as queries and as keys"));
}

}  // namespace normscope::test::consecutive
