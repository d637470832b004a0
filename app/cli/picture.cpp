#include "app/cli/picture.h"

#include <charconv>
#include <chrono>
#include <functional>
#include <string_view>
#include <thread>

#include "app/app_state.h"
#include "app/cli/exit_code.h"
#include "app/lessons/player.h"
#include "app/ui/frame.h"
#include "app/ui/robot.h"

namespace normscope::cli {
namespace {

constexpr int kSettle = 4;  // frames until sizes and textures have come to rest

/// One window-less window on a session.
class Stage {
 public:
  Stage(Lab& lab, const PictureOptions& options)
      : lab_(lab),
        loop_({static_cast<float>(options.width), static_cast<float>(options.height)}),
        ui_(ui::load_fonts()),
        robot_(loop_, ui_, [this] { draw_app(state_, ui_); }) {
    state_.lab = &lab;
    state_.dark = options.dark;
    state_.scale = static_cast<float>(options.scale);
    state_.reduced_motion = true;
    state_.clock = false;
    if (!options.lesson.empty()) open_lesson(options.lesson);
    rest();
  }

  /// A line at a time: what it sets off is over before the next one.
  void play(std::string_view script) {
    std::string
        before;  // empty lines in place of those played, so that errors count from the file's first line
    for (int number = 1; !script.empty(); ++number) {
      const size_t end = script.find('\n');
      const std::string_view line = script.substr(0, end);
      script.remove_prefix(end == script.npos ? script.size() : end + 1);
      if (line.starts_with("wait"))
        train_on(line.substr(4), number);
      else
        robot_.script(before + std::string(line));
      before += '\n';
      rest();
    }
  }

  raster::Image image() {
    robot_.frames(1);
    return raster::rasterise(*loop_.draw_data(), ui::theme(state_.dark).bg.packed());
  }

 private:
  /// "warm-up:compare"
  void open_lesson(const std::string& name) {
    const size_t colon = name.find(':');
    const std::string step = colon == std::string::npos ? "predict" : name.substr(colon + 1);
    for (lessons::StepKind kind : lessons::kSteps) {
      if (step != lessons::to_string(kind)) continue;
      state_.screen = Screen::lessons;
      state_.player = std::make_shared<lessons::Player>(lessons::read_course(lessons::lessons_folder()),
                                                        std::make_unique<lessons::Worker>(), std::string());
      return with_exit(Exit::usage, [&] { state_.player->open(name.substr(0, colon), kind); });
    }
    throw CommandError(
        Exit::usage,
        fmt::format("--screen lesson:{}: expected a step: predict, run, compare or explain", name));
  }

  void rest() {
    lab_.wait_idle();
    while (state_.player && state_.player->measuring())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    robot_.frames(kSettle);
  }

  void train_on(std::string_view argument, int number) {
    const size_t from = std::min(argument.find_first_not_of(' '), argument.size());
    int32_t step = 0;
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data() + from, end, step);
    const bool blank =
        std::string_view(stop, static_cast<size_t>(end - stop)).find_first_not_of(" \r") == argument.npos;
    if (from == 0 || error != std::errc{} || !blank || step < 0) {
      throw Error(fmt::format("script line {}: 'wait{}': expected wait STEP, as wait 240", number, argument));
    }
    lab_.play_to(step);
    rest();
  }

  Lab& lab_;
  AppState state_;
  ui::Frame loop_;
  ui::Ui ui_;
  ui::Robot robot_;
};

}  // namespace

void train_to(Lab& lab, const std::vector<RunSpec>& specs, int32_t steps,
              const std::vector<std::vector<Edit>>& edits) {
  lab.start(specs, false, edits);
  if (!specs.empty() && steps > specs.front().train.steps) lab.set_budget(steps);
  lab.wait_idle();
  const std::shared_ptr<const LabView> view = lab.view();
  if (view->runs.empty()) throw CommandError(Exit::usage, view->message);
  lab.play_to(steps);
  lab.wait_idle();
}

raster::Image picture_of(Lab& lab, const PictureOptions& options) {
  Stage stage(lab, options);
  with_exit(Exit::usage, [&] { stage.play(options.script); });
  return stage.image();
}

void draw_lab(Lab& lab, const PictureOptions& options, const std::string& path) {
  raster::write_png(path, picture_of(lab, options));
}

}  // namespace normscope::cli
