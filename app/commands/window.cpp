// normscope without a command opens the window, or without a display does the headless main job.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/study.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/commands/run_log.h"
#include "app/course/reader.h"
#include "app/window/main_window.h"
#include "training/files/file_kind.h"
#include "training/run/run.h"
#include "training/session/lab.h"
#include "training/session/session_file.h"

namespace normscope::commands {
using namespace cli;
using namespace window;
namespace {

constexpr size_t kMaxModels = 4;  ///< runs of a session
constexpr size_t kMaxFiles = 8;   ///< side by side

using Work = Exit (*)(const MainOptions&);
/// An add-on's function for a start without a window; null: there is none.
Work headless_work() {
  for (const Work work : std::initializer_list<Work>{
#define HEADLESS(work) work,
#include "chosen/headless.def"
#undef HEADLESS
       })
    return work;
  return nullptr;
}

/// Checked first because it is cheap: without a display a window library may need seconds to find out.
bool display_named() {
#if defined(__linux__) || defined(__FreeBSD__)
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
  };
  return named("DISPLAY") || named("WAYLAND_DISPLAY");
#else
  return true;
#endif
}

/// The log of frames is begun anew: it must not be a file that the window reads.
void check_frame_log(const MainOptions& options, const std::vector<std::string>& files,
                     const std::vector<ConfigRun>& runs) {
  std::vector<NamedFile> inputs = {{"--config", options.config}};
  for (const std::string& file : files) inputs.push_back({"open", file});
  for (const ConfigRun& run : runs)
    for (NamedFile& file : files_of(run.spec)) inputs.push_back(std::move(file));
  check_outputs({{"--frame-log", options.frame_log}}, inputs);
}

/// Shows published `models` at rest, on the screen for them; `files` go to the screen for recorded runs.
int try_window(const MainOptions& options, const std::vector<std::string>& files = {},
               std::vector<ConfigRun> models = {}) {
  // The options are read first, so that what is wrong with them is said even where there is no display.
  MainRuns asked = main_runs(options);
  if (!options.window && !display_named())
    return kWindowNoDisplay;    // whoever trains here instead reads the text
  task_of(asked.runs[0].spec);  // an unusable text is refused before there is a window
  check_frame_log(options, files, asked.runs);
  if (!display_named()) return kWindowNoDisplay;
  WindowOptions window{.runs = std::move(asked.runs), .link = std::move(asked.link)};
  if (window.link && !options.theme.empty()) window.link->dark = options.theme == "dark";
  window.lab.threads = options.threads;
  if (!options.backend.backend.empty() || options.backend.tf32) window.backend = backend_of(options.backend);
  window.language = options.language;
  if (!options.theme.empty()) window.dark = options.theme == "dark";
  window.files = files;
  if (!models.empty()) {
    window.runs = std::move(models);
    window.shown = screen_for(FileKind::Model).value_or(Screen::Lab);
    window.play = false;
  }
  window.safe_mode = options.safe_mode;
  window.instant = options.instant;
  window.frame_log = options.frame_log;
  window.interrupted = &InterruptGuard::interrupted;
  if (options.scale > 0) window.scale = static_cast<float>(options.scale);
  const InterruptGuard guard;
  return run_window(window);
}

Exit open_window(const MainOptions& options) {
  check_language(options.language);
  const int result = try_window(options);
  if (result == kWindowClosed) return Exit::Ok;
  if (result == kWindowInterrupted) return Exit::Interrupted;
  const char* why = result == kWindowNoDisplay ? "no display" : "no OpenGL 3.3 on this display";
  const Work headless = headless_work();
  if (options.window || !headless)
    throw CommandError(
        Exit::Display,
        fmt::format("{}: --window cannot open one; normscope train and screenshot need none", why));
  say("{}: training the runs here instead (Ctrl+C stops)\n", why);
  flush();
  if (options.instant) return run_instant(options);
  return headless(options);
}

/// Refuses, before there is a window, a file that is neither a log nor a saved run: other options open it.
void check_recorded(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const FileLook look = look_at(file);
    if (look.kind == FileKind::Recorded) continue;
    throw CommandError(
        Exit::Input,
        fmt::format(
            "open {}: {} Expected a published model, a log or a saved run (--config and --text take others)",
            file, look.words));
  }
}

/// A published model, or a saved run that goes on from its weights, as a run to look into. Throws Error.
RunSpec model_of(const std::string& path) {
  const OpenedFile opened = read_opened(path);
  if (opened.look.kind == FileKind::Model) return opened.runs.front().spec;
  if (opened.look.kind == FileKind::Unusable)
    throw CommandError(Exit::Input, fmt::format("open {}: {}", path, opened.look.words));
  if (opened.look.kind != FileKind::Recorded)
    throw CommandError(Exit::Input, fmt::format("open {}: {} Expected published models and saved runs", path,
                                                opened.look.words));
  const std::string file = std::filesystem::absolute(path).string();
  RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(file); });
  spec.train.init_from = file;
  spec.name = std::filesystem::path(path).stem().string();
  return spec;
}

std::vector<ConfigRun> models_of(const std::vector<std::string>& paths) {
  if (paths.size() > kMaxModels)
    throw CommandError(Exit::Input,
                       fmt::format("open: {} models: expected 1 to {}", paths.size(), kMaxModels));
  std::vector<ConfigRun> models;
  for (const std::string& path : paths)
    models.push_back({static_cast<char>('A' + models.size()), model_of(path), {}});
  return models;
}

Exit open_files(const MainOptions& options, const std::vector<std::string>& files, bool inside) {
  const bool models =
      inside || !screen_for(FileKind::Recorded) || std::ranges::any_of(files, [](const std::string& file) {
        return look_at(file).kind == FileKind::Model;
      });
  if (files.size() > kMaxFiles)
    throw CommandError(Exit::Usage, fmt::format("open: {} files: expected 1 to {}", files.size(), kMaxFiles));
  // The session keeps absolute paths, as it may be opened from another folder.
  std::vector<std::string> paths;
  if (!models) {
    check_recorded(files);
    for (const std::string& file : files) paths.push_back(std::filesystem::absolute(file).string());
  }
  const int result = try_window(options, paths, models ? models_of(files) : std::vector<ConfigRun>());
  if (result == kWindowClosed) return Exit::Ok;
  if (result == kWindowInterrupted) return Exit::Interrupted;
  throw CommandError(Exit::Display,
                     fmt::format("{}: open cannot open a window; normscope {} needs none",
                                 result == kWindowNoDisplay ? "no display" : "no OpenGL 3.3 on this display",
                                 models ? "inspect" : "compare FILE..."));
}

}  // namespace

void add_open(CLI::App& app, Command& command) {
  const auto options = std::make_shared<MainOptions>();
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App& sub = *app.add_subcommand(
      "open",
      "The window with published models, or with logs or saved runs side by side: what differs, and from where on");
  sub.add_option("files", *files,
                 "folders of published models; or logs (they are followed while they grow) or saved runs")
      ->type_name("PATH")
      ->required()
      ->expected(-1);
  add_look(sub, options->theme, options->scale);
  sub.add_flag("--safe-mode", options->safe_mode, "the window without settings and autosave");
  const auto inside = std::make_shared<bool>(false);
  sub.add_flag("--inside", *inside,
               "look into saved runs instead of comparing them, as into published models");
  sub.callback([options, files, inside, &command] {
    command = [options, files, inside] { return open_files(*options, *files, *inside); };
  });
}

void add_window(CLI::App& app, Command& command) {
  const auto options = std::make_shared<MainOptions>();
  add_main_options(app, *options, "as remembered");
  add_look(app, options->theme, options->scale);
  add_language(app, options->language);
  app.add_flag("--safe-mode", options->safe_mode, "the window without settings and autosave");
  add_value(app, "--frame-log", options->frame_log, "FILE", "what every frame of the window costs, as CSV");
  app.add_flag("--instant", options->instant,
               "small runs, of which every change trains all steps anew within moments");
  app.add_flag("--window", options->window, "fail (4) instead of training without a window");
  // This callback runs after the commands' own.
  app.callback([options, &command] {
    if (!command) {
      command = [options] { return open_window(*options); };
    } else if (!options->language.empty()) {  // before a command it is the command's
      command = [options, named = command] {
        check_language(options->language);
        course::set_course_language(options->language);
        return named();
      };
    }
  });
}

// normscope instant trains small runs whole, several at a time, as the window does at every change, and prints their
// results and when each was known.

namespace {

using Clock = std::chrono::steady_clock;

/// Blocks until the view of the Lab is as wanted; returns when that was, in seconds.
template <typename Wanted>
double seconds_until(Lab& lab, Clock::time_point begin, const Wanted& wanted) {
  while (!wanted(*lab.view())) std::this_thread::sleep_for(std::chrono::microseconds(200));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

RunResult result_of(const RunView& run) {
  return commands::result_of({run.letter, run.spec->seed}, *run.spec, {}, run.state, *run.history,
                             *task_of(*run.spec), run.validation_loss,
                             std::numeric_limits<double>::quiet_NaN());
}

/// A run of the Lab and its reruns with other seeds.
experiments::Arm arm_of(const RunView& run, double level) {
  experiments::Arm arm{run.letter, run.name, *run.data, {}};
  const std::shared_ptr<const Task> task = task_of(*run.spec);
  const auto add = [&](uint64_t seed, std::span<const float> losses) {
    RunSpec spec = *run.spec;
    spec.seed = seed;
    arm.seeds.push_back(experiments::end_of(spec, losses, level));
    const auto steps = static_cast<int32_t>(losses.size());
    arm.seeds.back().level = unigram_of_last(*task, spec, steps, loss_window(steps, {}));
  };
  add(run.spec->seed, run.history->loss().values);
  for (const RunSpread::Seed& rerun : run.spread->each)
    if (rerun.seed != run.spec->seed) add(rerun.seed, *rerun.losses);
  return arm;
}

/// Writes every step of a run, and of its reruns with other seeds the losses, which are all that is kept of them.
void log_arm(RunLog& log, const RunView& run, const RunResult& result, const experiments::Arm& arm) {
  log.steps(result.label, *run.history);
  log.result(result);
  const std::vector<float> rates = run.history->rate().values;  // of all seeds
  for (const RunSpread::Seed& rerun : run.spread->each) {
    if (rerun.seed == result.label.seed) continue;
    RunResult other = result;
    other.label.seed = other.spec.seed = rerun.seed;
    other.step = static_cast<int32_t>(rerun.losses->size());
    for (size_t i = 0; i < rerun.losses->size(); ++i)
      log.step(other.label, static_cast<int32_t>(i) + 1, (*rerun.losses)[i],
               i < rates.size() ? rates[i] : std::numeric_limits<double>::quiet_NaN(), {}, {}, std::nullopt);
    const experiments::SeedEnd& end = *std::ranges::find(arm.seeds, rerun.seed, &experiments::SeedEnd::seed);
    other.verdict = end.verdict;
    other.state = end_state(end.verdict);
    other.window = loss_window(other.step, {});
    other.loss = end.loss;
    other.unigram = end.level;
    other.validation = std::numeric_limits<double>::quiet_NaN();
    log.result(other);
  }
}

/// When results were there, in milliseconds.
struct Ready {
  double one = 0, three = 0, five = 0;
};

void say_instant(const LabView& view, const std::vector<RunResult>& results,
                 std::span<const experiments::Arm> arms, const Ready& ready) {
  say("{}", to_text(table(results, false), terminal_width()));
  for (const std::string& line : agreement_lines(arms)) say("{}\n", line);
  say("{} runs of {} steps on {} threads: there after {:.0f} ms, three seeds after {:.0f} ms, five after {:.0f} ms\n",
      view.runs.size(), view.budget, view.threads, ready.one, ready.three, ready.five);
}

}  // namespace

Exit run_instant(const MainOptions& options, bool as_json, const std::string& log) {
  Lab lab(LabOptions{.threads = options.threads, .sample_text = false});
  const MainRuns asked = main_runs(options);
  session::ReplaceRuns command = replacing(asked.runs, false);
  command.instant = asked.link && asked.link->instant;  // its runs are small already
  command = instant(std::move(command));
  std::vector<NamedFile> inputs = {{"--config", options.config}};
  for (const RunSpec& spec : command.runs) {
    task_of(spec);  // read before the clock begins
    for (NamedFile& file : files_of(spec)) inputs.push_back(std::move(file));
  }
  check_outputs({{"--log", log}}, inputs);
  const auto begin = Clock::now();
  const session::Ticket ticket = lab.post(command);
  const auto refused = [&](const LabView& view) { return view.answered >= ticket && view.runs.empty(); };
  const auto there = [&](int32_t seeds) {
    return 1e3 * seconds_until(lab, begin, [&](const LabView& view) {
             return refused(view) || seeds_there(view) >= seeds;
           });
  };
  Ready ready{there(1)};
  if (refused(*lab.view())) throw CommandError(Exit::Usage, lab.view()->message);
  ready.three = there(3), ready.five = there(5);
  const auto view = lab.view();
  std::vector<RunResult> results;
  std::vector<experiments::Arm> arms;
  for (const RunView& run : view->runs) {
    results.push_back(result_of(run));
    arms.push_back(arm_of(run, view->unigram_entropy));
  }
  if (!log.empty()) {
    RunLog file(log, *view->runs.front().data);
    for (size_t i = 0; i < results.size(); ++i) log_arm(file, view->runs[i], results[i], arms[i]);
    file.check();
  }
  if (!as_json) {
    say_instant(*view, results, arms, ready);
    return Exit::Ok;
  }
  nlohmann::json told = results_json(results, arms);
  told.update({{"format", "normscope instant 1"},
               {"steps", view->budget},
               {"threads", view->threads},
               {"link", link::fragment_of_runs(session_of(*view), true)},
               {"milliseconds", {ready.one, ready.three, ready.five}}});
  say("{}\n", told.dump(1));
  return Exit::Ok;
}

void add_instant(CLI::App& app, Command& command) {
  struct InstantOptions : MainOptions {
    bool json = false;
    std::string log;
  };
  auto [sub, options] = add_command<InstantOptions>(
      app, command, "instant",
      "Small runs, trained whole as the window does at every change: what became of them, and when",
      [](const InstantOptions& asked) { return run_instant(asked, asked.json, asked.log); });
  add_main_runs(sub, options);
  for (const char* fixed : {"--steps", "--seeds"}) sub.remove_option(sub.get_option(fixed));  // of small runs
  add_threads(sub, options.threads);
  sub.add_flag("--json", options.json,
               "one JSON object instead of the table: the runs, and the arms over five seeds");
  add_value(sub, "--log", options.log, "FILE",
            "every step as one JSON object a line (docs/log-format.md); of seeds 2 to 5 the losses alone");
}

}  // namespace normscope::commands
