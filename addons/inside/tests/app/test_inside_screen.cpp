// The Inside screen over a real session: an opened model is shown at rest, every edit of the text is answered, two
// models share a scale, and what cannot be read is said where the map would be.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "addons/inside/tests/app/inside_driver.h"
#include "addons/inside/tests/training/look_inside.h"
#include "addons/published/tests/massive.h"
#include "addons/published/training/token_task.h"
#include "app/shell/files.h"
#include "app/support/lab_fixture.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"

namespace normscope::fixture {
TEST_CASE("inside: a model is read at once, at rest, and each edit of the text is answered") {
  InsideDriver window(models({"gpt2"}));
  CHECK(window.lab.view()->step == 0);
  CHECK(window.of(0).found.tokens == std::vector<int32_t>{5, 17, 3, 5, 9, 4, 8, 2});
  window.read("7 7 9");
  CHECK(window.of(0).found.tokens == std::vector<int32_t>{7, 7, 9});
  CHECK(window.value("inside/token") == "7");
  window.key("Escape");
}

TEST_CASE("inside: the spectrum of the next update is taken when it is asked for, of the chosen layer") {
  InsideDriver window(small_runs());
  window.train(5);
  window.rest();
  CHECK_FALSE(window.of(0).spectra_of);
  CHECK(window.value("inside/gradients") != "none");
  window.click("inside/spectrum");
  const auto written = [&] {
    std::string all;
    for (const MatrixSpectra& m : window.of(0).spectra)
      all += fmt::format("{} {}, ", m.name, ui::number(m.ratio(), 3));
    return all;
  };
  REQUIRE(window.of(0).spectra_of == 2);  // the last layer but for its last row
  REQUIRE(window.of(0).spectra.size() >= 6);
  CHECK(window.value("inside/spectra") == written());
  CHECK(window.value("inside/gradients") == "none");
  window.ui.focus("inside/grid/A");
  for (int row = 0; row < 5; ++row) window.key("Down");
  REQUIRE(window.of(0).spectra_of == 0);  // the embedding
  CHECK(window.of(0).spectra.front().name.starts_with("emb"));
  CHECK(window.value("inside/spectra") == written());
  window.click("inside/spectrum");
  CHECK_FALSE(window.of(0).spectra_of);
  CHECK(window.value("inside/spectra") == "none");
}

TEST_CASE("inside: what a step against the gradient would teach is measured when it is chosen") {
  InsideDriver window(models({"gpt2"}));
  CHECK(window.of(0).found.backward_lens.empty());
  CHECK(window.value("inside/lens") == "After “8” each layer would say");
  window.click("inside/shows/learns");
  const Inside& found = window.of(0).found;
  REQUIRE(found.backward_lens.size() == found.sublayers.size());
  CHECK(window.value("inside/lens") == "After “8” a gradient asks, a step raises and lowers");
  const Inside::Change& raised = found.backward_lens[2].raised[found.tokens.size() - 2];
  CHECK(test::contains(window.value("inside/grid/A"),
                       fmt::format("A step against the gradient raises “{}” most (+{} nats)", raised.token,
                                   ui::number(static_cast<double>(raised.nats), 2))));
  CHECK(window.value("inside/sentence")
            .starts_with(fmt::format("{}: at {} of 7 tokens the gradient asks", found.backward_lens[2].name,
                                     right_of(found, found.backward_lens[2].asked))));
  window.click("inside/shows/length");
  CHECK(window.of(0).found.backward_lens.empty());
}

TEST_CASE("inside: the map of attributions and the list of heads say what each adds to the logit") {
  InsideDriver window(models({"gpt2"}));
  window.click("inside/shows/attribution");
  const Inside& found = window.of(0).found;
  const auto at =
      static_cast<size_t>(found.tokens.size() - 2);  // at first the last token that is asked for the next
  const std::string said =
      fmt::format("It adds {} to the logit of “2”",
                  ui::with_minus(ui::number(static_cast<double>(found.sublayers[2].attribution[at]), 3)));
  CHECK(test::contains(window.value("inside/grid/A"), said));
  window.ui.focus("inside/head");
  window.key("Down");
  CHECK(window.value("inside/head") == "2");
}

TEST_CASE("inside: among all heads a click and the arrows choose one and its layer, and one is left out") {
  InsideDriver window(models({"gpt2"}));
  window.click("inside/shows/heads");
  CHECK(window.value("inside/grid/A").starts_with("L02.attn, head 1: "));
  window.ui.focus("inside/grid/A");
  window.key("Down");
  window.key("Left");
  CHECK(window.value("inside/grid/A").starts_with("L01.attn, head 2: "));
  CHECK(window.value("inside/heads") == "Where L01.attn looks");
  CHECK(window.value("inside/head") == "2");
  CHECK_FALSE(test::contains(window.value("inside/grid/A"), "Without it"));
  window.click("inside/leave_out");
  const auto left = std::ranges::find(window.of(0).found.left_out, "L01.attn.head.2", &Inside::LeftOut::name);
  REQUIRE(left != window.of(0).found.left_out.end());
  CHECK(test::contains(window.value("inside/grid/A"),
                       "Without it the loss changes by " +
                           ui::with_minus(ui::number(left->loss - window.of(0).found.loss, 3))));
}

TEST_CASE("inside: a model writes on token by token, until it reads no more or its text is changed") {
  InsideDriver window(small_runs());
  window.read("the ");
  window.driver.key("Escape");
  window.click("inside/write");
  const auto grows = [&](size_t tokens) {
    for (int i = 0; i < 2000 && window.of(0).found.tokens.size() < tokens; ++i) {
      window.driver.frames(1);
      window.lab.wait_idle();
    }
    return window.of(0).found.tokens.size() >= tokens;
  };
  REQUIRE(grows(7));
  const RunInside& inside = window.of(0);
  const Inside::Lens& last = inside.found.lens.back();
  const size_t guesses = last.guesses.size() / inside.found.tokens.size();
  for (size_t t = 3; t + 1 < inside.found.tokens.size(); ++t)
    CHECK(inside.found.tokens[t + 1] == last.guesses[t * guesses].token);
  window.read("the dog");
  window.driver.key("Escape");
  window.rest();
  window.driver.frames(30);
  CHECK(window.of(0).text == "the dog");
  window.click("inside/write");
  REQUIRE(grows(most_inside(window.lab.view()->runs[0].spec->model)));
  window.rest();
  window.driver.frames(30);
  CHECK(window.value("inside/refused/A") == "none");
  window.driver.click("inside/temperature");
  window.type("1");
  window.driver.key("Enter");
  const auto drawn_with = [&](const char* seed) {
    window.driver.click("inside/seed");
    window.type(seed);
    window.driver.key("Enter");
    window.read("the ");
    window.driver.key("Escape");
    window.rest();
    window.click("inside/write");
    REQUIRE(grows(12));
    window.click("inside/write");
    window.rest();
    return window.of(0).text.substr(0, 12);
  };
  const std::string first = drawn_with("3");
  CHECK(drawn_with("4") != first);
  CHECK(drawn_with("3") == first);
}

TEST_CASE("inside: an encoder writes nothing") {
  InsideDriver window(models({"bert"}));
  CHECK_FALSE(window.ui.registry().find("inside/write")->enabled);
}

TEST_CASE("inside: a token that dominates is named, and the own shares are medians by token") {
  const test::Folder folder;
  InsideDriver window({published::run_of(test::massive_first(folder), kPassage), models({"gpt2"})[0]});
  CHECK(window.value("inside/state/A").starts_with("“5” dominates: behind "));
  CHECK(window.value("inside/column/share_median/A") == "own share β², median");
  window.driver.click("inside/run/B");
  window.click("inside/run/A");
  CHECK(window.value("inside/state/B") == "none");
  CHECK(window.value("inside/column/share/B") == "own share β²");
}

TEST_CASE("inside: the map is saved as the picture, and all numbers as the JSON, of normscope inspect") {
  const test::Pictures folder;
  InsideDriver window(models({"gpt2", "olmo2"}));
  window.click("inside/run/B");
  for (const char* ending : {"svg", "json"}) {
    window.driver.click("inside/save");
    window.click(std::string("inside/save/") + ending);
  }
  for (const size_t run : {0, 1}) {
    const std::string name = fmt::format("normscope-inside-{}-0.", "AB"[run]);
    const std::string svg = test::read_all(folder.file(name + "svg"));
    CHECK(test::well_formed(svg));
    const nlohmann::json all = nlohmann::json::parse(test::read_all(folder.file(name + "json")));
    CHECK(all["loss"].get<double>() == Approx(window.of(run).found.loss));
    CHECK(all["model.placement"] == (run == 0 ? "pre" : "custom"));
    CHECK(all["sublayers"].size() == window.of(run).found.sublayers.size());
    CHECK(test::contains(svg, fmt::format("{:.3g}", window.of(run).found.sublayers.back().norms[3])));
    CHECK(test::contains(svg, "Length of the states in " + window.lab.view()->runs[run].name));
  }
}

TEST_CASE("inside: arrows walk the map, up the layers and along the text") {
  InsideDriver window(models({"gpt2"}));
  const std::string before = window.value("inside/grid/A");
  window.ui.focus("inside/grid/A");
  window.key("Left");
  const std::string left = window.value("inside/grid/A");
  CHECK(left != before);
  window.key("Up");
  CHECK(window.value("inside/grid/A") != left);
}

TEST_CASE(
    "inside: after a step the model is read again, and learning a text restarts from the opened weights") {
  InsideDriver window(models({"gpt2"}));
  const double before = window.of(0).found.loss;
  test::view_after(window.lab, session::PlayTo{10});
  window.rest();
  CHECK(window.of(0).step == 10);
  CHECK(window.of(0).found.loss < before);
  window.read("7 7 9 4");
  window.driver.key("Escape");
  window.click("inside/learn");
  CHECK(passage_of(window.lab.view()->runs[0].spec->data) == "7 7 9 4");
  CHECK(window.lab.view()->step == 0);
}

TEST_CASE("inside: while two models train, both are read again and again") {
  InsideDriver window(models({"gpt2", "olmo2"}));
  window.click("inside/run/B");
  window.lab.post(session::SetBudget{100'000});
  window.lab.post(session::PlayTo{90'000});
  int newer[2] = {0, 0}, seen[2] = {0, 0};
  for (int i = 0; i < 3000 && (newer[0] < 3 || newer[1] < 3); ++i) {
    window.driver.frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::shared_ptr<const LabView> view = window.lab.view();
    for (size_t run = 0; run < 2; ++run)
      if (const RunInside* inside = inside_of(view->runs[run]); inside && inside->step > seen[run]) {
        seen[run] = inside->step;
        ++newer[run];
      }
  }
  CHECK(newer[0] >= 3);
  CHECK(newer[1] >= 3);
  test::view_after(window.lab, session::Pause{});
}

TEST_CASE("inside: a run is read at the step of the timeline's cursor, as it stood then") {
  InsideDriver window(small_runs());
  test::view_after(window.lab, session::PlayTo{7});
  window.rest();
  CHECK(window.of(0).step == 7);
  const Inside then = window.of(0).found;
  test::view_after(window.lab, session::PlayTo{12});
  window.rest();
  CHECK(window.of(0).step == 12);
  CHECK(window.of(0).found.loss != then.loss);
  const int32_t pinned = 7;
  window.state.screens.lab.transport().pinned_step = pinned;
  window.rest();
  CHECK(window.of(0).step == pinned);
  CHECK(window.of(0).found.loss == then.loss);
  CHECK(window.of(0).found.sublayers.back().norms == then.sublayers.back().norms);
  CHECK(window.lab.view()->runs[0].step == 12);  // the run itself stays
  window.key("End");
  CHECK(window.of(0).step == 12);
}

TEST_CASE("inside: a folder that is opened is shown Inside and takes the place of the runs, at rest") {
  InsideDriver window(small_runs());
  window.state.screens.shown = Screen::Lab;
  shell::begin_opening(window.state.files, window.state.session, kModels + "qwen3", false,
                       window.state.notice);
  for (int i = 0; i < 500 && window.state.screens.shown != Screen::Inside; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    window.driver.frames(1);
  }
  REQUIRE(window.state.screens.shown == Screen::Inside);
  window.rest();
  REQUIRE(window.lab.view()->runs.size() == 1);
  CHECK(window.lab.view()->runs[0].name == "qwen3");
  CHECK(window.lab.view()->step == 0);
  // This folder has no tokenizer: it begins with numbers of tokens, as the program's own passage is words.
  CHECK(window.of(0).found.tokens.size() == 16);
}

TEST_CASE("inside: the text and the models shown are kept with the session") {
  InsideDriver window(models({"gpt2", "olmo2"}));
  window.screen().restore({{"text", "3 4 5"}, {"runs", "AB"}});
  window.rest();
  CHECK(window.of(1).found.tokens == std::vector<int32_t>{3, 4, 5});
  CHECK(window.screen().kept() == ScreenSettings{{"text", "3 4 5"}, {"runs", "AB"}});
}

// What the Inside screen says while it waits, over views that stand still: for a model, for another look, for the rest
// of one.

namespace {

/// The screen over a view that no trainer renews.
struct Waiting : LabDriver {
  explicit Waiting(LabView view) {
    state.screens.shown = Screen::Inside;
    state.look.reduced_motion = true;
    show(std::move(view));
  }
  void show(LabView view) {
    state.session.view = std::make_shared<const LabView>(std::move(view));
    driver.frames(2);
  }
  std::string value(const char* control) {
    const ui::Control* found = ui.registry().find(control);
    return found ? found->value : "none";
  }
};

LabView looked_into() {
  LabView view = *lab_view();
  view.playing = false;
  view.runs.resize(1);
  const auto run = test::make_run(test::small_spec("pre"));
  view.runs[0].inquiry = test::look_inside(*run);
  return view;
}

}  // namespace

TEST_CASE("inside: while a model is read from its files, nobody is asked to open one") {
  LabView view;
  view.busy = true;
  Waiting window(view);
  CHECK(window.value("inside/none") == "The model is being read from its files.");
  view.busy = false;
  window.show(view);
  CHECK(window.value("inside/none") ==
        "There is no model to look into: open one, or start a run in the Lab.");
}

TEST_CASE(
    "inside: what is older than what was asked for says so after a moment, and then how far the rest is") {
  LabView view = looked_into();
  Waiting window(view);
  CHECK(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
  CHECK(window.value("inside/state/A") == "none");
  window.driver.frames(40);
  CHECK(window.value("inside/state/A") == "Measuring: below is still what was asked for before.");
  view.answered = window.state.session.last_ticket;
  view.runs[0].inquiry_done = 34;
  view.runs[0].inquiry_parts = 90;
  window.show(view);
  CHECK(window.value("inside/state/A") == "Measuring, 34 of 90: the rest comes by itself.");
  CHECK(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
  view.runs[0].inquiry_done = view.runs[0].inquiry_parts = 0;
  window.show(view);
  CHECK(window.value("inside/state/A") == "none");
  // At an earlier step the older picture stays until that step is there, however long it is trained again.
  window.state.screens.lab.transport().pinned_step = view.runs[0].step - 1;
  window.driver.frames(2);
  view.answered = window.state.session.last_ticket;
  view.runs[0].inquiry_done = 3;
  view.runs[0].inquiry_parts = 20;
  window.show(view);
  window.driver.frames(40);
  CHECK(window.value("inside/state/A") ==
        fmt::format(
            "Step {} is trained again, then the model reads the text: below is still what was asked for "
            "before.",
            view.runs[0].step - 1));
  view.runs[0].inquiry_done = view.runs[0].inquiry_parts = 0;
  auto then = std::make_shared<RunInside>(*inside_of(view.runs[0]));
  then->step = view.runs[0].step - 1;
  view.runs[0].inquiry = then;
  window.show(view);
  CHECK(window.value("inside/state/A") == "none");
  CHECK_FALSE(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
}

TEST_CASE("inside: a look that something else ended before it was whole is asked for again") {
  LabView view = looked_into();
  Waiting window(view);
  view.answered = window.state.session.last_ticket;
  window.show(view);
  const auto asked = [&] {
    return std::ranges::count_if(window.log, [](const session::Command& command) {
      return std::holds_alternative<session::Inquire>(command);
    });
  };
  CHECK(asked() == 1);
  auto part = std::make_shared<RunInside>(*inside_of(view.runs[0]));
  part->whole = false;
  view.runs[0].inquiry = part;
  window.show(view);
  CHECK(asked() == 2);
}

}  // namespace normscope::fixture
