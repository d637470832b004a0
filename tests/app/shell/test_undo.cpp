// Undo brings runs back as they were before an edit, a restart or a fork, and trains them to where the others are.
#include <random>

#include "app/shell/screens.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "training/session/lab_trainer.h"

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

}  // namespace

TEST_CASE("what is refused is no entry, and what came after it is taken back") {
  LiveDriver lab;
  const std::vector<RunSpec> start = specs_of(lab.view());
  for (const Command& command : {Command(EditField{-1, "model.heads", "3"}),  // of a width of 16
                                 Command(EditField{-1, "model.sequence", "8"})})
    lab.lab.post(command);
  lab.settle();
  CHECK(lab.view().runs[0].spec->model.sequence == 8);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
  CHECK_FALSE(lab.state.session.can_undo());
}

TEST_CASE("an edit that follows an undo before any view tells of it is taken back to what the undo left") {
  LiveDriver lab;
  const std::vector<RunSpec> start = specs_of(lab.view());
  give(lab, EditField{-1, "train.batch", "2"});
  lab.lab.post(Undo{});
  lab.lab.post(EditField{-1, "model.sequence", "8"});
  lab.settle();
  CHECK(lab.view().runs[0].spec->model.sequence == 8);
  CHECK(lab.view().runs[0].spec->train.batch == start[0].train.batch);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
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
    for (int i = 0; i < 40 && lab.state.session.can_undo(); ++i) {
      lab.key("Ctrl+Z");
    }
    INFO(lab.view().message);
    CHECK_FALSE(lab.state.session.can_undo());
    CHECK(lab.view().budget == budget);
    const std::vector<RunSpec> end = specs_of(lab.view());
    REQUIRE(end.size() == start.size());
    for (size_t i = 0; i < end.size(); ++i) {
      INFO("seed " << seed << " run " << i);
      CHECK(end[i] == start[i]);
    }
  }
}

TEST_CASE("undo goes back by presses of the button and held keys, not by settings") {
  LiveDriver lab;
  const auto rate = [&] { return get_field(*lab.view().runs[0].spec, "train.lr"); };
  std::vector<std::string> were{rate()};
  const auto changed = [&] {
    lab.settle();
    REQUIRE(rate() != were.back());
    were.push_back(rate());
  };
  for (const char* to : {"plot/loss", "settings/model.layers"}) {
    lab.driver.drag("settings/train.lr", to);
    changed();
  }
  const auto hold_right = [&](int frames) {
    ImGui::GetIO().AddKeyEvent(ImGuiKey_RightArrow, true);
    lab.driver.frames(frames);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_RightArrow, false);
    changed();
  };
  hold_right(60);  // as long as it takes to repeat
  hold_right(1);
  while (were.size() > 1) {
    were.pop_back();
    lab.key("Ctrl+Z");
    CHECK(rate() == were.back());
  }
  CHECK_FALSE(lab.state.session.can_undo());
}

TEST_CASE("an edit that is undone leaves the step, the weights and the losses of a run that never had it") {
  const std::string key = GENERATE("train.lr", "model.norm");
  INFO(key);
  LiveDriver lab;
  lab.train(5);
  give(lab, EditField{-1, key, key == "train.lr" ? "0.1" : "rms"});
  lab.train(5);
  lab.key("Ctrl+Z");
  CHECK(lab.view().step == (key == "train.lr" ? 10 : 5));  // the live edit's runs catch up
  lab.train(6);
  for (const RunView& run : lab.view().runs) {
    CHECK(run.step == lab.view().step);
    CHECK(run.edits.empty());
    CHECK(test::same_bits(test::losses(run), test::alone(*run.spec, run.step)));  // as its weights give them
  }
}

TEST_CASE("what one press changed in several runs is taken back, and made again, in all of them") {
  LiveDriver lab;
  const std::vector<RunSpec> start = specs_of(lab.view());
  for (const Command& command :
       {Command(EditField{0, "train.lr", "0.1"}), Command(EditField{1, "train.warmup", "7"}),
        Command(EditField{1, "train.lr", "0.2"})})
    lab.lab.post(command, {.gesture = 7});
  lab.settle();
  const std::vector<RunSpec> changed = specs_of(lab.view());
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
  CHECK_FALSE(lab.state.session.can_undo());
  lab.key("Ctrl+Shift+Z");
  CHECK(specs_of(lab.view()) == changed);
}

TEST_CASE("however many edits are taken back, each run is as it was, if need be trained again") {
  LabOptions options = fixture::quiet_lab();
  options.kept_bytes = 0;  // the newest four stay
  LiveDriver lab({fixture::small_runs().front()}, options);
  std::vector<Edit> edits;
  const int count = 19;
  for (int i = 1; i <= count; ++i) {
    lab.train(1);
    give(lab, EditField{0, "train.lr", fmt::format("{}", 0.001 * i)});
    edits = lab.view().runs[0].edits;
  }
  lab.train(3);
  int again = 0;
  while (!edits.empty()) {
    lab.key("Ctrl+Z");
    edits.pop_back();
    const RunView& run = lab.view().runs[0];
    CHECK(run.edits == edits);
    CHECK(run.step == count + 3);
    CHECK(test::same_bits(test::losses(run), test::alone(*run.origin, run.step, edits)));
    again += lab.view().message == "A from step 0 again: what had been trained is not kept";
  }
  CHECK(again == count - static_cast<int>(kMaxRuns));  // the only keyframe, of step 20, has all edits
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
  const std::vector<float> left = test::losses(lab.view().runs[0]);
  shell::begin_opening(lab.state.files, lab.state.session, path, false, lab.state.notice);
  lab.settle();
  lab.settle();
  INFO(lab.view().message);
  for (const RunView& run : lab.view().runs) CHECK(run.spec->data.text_path == path);
  CHECK(test::losses(lab.view().runs[0]) != left);
  lab.key("Ctrl+Z");
  CHECK(specs_of(lab.view()) == start);
  CHECK(test::same_bits(test::losses(lab.view().runs[0]), left));
  lab.key("Ctrl+Shift+Z");
  CHECK(lab.view().runs[0].spec->data.text_path == path);
}
