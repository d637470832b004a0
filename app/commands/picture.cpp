#include "app/commands/picture.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cli/options.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/lesson-player/player.h"
#include "app/shell/screens.h"
#include "engine/core/real_text.h"
#include "training/io/input_kinds.h"
#include "training/session/session_file.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

constexpr int kLargest = 16384;    // pixels a side
constexpr float kFarAway = -1000;  // where the mouse rests when nothing is under it

/// A line of a script: its first word, and what follows without blanks around it.
struct ScriptWords {
  std::string_view verb;
  std::string argument;
};
ScriptWords words_of(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  const std::string_view verb = line.substr(0, line.find(' '));
  std::string argument(line.substr(std::min(line.size(), verb.size())));
  argument.erase(0, argument.find_first_not_of(' '));
  return {verb, std::move(argument)};
}

/// The pictures of `--out lab.png` called `name`, "-held": lab-held.png, or one in each theme, light first.
std::vector<std::string> picture_paths(const std::string& out, const std::string& name, bool both) {
  const std::filesystem::path path(out);
  const std::string stem = (path.parent_path() / path.stem()).string() + name,
                    extension = path.extension().string();
  if (!both) return {stem + extension};
  return {stem + "-light" + extension, stem + "-dark" + extension};
}

/// All pictures that a command writes, each with what asks for it.
std::vector<NamedFile> pictures_of(const PictureOptions& options, const std::string& out) {
  std::vector<NamedFile> files;
  const auto add = [&](const std::string& asked, const std::string& name) {
    for (std::string& path : picture_paths(out, name, options.both))
      files.push_back({asked, std::move(path)});
  };
  std::istringstream script{options.script};
  for (std::string line; std::getline(script, line);) {
    const std::string_view whole = line;
    const auto [verb, argument] = words_of(whole.starts_with("hurry ") ? whole.substr(6) : whole);
    if (verb == "shoot" && !argument.empty()) add("shoot " + argument, "-" + argument);
  }
  if (files.empty()) add("--out", "");
  return files;
}

/// Plays a script on a session and takes pictures.
class Stage {
 public:
  Stage(Lab& lab, const PictureOptions& options, std::string path)
      : lab_(lab), options_(options), path_(std::move(path)) {
    begin();
  }

  /// Plays one line, and waits until its effects are over, unless the line begins with "hurry".
  void play(std::string_view script) {
    // Empty lines in place of those played, so that errors count from the file's first line.
    std::string before;
    while (!script.empty()) {
      const size_t end = script.find('\n');
      std::string_view line = script.substr(0, end);
      script.remove_prefix(end == script.npos ? script.size() : end + 1);
      ++line_;
      const bool hurry = line.starts_with("hurry ");
      if (hurry) line.remove_prefix(6);
      if (!play_line(line)) offscreen_->driver.script(before + std::string(line));
      before += '\n';
      if (!hurry) rest();
    }
  }

  void finish() {
    if (!shot_) shoot("");
  }

 private:
  void begin() {
    offscreen_.reset();  // one ImGui context at a time
    offscreen_.emplace(lab_, options_);
    open(options_.screen, options_.what);
    if (options_.link) show(*options_.link);
    rest();
  }

  void show(const link::LinkedView& link) {
    shell::AppState& state = offscreen_->state;
    with_exit(Exit::Usage,
              [&] { shell::show_linked(link, lab_.view()->answered, state.screens, state.look); });
  }

  /// Carries out a line that is no user's gesture, such as "wait" or "shoot"; false: the line is another.
  bool play_line(std::string_view line) {
    const auto [verb, argument] = words_of(line);
    shell::AppState& state = offscreen_->state;
    if (verb == "wait")
      train_on(argument);
    else if (verb == "shoot")
      argument.empty() ? bad(line, "shoot NAME, as shoot held") : shoot("-" + argument);
    else if (verb == "size")
      resize(argument);
    else if (verb == "scale")
      state.look.scale = number(line, argument, 0.75f, 2.5f);
    else if (verb == "fresh")
      begin();
    else if (verb == "file")
      shell::begin_opening(state.files, state.session, argument, false, state.notice);
    else if (verb == "lesson")
      open_lesson(argument);
    else if (verb == "offer")
      offer(line, argument);
    else if (const std::optional<Screen> screen = screen_named(verb); screen && kind_of(*screen))
      open(*screen, argument);
    else
      return false;
    return true;
  }

  [[noreturn]] void bad(std::string_view line, std::string_view expected) const {
    throw Error("script line {}: '{}': expected {}", line_, line, expected);
  }

  float number(std::string_view line, const std::string& text, float low, float high) const {
    float value = 0;
    const auto [stop, error] = read_real(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || !(value >= low && value <= high))
      bad(line, fmt::format("a number from {} to {}", low, high));
    return value;
  }

  void resize(const std::string& size) {
    int width = 0, height = 0;
    try {
      parse_size(size, width, height);
    } catch (const Error& error) {
      throw Error("script line {}: {}", line_, error.message);
    }
    offscreen_->loop.resize({static_cast<float>(width), static_cast<float>(height)});
    offscreen_->driver.move_to(ui::Vec{kFarAway, kFarAway});
  }

  /// Shows an offer that a window makes by itself, from files on the disk.
  void offer(std::string_view line, const std::string& what) {
    shell::Offers& offers = offscreen_->state.shell.offers;
    if (what == "restore")
      offers.restore = true;
    else if (what == "lesson")
      offers.lesson = true;
    else if (what == "welcome")
      offers.welcome = offscreen_->state.screens.lab.few() = true;  // as a first start is
    else
      bad(line, "offer restore, offer lesson or offer welcome");
  }

  /// Takes "warm-up:compare".
  void open_lesson(const std::string& name) {
    shell::Screens& screens = offscreen_->state.screens;
    with_exit(Exit::Usage, [&] { shell::open_lesson(screens, name); });
  }

  /// Takes a first state of the screen, as "depth" of the sweep.
  void open(Screen screen, const std::string& what) {
    if (screen == Screen::Lessons) return open_lesson(what);
    shell::Screens& screens = offscreen_->state.screens;
    screens.shown = screen;
    if (kind_of(screen)) with_exit(Exit::Usage, [&] { shell::screen_of(screens, screen).begin(what); });
  }

  /// Waits until the screen is quiet: it asks in one frame and has its answer in the next.
  void rest() {
    lab_.wait_idle();
    const shell::Screens& screens = offscreen_->state.screens;
    if (const AppScreen* const other = shell::made_screen(screens, screens.shown))
      for (int quiet = 0; quiet < 3;) {
        offscreen_->driver.frames(1);
        lab_.wait_idle();
        quiet = other->busy() ? 0 : quiet + 1;
        if (other->busy()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    const auto& player = screens.lessons.player;
    while (player && player->measuring()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    offscreen_->driver.frames(kSettle);
  }

  void train_on(const std::string& argument) {
    int32_t step = 0;
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data(), end, step);
    if (error != std::errc{} || stop != end || step < 0 || step > kMaxSteps)
      bad("wait " + argument, fmt::format("wait STEP from 0 to {}, as wait 240", kMaxSteps));
    lab_.post(session::PlayTo{step});
    lab_.wait_idle();
  }

  void shoot(const std::string& name) {
    shot_ = true;
    const std::vector<std::string> paths = picture_paths(path_, name, options_.both);
    if (!options_.both) return write(paths[0]);
    bool& dark = offscreen_->state.look.dark;
    const bool before = dark;
    for (const bool now : {false, true}) {
      dark = now;
      offscreen_->driver.frames(1);
      write(paths[now ? 1 : 0]);
    }
    dark = before;
  }

  void write(const std::string& path) {
    offscreen_->driver.frames(1);
    const std::vector<uint8_t> png = headless::encode_png(offscreen_->picture());
    const InterruptGuard whole;  // where an interrupt ends the program at once, it waits for the file
    with_exit(Exit::Internal, [&] { headless::write_png(path, png); });
    say("wrote {}\n", path);
  }

  Lab& lab_;
  PictureOptions options_;
  std::string path_;
  std::optional<OffscreenSession> offscreen_;  // a line "fresh" makes another one
  int line_ = 0;
  bool shot_ = false;
};

std::string note_of(const LabView& view) {
  std::string note;
  for (const RunView& run : view.runs)
    note += fmt::format("{}{} {:.2f}", note.empty() ? "" : "  ", run.letter, run.loss);
  return note;
}

}  // namespace

std::vector<std::string> pictured_screens() {
  std::vector<std::string> names;
  for (const Screen screen : screens_by_key())
    if (screen != Screen::Lessons) names.emplace_back(name_of(screen));
  return names;
}

void parse_size(const std::string& text, int& width, int& height) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, width);
  const bool cross = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = cross ? std::from_chars(first.ptr + 1, end, height) : first;
  const bool whole = cross && second.ec == std::errc{} && second.ptr == end;
  const auto possible = [](int side) { return side >= 64 && side <= kLargest; };
  if (!whole || !possible(width) || !possible(height))
    throw Error("size '{}': expected WxH in pixels from 64 to {}, as 1600x1000", text, kLargest);
}

void begin(Lab& lab, const std::vector<ConfigRun>& runs, bool known) {
  session::ReplaceRuns command = replacing(runs, false);
  command.known = known;
  lab.post(std::move(command));
  {
    const EndsAtOnce at_once("interrupted: nothing was trained");  // networks of any size are built
    lab.wait_idle();
  }
  const std::shared_ptr<const LabView> view = lab.view();
  if (view->runs.empty()) throw CommandError(Exit::Usage, view->message);
}

bool watch(Lab& lab, cli::Progress& progress) {
  bool complete = true;
  for (int32_t step = 1;; ++step) {
    lab.wait_until(step);
    const std::shared_ptr<const LabView> view = lab.view();
    complete = !InterruptGuard::interrupted();
    if (!complete) lab.post(session::Pause{});
    if (!complete || !view->playing) break;
    progress.update(view->step, note_of(*view));
    step = view->step;
  }
  lab.wait_idle();
  progress.finish();
  return complete;
}

void draw_pictures(Lab& lab, const PictureOptions& options, const std::string& path) {
  Stage stage(lab, options, path);
  with_exit(Exit::Usage, [&] {
    try {
      stage.play(options.script);
    } catch (const CommandError&) {
      throw;
    } catch (const Error& error) {
      throw Error("{}: {}", options.script_name, error.message);
    }
  });
  stage.finish();
}

// normscope screenshot draws a screen after some training as PNGs, without display or OpenGL.

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

/// Trains exactly `steps` steps and raises a smaller budget; false when interrupted.
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
  check_outputs(pictures_of(picture, options.out), inputs);
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
  draw_pictures(lab, picture, options.out);
  return Exit::Ok;
}

}  // namespace

void add_screenshot(CLI::App& app, Command& command) {
  const auto options = std::make_shared<ScreenshotOptions>();
  CLI::App& sub = *app.add_subcommand("screenshot", "Draw a screen to a PNG, without display or OpenGL");
  add_value(sub, "--screen", options->screen, "NAME",
            fmt::format("which screen: lesson:NAME:STEP as lesson:warm-up:compare, or {}",
                        fmt::join(pictured_screens(), ", ")));
  add_steps(sub, options->steps, "steps trained before");
  add_look(sub, options->theme, options->scale, true);
  add_value(sub, "--size", options->size, "WxH", "pixels, as 1600x1000");
  add_language(sub, options->language);
  add_seed(sub, options->seed);
  CLI::Option* text = add_value(sub, "--text", options->text, "FILE", "a UTF-8 text of your own to learn");
  add_value(sub, "--config", options->config, "FILE", "the runs of a TOML file instead of the three built in")
      ->excludes(text);
  add_value(sub, "--script", options->script, "FILE", "hand movements to play first (docs/command-line.md)");
  add_value(sub, "--out", options->out, "FILE", "the PNG to write")->required();
  add_threads(sub, options->threads);
  CLI::Option* const link = add_link(sub, options->link);
  for (const char* name : {"--screen", "--steps", "--config", "--seed"}) link->excludes(sub.get_option(name));
  sub.callback([&sub, options, &command] {
    options->look_asked = sub.count("--theme") > 0;
    command = [options] { return screenshot(*options); };
  });
}

}  // namespace normscope::commands
