// These tests take a link from one window to another: the runs train to its step with the same numbers to the last bit,
// and the view is the one that was copied.
#include <imgui.h>

#include <algorithm>

#include "app/headless/raster.h"
#include "app/lesson-player/player.h"
#include "app/shell/screens.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/small_lesson.h"
#include "training/files/command_text.h"

using namespace normscope;
using namespace shell;
using namespace link;
using fixture::LabDriver, fixture::LiveDriver;

namespace {

std::string copied_link(LabDriver& lab) {
  return link_fragment(linked_view(lab.state.session, lab.state.screens, lab.state.look));
}

void copy_another(LabDriver& lab) { shell::run_act(lab.state, lab.ui, view::Act::CopyLink); }

void open_in(LiveDriver& lab, const std::string& link) {
  INFO(link);
  CHECK(open_link(lab.state, link));
  INFO(lab.state.notice);
  lab.settle();
  lab.settle();
}

// Compares every loss that both have kept.
void check_same_runs(const LabView& a, const LabView& b) {
  CHECK(a.step == b.step);
  REQUIRE(a.runs.size() == b.runs.size());
  for (size_t i = 0; i < a.runs.size(); ++i) {
    INFO(a.runs[i].letter);
    CHECK(a.runs[i].letter == b.runs[i].letter);
    CHECK(a.runs[i].edits == b.runs[i].edits);
    const std::vector<float> first = a.runs[i].history->loss().values,
                             second = b.runs[i].history->loss().values;
    const size_t both = std::min(first.size(), second.size());
    REQUIRE(both > 0);
    CHECK(std::equal(first.end() - static_cast<std::ptrdiff_t>(both), first.end(),
                     second.end() - static_cast<std::ptrdiff_t>(both)));
  }
}

std::shared_ptr<lesson_player::Player> with_course(LiveDriver& lab, const std::string& progress) {
  return lab.state.screens.lessons.player = std::make_shared<lesson_player::Player>(
             fixture::small_course(),
             std::make_unique<lesson_player::Worker>(std::function<void()>{}, 1, nullptr), progress);
}

headless::Image picture_of(LabDriver& lab) {
  lab.driver.frames(3);
  return headless::rasterise(*lab.loop.draw_data(), ui::theme(lab.state.look.dark).bg.packed());
}

// Counts the pixels in which two pictures of one size differ.
size_t differing(const headless::Image& a, const headless::Image& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  size_t count = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) count += a.pixels[i] != b.pixels[i] ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("an opened link shows the view that it was copied from") {
  LiveDriver from, to;
  from.train(24);
  lab::TransportState& transport = from.state.screens.lab.transport();
  lab::pin_cursor(transport, from.view(), 13);
  lab::toggle_bookmark(transport, 7);
  from.state.screens.lab.diagram().selected = 'B';
  from.state.look.dark = true;
  open_in(to, copied_link(from));
  check_same_runs(from.view(), to.view());
  CHECK(lab::cursor_step(to.state.screens.lab.transport(), to.view()) == 13);
  CHECK(to.state.screens.lab.transport().bookmarks == std::vector<int>{7});
  CHECK(to.state.screens.lab.diagram().selected == 'B');
  CHECK(to.state.look.dark);
  CHECK_FALSE(to.view().playing);
  from.state.notice.clear();
  // Two windows met their letters in another order, so these lie elsewhere in the texture, and some edges of them round
  // otherwise. A cursor that is one step further changes more.
  const size_t few = 200;
  const headless::Image opened = picture_of(to);
  CHECK(differing(picture_of(from), opened) < few);
  lab::pin_cursor(transport, from.view(), 12);
  CHECK(differing(picture_of(from), opened) > 2 * few);
  // The runs of before come back.
  REQUIRE(to.state.session.can_undo());
  to.key("Ctrl+Z");
  CHECK(to.view().step == 0);
}

TEST_CASE("edits and a fork come along, and train to the same bits") {
  LiveDriver from, to;
  from.train(6);
  from.ask(session::EditField{0, "train.lr", "0.001"});
  from.train(4);
  session::ForkRequest fork;
  fork.spec = *from.view().runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  from.ask(fork);
  from.train(10);
  REQUIRE(from.view().runs.size() == 4);
  open_in(to, "https://example.org/lab#" + copied_link(from));
  check_same_runs(from.view(), to.view());
}

TEST_CASE("an edit whose step has not come yet comes along") {
  LiveDriver from, to;
  const std::vector<Edit> edits{{3, "train.lr", "0.001"}, {12, "train.lr", "0.002"}};
  from.ask(session::ReplaceRuns{fixture::small_runs(), {edits}, false});
  from.train(8);
  REQUIRE(from.view().runs[0].edits.size() == 1);
  const LinkedView link = read_link(copied_link(from));
  CHECK(link.runs[0].edits == edits);
  CHECK(link.runs[1].edits.empty());
  open_in(to, copied_link(from));
  from.train(8);
  to.train(8);
  CHECK(to.view().runs[0].edits == edits);
  check_same_runs(from.view(), to.view());
}

TEST_CASE("the screen comes along; a lesson stops where the learner has not predicted yet") {
  LiveDriver from, to;
  for (const Screen screen : screens_by_key()) {
    if (screen == Screen::Lessons) continue;
    from.state.screens.shown = screen;
    open_in(to, copied_link(from));
    CHECK(to.state.screens.shown == screen);
  }

  const test::Folder folder;
  const std::string link = "1&screen=lessons:warm-up:explain&end";
  LiveDriver learner, picture_of_it;
  const auto learning = with_course(learner, folder.file("learner.json"));
  CHECK(open_link(learner.state, link));
  REQUIRE(learning->lesson());
  CHECK(learning->lesson()->id == "warm-up");
  CHECK(learning->step() == course::StepKind::Predict);
  CHECK_FALSE(learning->progress("warm-up").committed);
  const auto shown = with_course(picture_of_it, folder.file("picture.json"));
  picture_of_it.state.screens.lessons.remembers = false;
  CHECK(open_link(picture_of_it.state, link));
  CHECK(shown->step() == course::StepKind::Explain);
  picture_of_it.state.session.asked.clear();
  learner.state.session.asked.clear();
  const LinkedView back =
      linked_view(picture_of_it.state.session, picture_of_it.state.screens, picture_of_it.state.look);
  CHECK(back.lesson == "warm-up:explain");
  // A lesson that is not in the course and a step that none has change nothing.
  learner.state.screens.shown = Screen::Lab;
  REQUIRE_FALSE(learner.state.look.dark);
  for (const char* place : {"kitchen:explain", "warm-up:kitchen"}) {
    CHECK_FALSE(open_link(learner.state, fmt::format("1&theme=dark&screen=lessons:{}&end", place)));
    CHECK(test::contains(learner.state.notice, "kitchen"));
    CHECK(learner.state.session.asked.empty());
    CHECK(learner.state.screens.shown == Screen::Lab);
    CHECK_FALSE(learner.state.look.dark);
  }
}

TEST_CASE(
    "a prediction comes along: it waits to be committed, and never takes the place of the learner's own") {
  using course::StepKind;
  const test::Folder folder;
  LiveDriver from, to;
  const auto teacher = with_course(from, folder.file("teacher.json")),
             learner = with_course(to, folder.file("learner.json"));
  from.state.screens.shown = to.state.screens.shown = Screen::Lessons;
  size_t kinds[3] = {};
  for (const course::Lesson& lesson : teacher->course().lessons) {
    INFO(lesson.id);
    const course::Prediction& asked = lesson.prediction;
    ++kinds[static_cast<size_t>(asked.kind)];
    view::Answer said;
    if (asked.kind == course::Prediction::Kind::Value) {
      said.value = asked.values.empty() ? asked.high : asked.values.back();
    } else if (asked.kind == course::Prediction::Kind::Order) {
      for (const auto& card : asked.cards) said.order.insert(said.order.begin(), card.id);
    } else {
      said.drawn.assign(course::drawn_grid(lesson, *lesson.curve(asked.curve)).size(), 0.25);
    }
    const std::string& figure = lesson.step(StepKind::Compare).figures.back();
    teacher->open(lesson.id, StepKind::Compare, said);
    teacher->lead_to(StepKind::Compare, figure);
    const std::string link = copied_link(from);
    INFO(link);
    // What the teacher committed is what the learner finds, not committed.
    CHECK(open_link(to.state, link));
    CHECK(to.state.notice.empty());
    CHECK(learner->step() == StepKind::Predict);
    CHECK_FALSE(learner->progress(lesson.id).committed);
    if (!said.drawn.empty()) {  // no link carries a drawing
      CHECK(learner->answer().empty());
      to.state.session.asked.clear();
      continue;
    }
    const auto alike = [](const view::Answer& a, const view::Answer& b) {
      return a.order == b.order && a.value == b.value;
    };
    REQUIRE_FALSE(teacher->answer().empty());
    CHECK(alike(teacher->answer(), learner->answer()));
    // To commit it leads to the page of the link, with its figure.
    to.settle();
    to.driver.frames(2);
    to.driver.click("lesson/next");
    CHECK(learner->progress(lesson.id).committed);
    CHECK(learner->step() == StepKind::Compare);
    CHECK(learner->figure_id() == figure);
    // Now the learner has an answer, and another link does not change it.
    const lesson_player::LessonProgress own = learner->progress(lesson.id);
    view::Answer other = said;
    if (other.value) other.value = asked.low;
    std::ranges::reverse(other.order);
    teacher->progress(lesson.id) = {};
    teacher->open(lesson.id, StepKind::Compare, other);
    CHECK(open_link(to.state, copied_link(from)));
    CHECK(test::contains(to.state.notice, "Your own prediction stays"));
    CHECK(learner->step() == StepKind::Compare);
    CHECK(learner->progress(lesson.id).order == own.order);
    CHECK(learner->progress(lesson.id).value == own.value);
    to.state.session.asked.clear();
  }
  for (const size_t count : kinds) CHECK(count > 0);
  // What this lesson cannot have is left out.
  LiveDriver third;
  const auto newcomer = with_course(third, folder.file("newcomer.json"));
  CHECK(open_link(third.state, "1&screen=lessons:warm-up:run&lesson.order=kitchen,sink&end"));
  CHECK(newcomer->answer().order.empty());
}

TEST_CASE("the link is copied as a command, or behind the page's address, and says what it does not carry") {
  LabDriver lab(fixture::lab_view());
  lab.driver.key("Ctrl+Shift+L");
  const std::string fragment = copied_link(lab);
  CHECK(lab.state.shell.clipboard ==
        with_program("normscope --link " + shell_quoted(fragment), program_word()));
  CHECK(read_link(fragment).step == 214);
  CHECK(test::contains(lab.state.notice, "copied: a link"));
  lab.state.shell.page = "https://example.org/lab";
  copy_another(lab);
  CHECK(lab.state.shell.clipboard == "https://example.org/lab#" + fragment);

  auto shorter = std::make_shared<LabView>(*fixture::lab_view());
  for (RunView& run : shorter->runs) {
    RunSpec spec = *run.spec;
    spec.train.steps = 100;  // a budget below the steps that are made
    run.spec = run.origin = std::make_shared<const RunSpec>(spec);
  }
  lab.state.session.view = shorter;
  CHECK(read_link(copied_link(lab)).step == 214);

  auto changed = std::make_shared<LabView>(*fixture::lab_view());
  for (RunView& run : changed->runs) {
    RunSpec spec = test::with_fields(*run.spec, {{"data.text", "/somewhere/book.txt"}});
    run.spec = std::make_shared<const RunSpec>(spec);
  }
  lab.state.session.view = changed;
  copy_another(lab);
  CHECK(test::contains(lab.state.notice, "it needs your text book.txt, which it does not carry"));
  const std::string with_text = copied_link(lab);
  CHECK_FALSE(open_link(lab.state, with_text));
  CHECK(test::contains(lab.state.notice, "--text FILE"));

  for (int step = 1; step < 3000; ++step)
    changed->runs[0].edits.push_back({step, "train.lr", fmt::format("0.00{}", (step * 7919) % 100003)});
  lab.state.shell.clipboard = "as before";
  copy_another(lab);
  CHECK(lab.state.shell.clipboard == "as before");
  CHECK(test::contains(lab.state.notice, "2999 edits"));
}

TEST_CASE(
    "a bad link is said, leaves what there is, and begins the default comparison where there is nothing") {
  LabDriver lab(fixture::lab_view());
  CHECK_FALSE(open_link(lab.state, "1&kitchen=3&end"));
  CHECK(test::contains(lab.state.notice, "kitchen"));
  CHECK(lab.state.session.asked.empty());
  AppState empty;
  CHECK_FALSE(open_link(empty, "1.AAAA"));
  CHECK(test::contains(empty.notice, "no link"));
  REQUIRE(empty.session.asked.size() == 1);
  const auto* const begins = std::get_if<session::ReplaceRuns>(empty.session.asked.data());
  REQUIRE(begins);
  CHECK(begins->runs.size() == 3);
  CHECK(begins->play);
}
