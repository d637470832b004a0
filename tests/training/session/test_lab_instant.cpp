// These tests cover the Lab whose runs are instant: every change trains whole runs, and no answer is shown under other
// settings than its own.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "sanitized.h"
#include "training/run/run_record.h"
#include "training/spec/small_size.h"
#include "training/support/lab_runs.h"
#include "training/trainer/trainer.h"

using namespace normscope;
using namespace normscope::test;

namespace {

session::ReplaceRuns instant(std::vector<RunSpec> runs, int32_t budget = 30) {
  for (RunSpec& spec : runs) spec.train.steps = budget;
  session::ReplaceRuns command{std::move(runs), {}, true};
  command.instant = true;
  return command;
}

/// Whether a run shows what its settings compute.
bool is_own(const RunView& run) { return same_bits(losses(run), alone(*run.spec, run.spec->train.steps)); }

}  // namespace

TEST_CASE("instant runs are whole, with the bits of runs that train alone, and their seeds") {
  Lab lab(quiet());
  const auto view = view_after(lab, instant(three()));
  CHECK(view->message == "");
  CHECK(view->instant);
  CHECK_FALSE(view->playing);
  CHECK_FALSE(view->busy);
  CHECK(view->step == 30);
  REQUIRE(view->runs.size() == 3);
  for (const RunView& run : view->runs) {
    CHECK_FALSE(run.stale);
    CHECK(run.step == 30);
    CHECK(is_own(run));
    CHECK(std::isfinite(run.validation_loss));
    REQUIRE(run.spread);
    CHECK(run.spread->seeds == 4);
    CHECK(
        same_bits(*run.spread->each.front().losses, alone(with_fields(*run.spec, {{"run.seed", "2"}}), 30)));
  }
}

TEST_CASE("the runs of values that a setting has passed are known, of the setting that changed last") {
  Lab lab(quiet());
  view_after(lab, instant({small_spec("pre")}));
  CHECK(lab.view()->passed.empty());
  const auto values = [&] {
    std::vector<std::string> passed;
    uint64_t last = 0;
    for (const LabView::PassedRun& one : lab.view()->passed) {
      CHECK(one.number > last);
      last = one.number;
      CHECK(get_field(*one.spec, "train.lr") == one.value);
      CHECK(same_bits(one.run->losses, alone(*one.spec, 30)));
      passed.push_back(one.value);
    }
    return passed;
  };
  const std::string first = get_field(*lab.view()->runs[0].spec, "train.lr");
  for (const char* value : {"0.001", "0.002", "0.004"})
    view_after(lab, session::EditField{0, "train.lr", value});
  CHECK(values() == std::vector<std::string>{first, "0.001", "0.002"});
  view_after(lab, session::EditField{0, "train.lr", "0.001"});  // back: it is passed once
  view_after(lab, session::EditField{0, "train.lr", "0.008"});
  CHECK(values() == std::vector<std::string>{first, "0.002", "0.004", "0.001"});
  for (const char* value : {"0.005", "0.006", "0.007"})
    view_after(lab, session::EditField{0, "train.lr", value});
  CHECK(values().size() == 6);
  view_after(lab, session::EditField{0, "model.dropout_residual", "0.1"});
  REQUIRE(lab.view()->passed.size() == 1);
  CHECK(lab.view()->passed[0].value == "0");
}

TEST_CASE("what is supposed is trained beside the instant runs, which stay as they are") {
  Lab lab(quiet());
  view_after(lab, instant({small_spec("post")}));
  const RunSpec pre = small_spec("pre"), none = small_spec("none");
  auto view = view_after(lab, session::Suppose{{pre}});
  REQUIRE(view->supposed.size() == 1);
  REQUIRE(view->supposed[0].run);
  CHECK(same_bits(view->supposed[0].run->losses, alone(pre, 30)));
  CHECK(view->supposed[0].run->whole());
  CHECK(view->runs.size() == 1);
  view = view_after(lab, session::Suppose{{pre, none}});
  REQUIRE(view->supposed.size() == 2);
  REQUIRE(view->supposed[1].run);
  CHECK(same_bits(view->supposed[1].run->losses, alone(none, 30)));
  CHECK_FALSE(view->supposed[1].run->whole());
  CHECK(view_after(lab, session::Suppose{})->supposed.empty());
}

TEST_CASE("runs ahead are trained when nothing is missing, and no longer once a run changes") {
  Lab lab(quiet());
  view_after(lab, instant({small_spec("post")}));
  const auto known = [&](RunSpec spec) {
    spec.train.steps = 30;
    return lab.trainer()->finished()->find(wish_of(spec));
  };
  const RunSpec pre = small_spec("pre"), long_one = spec_with("pre", {{"model.layers", "64"}});
  auto view = view_after(lab, session::Suppose{{small_spec("none")}, {pre}});
  REQUIRE(view->supposed.size() == 1);
  CHECK(view->supposed[0].run);
  REQUIRE(known(pre));
  CHECK(known(pre)->whole());
  lab.post(session::Suppose{{}, {long_one}});
  view = view_after(lab, session::EditField{0, "train.lr", "0.002"});
  CHECK(is_own(view->runs[0]));
  CHECK_FALSE(known(long_one));
}

TEST_CASE("a text that has changed in its file is another text: no curve of the former is shown for it") {
  const Folder folder;
  const auto write = [&](const std::string& sentence) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += sentence;
    return folder.write("t.txt", text);
  };
  const auto computed = [](const RunSpec& spec) {  // with what the file has now
    Run run(spec, make_task(spec.data), shared_backend());
    steps(run, spec.train.steps);
    return run.losses();
  };
  Lab lab(quiet());
  view_after(lab, instant({small_spec("post")}));
  const std::string path = write("to be or not to be. ");
  auto view = view_after(lab, session::LoadText{path});
  view = view_after(lab, session::Suppose{{with_fields(*view->runs[0].spec, {{"model.placement", "pre"}})}});
  const std::vector<float> before = losses(view->runs[0]), question = view->supposed[0].run->losses;
  CHECK(same_bits(before, computed(*view->runs[0].spec)));
  write("be to not or be to. ");  // of the same letters
  view = view_after(lab, session::LoadText{path});
  CHECK_FALSE(same_bits(losses(view->runs[0]), before));
  CHECK(same_bits(losses(view->runs[0]), computed(*view->runs[0].spec)));
  REQUIRE(view->runs[0].spread);
  CHECK(same_bits(*view->runs[0].spread->each.front().losses,
                  computed(with_fields(*view->runs[0].spec, {{"run.seed", "2"}}))));
  REQUIRE(view->supposed[0].run);
  CHECK_FALSE(same_bits(view->supposed[0].run->losses, question));
  // With the former text back, its runs are there again.
  write("to be or not to be. ");
  CHECK(same_bits(losses(view_after(lab, session::LoadText{path})->runs[0]), before));
}

TEST_CASE("a setting that an instant run does not read changes its settings, and trains nothing") {
  Lab lab(quiet());
  const auto before = view_after(lab, instant({small_spec("post")}));
  const size_t known = lab.trainer()->finished()->count();
  const auto view = view_after(lab, session::EditField{0, "train.momentum", "0.5"});
  CHECK(get_field(*view->runs[0].spec, "train.momentum") == "0.5");
  CHECK(same_bits(losses(view->runs[0]), losses(before->runs[0])));
  CHECK(lab.trainer()->finished()->count() == known);
}

TEST_CASE("in full, a run is measured at every step, though it is known as an instant one") {
  Lab lab(quiet());
  RunSpec spec = small_spec("post");
  spec.train.steps = 30;
  view_after(lab, instant({spec}));
  const auto numbers_of = [](const RunView& run) {
    const Series numbers = run.history->series(run.history->find("L01.update_cosine"));
    std::set<float> different(numbers.values.begin(), numbers.values.end());
    return different.size();
  };
  session::ReplaceRuns full{{spec}, {}, true};
  full.known = true;
  CHECK(numbers_of(view_after(lab, full)->runs[0]) > 20);
}

// A thousand movements of nine kinds, faster than runs train: each view is looked at as a window would. A sanitizer
// watches the first two hundred, in which every kind comes.
TEST_CASE("no answer is ever shown under other settings than its own") {
  Lab lab(quiet());
  view_after(lab, instant({small_spec("post"), small_spec("pre")}, 6));
  std::map<std::string, std::vector<float>> expected;
  const auto expected_of = [&](const RunSpec& spec) -> const std::vector<float>& {
    const std::string key = settings_text(spec, {});
    if (!expected.contains(key)) expected[key] = alone(spec, spec.train.steps);
    return expected[key];
  };
  std::mt19937 random(20261129);
  const auto one_of = [&](std::initializer_list<const char*> all) {
    return all.begin()[random() % all.size()];
  };
  const auto move = [&](const LabView& view) {
    const auto edit = [&](int32_t run, const char* key, const char* value) {
      return lab.post(session::EditField{run, key, value});
    };
    const auto run = static_cast<int32_t>(random() % 2);
    switch (random() % 12) {
      case 0:
        return edit(run, "train.warmup", one_of({"0", "3"}));
      case 1:
        return edit(-1, "run.seed", one_of({"1", "2"}));
      case 2:
        return edit(run, "model.layers", one_of({"1", "2"}));
      case 3:
        return lab.post(request(view, run, one_of({"pre", "none"})));
      case 4:
        return lab.post(session::Undo{});
      case 5:
        return lab.post(session::SetBudget{5 + static_cast<int32_t>(random() % 2)});
      case 6:
        return lab.post(session::Redo{});
      case 7:
      case 8:
        return lab.post(session::Suppose{{small_spec(one_of({"post", "none", "sandwich"}))}});
      default:
        return edit(run, "train.lr", one_of({"0.001", "0.002"}));
    }
  };
  int64_t fresh = 0, seeds = 0, questions = 0;
  for (int movement = 0; movement < (test::kSanitized ? 200 : 1000); ++movement) {
    move(*lab.view());
    if (random() % 8 == 0) lab.wait_idle();
    const auto view = lab.view();
    for (const RunView& run : view->runs) {
      if (run.stale) continue;
      ++fresh;
      REQUIRE(same_bits(losses(run), expected_of(*run.spec)));
      if (!run.spread) continue;
      for (const RunSpread::Seed& seed : run.spread->each) {
        ++seeds;
        // The budget changes nothing that is computed, so that seeds of another budget stand as far as they go.
        std::vector<float> shown = *seed.losses,
                           own =
                               expected_of(with_fields(*run.spec, {{"run.seed", std::to_string(seed.seed)}}));
        const size_t both = std::min(shown.size(), own.size());
        shown.resize(both);
        own.resize(both);
        REQUIRE(both >= 5);
        REQUIRE(same_bits(shown, own));
      }
    }
    for (const LabView::Supposition& question : view->supposed) {
      if (!question.run) continue;
      ++questions;
      REQUIRE(same_bits(question.run->losses, expected_of(*question.spec)));
      if (question.seen) REQUIRE(same_bits(losses(*question.seen), expected_of(*question.spec)));
    }
  }
  CHECK(fresh > 100);
  CHECK(seeds > 100);
  CHECK(questions > 20);
  const auto view = rest(lab);
  for (const RunView& run : view->runs) CHECK(is_own(run));
}

TEST_CASE("the way to the small size and back ends where it began") {
  for (const char* preset : {"post", "post-warmup", "pre", "admin", "2017"}) {
    INFO(preset);
    RunSpec spec = preset_run(preset);
    if (std::string(preset) == "2017") spec.train.schedule.peak = 0.0007f;
    const RunSpec small = at_small_size(spec), back = at_usual_size(small);
    CHECK(small.model.d_model == 32);
    CHECK(small.model.layers == spec.model.layers);
    CHECK(back.train.schedule == spec.train.schedule);
    CHECK(without_small_size(spec).empty());
  }
}

TEST_CASE("a run on which the sizes disagree is known by its settings, whatever its seed") {
  const auto share = [](const SeedsThatLearn& of) {
    return of.learn == 0 ? 0 : of.learn == of.tried ? 2 : 1;  // none, some, all
  };
  for (const SizesDisagree& row : where_sizes_disagree()) {
    INFO(default_name(row.run));
    validate(row.run);
    CHECK(share(row.usual) != share(row.small));
    CHECK(sizes_disagree(with_fields(row.run, {{"run.seed", "7"}})) == &row);
    CHECK_FALSE(sizes_disagree(with_fields(row.run, {{"train.lr", "0.004"}})));
    CHECK_FALSE(sizes_disagree(with_fields(row.run, {{"model.layers", "5"}})));
  }
  for (const char* agreed : {"post", "post-warmup", "pre"})
    CHECK_FALSE(sizes_disagree(at_small_size(preset_run(agreed))));
}

// ---- measured, where somebody asks for it: normscope_training_tests "answers to a hand*"

TEST_CASE("answers to a hand that never rests", "[.bench][slow]") {
  using Clock = std::chrono::steady_clock;
  constexpr auto kMovement = std::chrono::milliseconds(40);
  constexpr int kMovements = 150;
  LabOptions options = quiet();
  options.sample_text = false;
  Lab lab(options);
  std::vector<RunSpec> runs;
  for (const char* preset : {"post", "post-warmup", "pre"}) runs.push_back(at_small_size(preset_run(preset)));
  view_after(lab, instant(std::move(runs), 200));
  uint64_t last = 0;
  int answers = 0, shown = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kMovements; ++i) {
    lab.post(session::EditField{-1, "train.lr", fmt::format("{:.5f}", 0.001 + 0.00002 * i)});
    std::this_thread::sleep_until(start + (i + 1) * kMovement);
    const auto view = lab.view();
    shown += std::ranges::none_of(view->runs, &RunView::stale);
    for (const LabView::PassedRun& one : view->passed)
      if (one.number > last && one.letter == 'A') {
        last = one.number;
        ++answers;
      }
  }
  WARN(fmt::format(
      "{} movements in {:.1f} s: {} values of run A answered on the way, all three shown after {}",
      kMovements, std::chrono::duration<double>(Clock::now() - start).count(), answers, shown));
}
