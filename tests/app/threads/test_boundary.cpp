// Exceptions end at a boundary: each worker, each part of a frame and each place that starts a thread is
// given a job that throws, or no thread, and says so in one line and lives on.
#include <dlfcn.h>
#include <imgui.h>
#include <pthread.h>

#include "app/lesson-player/player.h"
#include "app/support/live_lab.h"
#include "app/support/recorded_measurer.h"
#include "app/support/small_lesson.h"
#include "app/threads/tiny_study.h"
#include "engine/core/boundary.h"
#include "engine/cpu/pool.h"
#include "training/spec/backend_choice.h"

using namespace normscope;
using test::contains, test::Folder;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NORMSCOPE_SCARCE_THREADS 0  // the sanitizer has put itself between the program and its threads
#else
#define NORMSCOPE_SCARCE_THREADS 1

namespace {
std::atomic<int> threads_left{-1};  // -1: as many as the system gives
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*job)(void*),
                              void* argument) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
          dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  return real(thread, attributes, job, argument);
}
#endif

namespace {

void no_memory() { throw std::bad_alloc(); }

TEST_CASE("an exception becomes a line that says what was being done") {
  CHECK(guarded("saving", [] {}).empty());
  CHECK(guarded("saving", no_memory) == "[saving] there is not enough memory");
  CHECK(guarded("saving", [] { fail("file", "is full"); }) == "[file] is full");
  CHECK(guarded("saving", [] { throw 1; }) == "[saving] failed for an unknown reason");
  const std::string files = guarded("saving", [] {
    throw std::filesystem::filesystem_error("rename", "a",
                                            std::make_error_code(std::errc::no_space_on_device));
  });
  CHECK(contains(files, "[saving] "));
  CHECK(contains(files, "No space left"));
}

TEST_CASE("whatever a round of the Lab throws is said, and the Lab lives on") {
  Lab lab(fixture::quiet_lab());
  lab.on_change(no_memory);
  test::view_after(lab, session::ReplaceRuns{fixture::small_runs(1), {}, false});
  CHECK(contains(lab.view()->message, "not enough memory"));
  lab.on_change({});
  lab.post(session::ReplaceRuns{fixture::small_runs(1), {}, false});
  test::view_after(lab, session::PlayTo{2});
  CHECK(lab.view()->message.empty());
  CHECK(lab.view()->step == 2);
}

TEST_CASE("a backend that throws anything leaves the runs where they are") {
  LabOptions options = fixture::quiet_lab();
  options.open_backend = [](BackendChoice) -> std::unique_ptr<Backend> { throw std::bad_alloc(); };
  Lab lab(options);
  lab.post(session::ReplaceRuns{fixture::small_runs(1), {}, false});
  test::view_after(lab, session::SetBackend{{true, false}});
  CHECK(contains(lab.view()->message, "[moving the runs] there is not enough memory"));
  CHECK_FALSE(lab.view()->backend.cuda);

  options.backend = {true, false};
  Lab other(options);
  test::view_after(other, session::ReplaceRuns{fixture::small_runs(1), {}, false});
  CHECK(contains(other.view()->backend_note, "on the CPU: [backend] there is not enough memory"));
}

TEST_CASE("a lesson that cannot be measured says why", "[lesson]") {
  const course::Lesson lesson = fixture::small_lesson("02-warm-up");
  lesson_player::Worker worker(no_memory, 1);
  worker.start(lesson, {});
  worker.wait();
  CHECK(contains(worker.state()->error, "[measuring lesson " + lesson.id + "] there is not enough memory"));
  CHECK_FALSE(worker.state()->running);
}

TEST_CASE("runs of a check that throw end the check, with what they were", "[lesson]") {
  const course::Lesson lesson = fixture::small_lesson("02-warm-up");
  experiments::RunStore store(2);
  const auto broken = [](const experiments::RunProgress&) -> bool { throw std::bad_alloc(); };
  CHECK_THROWS_WITH(course::check_lesson(lesson, store, course::Tier::Fast, broken),
                    "[a lesson's runs] there is not enough memory");
}

TEST_CASE("a study that throws joins its workers") {
  experiments::ResultStore store("");
  CHECK_THROWS_AS(train(fixture::tiny_study(2000, 1), store, {.runs_at_a_time = 2},
                        [](const experiments::Progress&) -> bool { throw std::bad_alloc(); }),
                  std::bad_alloc);
}

class BrokenMeasurer : public fixture::RecordedMeasurer {
 public:
  explicit BrokenMeasurer(const bool& broken) : broken_(broken) {}
  std::shared_ptr<const lesson_player::MeasureState> state() const override {
    if (broken_) throw std::bad_alloc();
    return fixture::RecordedMeasurer::state();
  }

 private:
  const bool& broken_;
};

}  // namespace

TEST_CASE("a screen that throws shows why, and the others are there") {
  bool broken = false;
  fixture::LabDriver window;
  window.state.screens.lessons.player = std::make_shared<lesson_player::Player>(
      course::read_course(NORMSCOPE_SOURCE_DIR "/lessons"), std::make_unique<BrokenMeasurer>(broken), "");
  broken = true;
  window.driver.frames(2);
  CHECK_FALSE(window.ui.registry().find("app/failure"));
  window.state.screens.shown = Screen::Lessons;
  window.driver.frames(3);
  const ui::Control* failure = window.ui.registry().find("app/failure");
  REQUIRE(failure);
  CHECK(failure->value == "[drawing the lesson] there is not enough memory");
  window.click("app/tab/lab");
  CHECK_FALSE(window.ui.registry().find("app/failure"));
  CHECK(window.state.screens.shown == Screen::Lab);
}

TEST_CASE("what a part of a frame left open is closed behind it") {
  headless::Frame loop({400, 300});
  ui::Ui ui(ui::load_fonts());
  for (int frame = 0; frame < 6; ++frame) {
    std::string error;
    bool clipped = false;
    loop.step([&] {
      ui.begin_frame({});
      ui::Painter* window = &ui.paint();
      const ImVec2 before = ImGui::GetWindowDrawList()->GetClipRectMax();
      error = shell::draw_guarded(ui, "drawing", [&] {
        ui.open_popup("menu");
        ui.paint().push_clip({10, 10, 20, 20});
        REQUIRE(ui.begin_popup("menu", {20, 20, 100, 100}));
        ui.paint().push_clip({30, 30, 20, 20});
        ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.5f);
        ImGui::BeginDisabled();
        throw std::bad_alloc();
      });
      clipped = ImGui::GetWindowDrawList()->GetClipRectMax().x != before.x;
      CHECK(&ui.paint() == window);
      CHECK_FALSE(ui.popup_open("menu"));
      ui.hit("button", {0, 0, 50, 20}, "", "help");
      ui.end_frame();
    });
    CHECK(error == "[drawing] there is not enough memory");
    CHECK_FALSE(clipped);
    CHECK(ImGui::GetStyle().Alpha == 1.f);
    CHECK(ui.registry().find("button"));
  }
}

TEST_CASE("a link that leads in a circle beside the lessons is no lesson", "[lesson]") {
  const Folder folder;
  std::filesystem::create_symlink("01-loop", folder.file("01-loop"));
  course::Course course;
  REQUIRE_NOTHROW(course = course::read_course(folder.file(".")));
  CHECK(course.lessons.empty());
}

#if NORMSCOPE_SCARCE_THREADS
TEST_CASE("a thread that cannot be started is one line") {
  struct Scarce {
    explicit Scarce(int left) { threads_left = left; }
    ~Scarce() { threads_left = -1; }
  };
  const auto line_of = [](int left, auto start) {
    const Scarce scarce(left);
    return guarded("test", start);
  };
  const std::string none = "a thread cannot be started";
  CHECK(contains(line_of(1, [] { cpu::Pool pool(4); }), "[cpu] " + none));
  CHECK(contains(line_of(0, [] { Lab lab({.threads = 1}); }), "[lab] " + none));
  CHECK(contains(line_of(1, [] { Lab lab({.threads = 2}); }), "[cpu] " + none));
  CHECK(contains(line_of(0, [] { lesson_player::Worker worker; }), "[lesson] " + none));

  // A session that cannot be kept is trained on nevertheless.
  const Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.autosave = folder.file("session");
  options.autosave_every = 0.01;
  const Scarce scarce(1);
  Lab lab(options);
  lab.post(session::ReplaceRuns{fixture::small_runs(1), {}, false});
  test::view_after(lab, session::PlayTo{30});
  for (int i = 0; i < 200 && lab.view()->message.empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(lab.view()->step == 30);
  CHECK(contains(lab.view()->message, "[autosave] " + none));
}
#endif
