// Undo brings runs back as they were before an edit, a restart or a fork, and trains them to where the others are.
#include <random>

#include "app/shell/shown_session.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "catch.hpp"

using namespace normscope;
using namespace session;
using fixture::LiveDriver;

namespace {

std::vector<RunSpec> specs_of(const LabView& view) {
  std::vector<RunSpec> specs;
  for (const RunView& run : view.runs) specs.push_back(*run.spec);
  return specs;
}

// Gives a command as the user does: through a frame.
void give(LiveDriver& lab, const Command& command) {
  lab.state.session.asked.push_back(command);
  lab.settle();
}

// Gives a command before any view tells what became of it.
void give_unseen(LiveDriver& lab, const Command& command) {
  const Ticket ticket = lab.lab.post(command);
  lab.state.session.undo.note(std::span(&command, 1), std::span(&ticket, 1), 'A', 'A', false);
}

}  // namespace

TEST_CASE("an edit of runs that train is undone in the runs, and not in the number alone") {
  for (const auto& [key, value] : {std::pair{"train.lr", "0.001"},
                                   {"train.warmup", "30"},
                                   {"train.clip", "0.1"},
                                   {"train.beta2", "0.9"},
                                   {"train.label_smoothing", "0.2"}}) {
    INFO(key);
    LiveDriver untouched, lab;
    untouched.train(10);
    lab.train(5);
    give(lab, EditField{-1, key, value});
    lab.train(5);
    std::vector<std::vector<float>> edited;
    for (const RunView& run : lab.view().runs) edited.push_back(run.history->loss().values);
    lab.key("Ctrl+Z");
    CHECK(lab.view().step == 10);
    for (size_t i = 0; i < 3; ++i) {
      const RunView &run = lab.view().runs[i], &as_if = untouched.view().runs[i];
      CHECK(run.step == 10);
      CHECK(run.edits.empty());
      CHECK(*run.spec == *as_if.spec);
      CHECK(run.history->loss().values == as_if.history->loss().values);
      CHECK(run.history->loss().values != edited[i]);
    }
    lab.key("Ctrl+Shift+Z");
    for (size_t i = 0; i < 3; ++i) {
      REQUIRE(lab.view().runs[i].edits.size() == 1);
      CHECK(lab.view().runs[i].edits[0].step == 6);
      CHECK(lab.view().runs[i].history->loss().values == edited[i]);
    }
  }
}

TEST_CASE("edits one after the other are undone one after the other, each at its own step") {
  LiveDriver lab;
  lab.train(3);
  give(lab, EditField{0, "train.lr", "0.001"});
  lab.train(3);
  give(lab, EditField{0, "train.lr", "0.003"});  // by hand: no undo
  CHECK(lab.view().runs[0].edits.size() == 2);
  lab.train(3);
  const auto steps = [&] {
    std::vector<int32_t> steps;
    for (const Edit& edit : lab.view().runs[0].edits) steps.push_back(edit.step);
    return steps;
  };
  lab.key("Ctrl+Z");
  CHECK(steps() == std::vector<int32_t>{4});
  lab.key("Ctrl+Z");
  CHECK(steps().empty());
  lab.driver.key("Ctrl+Y");
  lab.key("Ctrl+Y");
  CHECK(steps() == std::vector<int32_t>{4, 7});
  CHECK(lab.view().step == 9);
}

TEST_CASE("a run that a structural edit restarted comes back as it was left") {
  LiveDriver lab;
  lab.train(8);
  const double loss = lab.view().runs[0].loss;
  const auto history = lab.view().runs[0].history;
  give(lab, EditField{0, "model.layers", "1"});
  CHECK(lab.view().runs[0].spec->model.stack().layers.size() == 1);
  CHECK(lab.view().runs[0].history != history);
  lab.key("Ctrl+Z");
  CHECK(lab.view().runs[0].loss == loss);
  CHECK(lab.view().runs[0].history == history);
  CHECK(lab.view().runs[0].edits.empty());
  lab.key("Ctrl+Y");
  CHECK(lab.view().runs[0].spec->model.stack().layers.size() == 1);
}

TEST_CASE(
    "what was changed in all runs at once is taken back without untraining any of them, and made again") {
  for (const auto& [key, value] :
       {std::pair{"model.d_model", "24"}, {"train.batch", "2"}, {"run.seed", "7"}}) {
    INFO(key);
    LiveDriver lab;
    lab.train(8);
    ForkRequest fork;
    fork.spec = *lab.view().runs[0].spec;
    set_field(fork.spec, "model.placement", "pre");
    give(lab, fork);
    lab.train(2);
    const std::vector<RunSpec> start = specs_of(lab.view());
    std::vector<std::shared_ptr<const History>> histories;
    for (const RunView& run : lab.view().runs) histories.push_back(run.history);
    REQUIRE(histories.size() == 4);
    give(lab, EditField{-1, key, value});
    CHECK(lab.view().step == 0);
    lab.train(3);
    const auto changed = lab.view().runs[1].history;
    CHECK(changed != histories[1]);

    lab.key("Ctrl+Z");
    CHECK(specs_of(lab.view()) == start);
    CHECK(lab.view().step == 10);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(lab.view().runs[i].step == 10);
      CHECK(lab.view().runs[i].history == histories[i]);
    }
    lab.key("Ctrl+Shift+Z");
    CHECK(lab.view().step == 3);
    CHECK(lab.view().runs[1].history == changed);
    lab.key("Ctrl+Z");
    lab.key("Ctrl+Z");  // the fork
    CHECK(lab.view().runs.size() == 3);
    CHECK(lab.view().runs[0].history == histories[0]);
  }
}

TEST_CASE(
    "what is refused is no entry, and what came after it is taken back, though no view tells of either yet") {
  LiveDriver lab;
  const std::vector<RunSpec> start = specs_of(lab.view());
  for (const Command& command : {Command(EditField{-1, "model.heads", "3"}),  // of a width of 16
                                 Command(EditField{-1, "model.sequence", "8"})})
    give_unseen(lab, command);
  lab.settle();
  CHECK(lab.view().runs[0].spec->model.sequence == 8);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
  CHECK_FALSE(lab.state.session.undo.can_undo());
}

TEST_CASE("an edit that follows an undo before any view tells of it is taken back to what the undo left") {
  LiveDriver lab;
  const std::vector<RunSpec> start = specs_of(lab.view());
  give(lab, EditField{-1, "train.batch", "2"});
  std::vector<Command> commands;
  REQUIRE(lab.state.session.undo.undo(commands));
  for (const Command& one : commands) lab.lab.post(one);
  give_unseen(lab, EditField{-1, "model.sequence", "8"});
  lab.settle();
  CHECK(lab.view().runs[0].spec->model.sequence == 8);
  CHECK(lab.view().runs[0].spec->train.batch == start[0].train.batch);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
}

TEST_CASE("a drag of a field is one entry") {
  LiveDriver lab;
  lab.driver.drag_by("settings/train.lr", {-30, 0}, "", 12);
  lab.settle();
  CHECK(lab.view().runs[0].spec->train.schedule.peak != 0.003f);
  lab.key("Ctrl+Z");
  CHECK(lab.view().runs[0].spec->train.schedule.peak == 0.003f);
  CHECK_FALSE(lab.state.session.undo.can_undo());
}

TEST_CASE("two edits of a field with the hand off it between them are two entries") {
  LiveDriver lab;
  give(lab, EditField{-1, "train.lr", "0.001"});
  give(lab, EditField{-1, "train.lr", "0.002"});
  lab.key("Ctrl+Z");
  CHECK(lab.view().runs[0].spec->train.schedule.peak == 0.001f);
  lab.key("Ctrl+Z");
  CHECK(lab.view().runs[0].spec->train.schedule.peak == 0.003f);
}

TEST_CASE("undone to the start the specifications are those of the start, whatever was edited") {
  for (unsigned seed : {1u, 2u, 3u}) {
    LiveDriver lab;
    const std::vector<RunSpec> start = specs_of(lab.view());
    const int32_t budget = lab.view().budget;
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int i = 0; i < 14; ++i) {
      const int run = pick(4) - 1;
      switch (pick(7)) {
        case 0:
          give(lab, EditField{run, "train.lr", pick(2) ? "0.001" : "0.01"});
          break;
        case 1:
          give(lab, EditField{run, "train.warmup", std::to_string(10 * pick(5))});
          break;
        case 2:
          give(lab, EditField{run, "model.layers", std::to_string(1 + pick(3))});
          break;
        case 3:
          give(lab, EditField{run, "model.placement", pick(2) ? "pre" : "post"});
          break;
        case 4:
          give(lab, EditField{-1, "run.seed", std::to_string(1 + pick(4))});
          break;
        case 5:
          give(lab, SetBudget{40 + 10 * pick(4)});
          break;
        default: {
          ForkRequest fork;
          fork.source = pick(3);
          fork.spec = *lab.view().runs[static_cast<size_t>(fork.source)].spec;
          set_field(fork.spec, "model.placement", "pre");
          fork.note = "norms moved";
          give(lab, fork);
        }
      }
      lab.train(1);
    }
    for (int i = 0; i < 40 && lab.state.session.undo.can_undo(); ++i) {
      lab.key("Ctrl+Z");
    }
    INFO(lab.view().message);
    CHECK_FALSE(lab.state.session.undo.can_undo());
    CHECK(lab.view().budget == budget);
    const std::vector<RunSpec> end = specs_of(lab.view());
    REQUIRE(end.size() == start.size());
    for (size_t i = 0; i < end.size(); ++i) {
      INFO("seed " << seed << " run " << i);
      CHECK(end[i] == start[i]);
    }
  }
}

TEST_CASE("a text that was dropped on the window is taken back, and the runs come back as they were left") {
  const test::Folder folder;
  const std::string path = folder.write("mine.txt", [] {
    std::string text;
    for (int i = 0; i < 400; ++i)
      text += "a small text of one's own, number " + std::to_string(i % 7) + ".\n";
    return text;
  }());
  LiveDriver lab;
  lab.train(5);
  const std::vector<RunSpec> start = specs_of(lab.view());
  const auto history = lab.view().runs[0].history;
  shell::begin_opening(lab.state.files, lab.state.session, path, false, lab.state.notice);
  lab.settle();
  lab.settle();
  INFO(lab.view().message);
  for (const RunView& run : lab.view().runs) CHECK(run.spec->data.text_path == path);
  CHECK(lab.view().runs[0].history != history);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
  CHECK(lab.view().runs[0].history == history);
  lab.key("Ctrl+Shift+Z");
  CHECK(lab.view().runs[0].spec->data.text_path == path);
}
