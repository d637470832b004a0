// normscope screenshot: a screen after some training, as PNGs, without display or OpenGL.
#include "app/cli/options.h"
#include "app/commands/picture.h"
#include "app/commands/specs.h"
#include "app/files/input_kinds.h"

namespace normscope::cli {
namespace {

std::string read_script(const std::string& path) {
  return with_exit(Exit::usage, [&] { return read_input_file(path, input::kScript); });
}

}  // namespace

Exit screenshot(const ScreenshotOptions& options) {
  PictureOptions picture{
      .dark = options.theme == "dark", .both = options.theme == "both", .scale = options.scale};
  with_exit(Exit::usage, [&] { parse_size(options.size, picture.width, picture.height); });
  if (!options.script.empty())
    picture.script = read_script(options.script), picture.script_name = options.script;
  std::vector<ConfigRun> runs = runs_of(options.config);
  override_runs(runs, options.text, 0, options.seed);
  task_of(runs[0].spec);  // said here, before anything is built
  std::vector<NamedFile> inputs = files_of(runs[0].spec);
  inputs.insert(inputs.end(), {{"--config", options.config}, {"--script", options.script}});
  check_outputs({{"--out", options.out}}, inputs);

  constexpr std::string_view kLesson = "lesson:";
  const bool lesson = options.screen.starts_with(kLesson);
  if (lesson)
    picture.lesson = options.screen.substr(kLesson.size());
  else if (options.screen != "lab")
    throw CommandError(
        Exit::usage,
        fmt::format("--screen '{}' is not known: expected lab or lesson:NAME:STEP", options.screen));
  Lab lab({.threads = options.threads, .live_text = false});
  if (!lesson) train_to(lab, runs, options.steps);
  draw_lab(lab, picture, options.out);
  return Exit::ok;
}

}  // namespace normscope::cli
