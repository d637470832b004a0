// normscope screenshot draws a screen after some training as PNGs, without display or OpenGL.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/commands/picture.h"
#include "training/io/input_file.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct ScreenshotOptions {
  std::string screen = "lab", theme = "light", size = "1600x1000", script, out, text, config, link, language;
  bool look_asked = false;  // a theme was given
  double scale = 1;
  int32_t steps = 200;
  int64_t seed = -1;
  int32_t threads = 0;
};

std::string read_script(const std::string& path) {
  return with_exit(Exit::Usage, [&] { return read_input_file(path, input::kScript); });
}

/// Does exactly so many steps, however small the budget is; false when interrupted.
bool train(Lab& lab, const std::vector<ConfigRun>& runs, int32_t steps) {
  begin(lab, runs);
  if (!runs.empty() && steps > runs.front().spec.train.steps) lab.post(session::SetBudget{steps});
  lab.post(session::PlayTo{steps});
  cli::Progress progress("training", steps);
  return watch(lab, progress);
}

void check_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty() && extension != ".png" && extension != ".PNG")
    throw CommandError(Exit::Usage,
                       fmt::format("--out {}: a picture is a PNG: expected a name that ends in .png", path));
}

/// Reads "lab", "lesson:warm-up:compare" or "sweep:depth".
void choose_screen(const std::string& asked, PictureOptions& picture) {
  const std::string name = asked.substr(0, asked.find(':'));
  const std::optional<Screen> screen = name == "lesson" ? Screen::Lessons : screen_named(name);
  const bool step = asked.size() > name.size();  // a lesson has one
  if (!screen || name == "lessons" || (*screen == Screen::Lessons && !step) ||
      (*screen == Screen::Lab && step)) {
    throw CommandError(Exit::Usage, fmt::format("--screen '{}' is not known: expected lesson:NAME:STEP, {}",
                                                asked, fmt::join(pictured_screens(), ", ")));
  }
  picture.screen = *screen;
  picture.what = asked.substr(std::min(asked.size(), name.size() + 1));
}

Exit screenshot(const ScreenshotOptions& options) {
  PictureOptions picture{
      .dark = options.theme == "dark", .both = options.theme == "both", .scale = options.scale};
  check_language(options.language);
  picture.language = options.language;
  with_exit(Exit::Usage, [&] { parse_size(options.size, picture.width, picture.height); });
  if (!options.script.empty()) {
    picture.script = read_script(options.script);
    picture.script_name = options.script;
  }
  int32_t steps = options.steps;
  std::vector<ConfigRun> runs;
  if (options.link.empty()) {
    runs = runs_of(options.config);
  } else {
    picture.link = link_of(options.link, options.text);
    if (options.look_asked) picture.link->dark = picture.dark;
    picture.dark = picture.link->dark;
    runs = picture.link->runs;
    steps = picture.link->step;
  }
  override_runs(runs, options.text, 0, options.seed);
  task_of(runs[0].spec);  // data that cannot be used are refused before anything is built
  std::vector<NamedFile> inputs = files_of(runs[0].spec);
  inputs.insert(inputs.end(), {{"--config", options.config}, {"--script", options.script}});
  check_outputs({{"--out", options.out}}, inputs);
  check_name(options.out);

  choose_screen(options.screen, picture);
  const InterruptGuard guard;
  Lab lab({.threads = options.threads, .live_text = false});
  const ScreenKind* const kind = kind_of(picture.screen);
  const bool own_runs = picture.screen == Screen::Lessons || (kind && kind->own_runs);
  if (!own_runs && !train(lab, runs, steps)) {
    complain("interrupted: no picture was drawn");
    return Exit::Interrupted;
  }
  const EndsAtOnce at_once("interrupted: no further picture was drawn");
  draw_lab(lab, picture, options.out);
  return Exit::Ok;
}

}  // namespace

void add_screenshot(CLI::App& app, Command& command) {
  const auto options = std::make_shared<ScreenshotOptions>();
  CLI::App& sub = *app.add_subcommand("screenshot", "Draw a screen to a PNG, without display or OpenGL");
  sub.add_option("--screen", options->screen,
                 fmt::format("which screen: lesson:NAME:STEP as lesson:warm-up:compare, or {}",
                             fmt::join(pictured_screens(), ", ")))
      ->type_name("NAME");
  add_steps(sub, options->steps, "steps trained before");
  add_look(sub, options->theme, options->scale, true);
  sub.add_option("--size", options->size, "pixels, as 1600x1000")->type_name("WxH");
  add_language(sub, options->language);
  add_seed(sub, options->seed);
  CLI::Option* text =
      sub.add_option("--text", options->text, "a UTF-8 text of your own to learn")->type_name("FILE");
  sub.add_option("--config", options->config, "the runs of a TOML file instead of the three built in")
      ->type_name("FILE")
      ->excludes(text);
  sub.add_option("--script", options->script, "hand movements to play first (docs/command-line.md)")
      ->type_name("FILE");
  sub.add_option("--out", options->out, "the PNG to write")->type_name("FILE")->required();
  add_threads(sub, options->threads);
  CLI::Option* const link = add_link(sub, options->link);
  for (const char* name : {"--screen", "--steps", "--config", "--seed"}) link->excludes(sub.get_option(name));
  sub.callback([&sub, options, &command] {
    options->look_asked = sub.count("--theme") > 0;
    command = [options] { return screenshot(*options); };
  });
}

}  // namespace normscope::commands
