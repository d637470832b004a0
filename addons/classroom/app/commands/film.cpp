// Makes a film of a session: the cursor goes from its first step to its last, and the screen shows the runs as they
// were at each.
#include "addons/classroom/app/commands/film.h"

#include <tuple>

#include "addons/classroom/app/commands/fed_program.h"
#include "app/commands/commands.h"
#include "app/commands/lesson.h"
#include "app/commands/picture.h"
#include "training/files/command_text.h"

namespace normscope::commands {

using namespace cli;
namespace {

constexpr int32_t kOwn = -1;  ///< of --from and --to: the session's

struct FilmOptions {
  std::string session, screen = "lab", theme = "light", size = "1600x1000", out, language;
  double scale = 1, seconds = 20;
  int32_t fps = 25, from = kOwn, to = kOwn, threads = 0;
};

struct Steps {
  int32_t first = 0, last = 0;
};

/// The steps of a session that --from and --to choose; `newest` is its last.
Steps steps_of(const FilmOptions& options, int32_t newest) {
  const Steps steps{options.from == kOwn ? 0 : options.from, options.to == kOwn ? newest : options.to};
  if (steps.last > newest || steps.first > steps.last)
    throw CommandError(Exit::Usage,
                       fmt::format("--from {} --to {}: expected steps in order, from 0 to {}, the last of {}",
                                   steps.first, steps.last, newest, options.session));
  return steps;
}

/// Opens a folder that a window kept, with its runs as they were.
Steps restore(Lab& lab, const FilmOptions& options) {
  lab.post(session::RestoreSession{options.session, false});
  {
    const EndsAtOnce at_once("interrupted: no film was written");  // weights of any size are read
    lab.wait_idle();
  }
  const std::shared_ptr<const LabView> view = lab.view();
  if (view->restored == 0)
    throw CommandError(Exit::Input, fmt::format("film {}: {}", options.session, view->message));
  if (view->step == 0)
    throw CommandError(Exit::Input,
                       fmt::format("film {}: its runs are at step 0: expected a session with steps to show",
                                   options.session));
  return steps_of(options, view->step);
}

/// Spaces frames as far apart as can be, from the first step to the last; a single frame is the last.
int32_t step_of(int64_t frame, int64_t frames, const Steps& steps) {
  if (frames == 1) return steps.last;
  const double way = static_cast<double>(frame) / static_cast<double>(frames - 1);
  return steps.first + static_cast<int32_t>(std::lround(way * (steps.last - steps.first)));
}

/// Plays on to a step; returns false after an interrupt.
bool play_to(Lab& lab, int32_t step, Progress& progress) {
  if (step <= lab.view()->step) return true;
  lab.post(session::PlayTo{step});
  if (!watch(lab, progress)) return false;
  progress.update(lab.view()->step, "");
  return true;
}

/// Trains the runs to the end of their budget, as Ctrl+S saves them. They pause at every step that a frame shows, so
/// that the text that each model wrote there is recorded. Returns nothing after an interrupt.
std::optional<Steps> train(Lab& lab, const std::vector<ConfigRun>& runs, const FilmOptions& options,
                           int64_t frames) {
  begin(lab, runs);
  const int32_t budget = lab.view()->budget;
  const Steps steps = steps_of(options, budget);
  Progress progress("training", budget);
  bool complete = true;
  for (int64_t frame = 0; complete && frame < frames; ++frame)
    complete = play_to(lab, step_of(frame, frames, steps), progress);
  if (!complete || !play_to(lab, budget, progress)) return std::nullopt;
  progress.finish();
  const std::shared_ptr<const LabView> view = lab.view();
  if (view->step == 0) throw Error("film {}: {}", options.session, view->message);
  if (view->step < budget) complain(Message("film {}: {}", options.session, view->message));
  return Steps{std::min(steps.first, view->step), std::min(steps.last, view->step)};
}

/// The screen as a picture. An interrupt while it is drawn ends the program at once where frames are
/// files, because only whole files are left; a film that goes through ffmpeg is removed first.
headless::Image drawn(OffscreenSession& offscreen, const FilmForm& form) {
  std::optional<EndsAtOnce> at_once;
  if (form.kind == FilmKind::Frames) at_once.emplace(kFramesInterrupted);
  return offscreen.picture();
}

/// Writes every frame; returns false after an interrupt.
bool draw_frames(Lab& lab, const PictureOptions& picture, const Steps& steps, const FilmForm& form) {
  OffscreenSession offscreen(lab, picture);
  offscreen.state.screens.shown = picture.screen;
  offscreen.driver.frames(kSettle);  // a restored session brings its own cursor: not after this
  const std::unique_ptr<FilmWriter> writer = make_film_writer(form);
  Progress progress("drawing", form.frames);
  headless::Image image;
  bool complete = true;
  for (int64_t frame = 0; complete && frame < form.frames; ++frame) {
    const int32_t step = step_of(frame, form.frames, steps);
    if (frame == 0 || step != step_of(frame - 1, form.frames, steps)) {
      lab::pin_cursor(offscreen.state.screens.lab.transport(), *lab.view(), step);
      offscreen.driver.frames(kSettle + 1);
      image = drawn(offscreen, form);
    }
    complete = !InterruptGuard::interrupted() && writer->add(image);
    progress.update(frame + 1, fmt::format("step {}", step));
  }
  progress.finish();
  return complete && writer->close();
}

Exit interrupted(const FilmForm& form) {
  complain(form.kind == FilmKind::Frames ? kFramesInterrupted : "interrupted: no film was written");
  return Exit::Interrupted;
}

/// The runs of a configuration; none for a folder that a window kept.
std::vector<ConfigRun> runs_in(const std::string& session) {
  const FileLook look = look_at(session);
  if (look.kind == FileKind::Session) return {};
  if (look.kind == FileKind::Config) return runs_of(session);
  throw CommandError(
      Exit::Input,
      fmt::format("film {}: {} Expected the folder of a kept session, or runs that Ctrl+S saved (.toml)",
                  session, look.words));
}

Exit film(const FilmOptions& options) {
  PictureOptions picture{.dark = options.theme == "dark", .scale = options.scale};
  picture.screen = screen_named(options.screen).value_or(Screen::Lab);
  check_language(options.language);
  picture.language = options.language;
  with_exit(Exit::Usage, [&] { parse_size(options.size, picture.width, picture.height); });
  FilmForm form{options.out,   film_kind(options.out),
                picture.width, picture.height,
                options.fps,   std::llround(options.seconds * options.fps)};
  form.frames = std::max<int64_t>(1, form.frames);
  const std::vector<ConfigRun> runs = runs_in(options.session);
  std::vector<NamedFile> inputs{{"SESSION", options.session}};
  if (!runs.empty()) {
    task_of(runs[0].spec);  // data that cannot be used are refused before anything is built
    const std::vector<NamedFile> files = files_of(runs[0].spec);
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  const std::string first = form.kind == FilmKind::Frames ? frame_path(form, 1) : form.path;
  refuse_clashes({{"--out", first}}, inputs);
  for (int64_t i = 2; form.kind == FilmKind::Frames && i <= form.frames; ++i)
    refuse_clashes({{"--out", frame_path(form, i)}}, inputs);
  with_exit(Exit::Internal, [&] {
    make_folder(std::filesystem::path(first).parent_path().string(), Access::Shared, "--out");
  });
  check_outputs({{"--out", first}}, inputs);

  const InterruptGuard guard;
  Lab lab({.threads = options.threads, .live_text = false});
  const std::optional<Steps> steps =
      runs.empty() ? restore(lab, options) : train(lab, runs, options, form.frames);
  if (!steps || !draw_frames(lab, picture, *steps, form)) return interrupted(form);
  return Exit::Ok;
}

constexpr const char* kEncoder = "ffmpeg";

/// Raw frames on standard input, and no words but errors.
std::vector<std::string> encoder_words(const FilmForm& form) {
  std::vector<std::string> words{kEncoder,
                                 "-hide_banner",
                                 "-loglevel",
                                 "error",
                                 "-y",
                                 "-f",
                                 "rawvideo",
                                 "-pixel_format",
                                 "rgba",
                                 "-video_size",
                                 fmt::format("{}x{}", form.width, form.height),
                                 "-framerate",
                                 std::to_string(form.fps),
                                 "-i",
                                 "pipe:0"};
  // MP4's usual colours have a pixel for every two by two, so sides are even. A GIF has a palette for each frame: one
  // for all would need all frames in memory first.
  const std::vector<std::string> mp4{
      "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"};
  const std::vector<std::string> gif{
      "-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=none", "-f",
      "gif"};
  const std::vector<std::string>& rest = form.kind == FilmKind::Mp4 ? mp4 : gif;
  words.insert(words.end(), rest.begin(), rest.end());
  words.emplace_back(FedProgram::kMade);
  return words;
}

class EncodedFilm : public FilmWriter {
 public:
  explicit EncodedFilm(const FilmForm& form)
      : path_(form.path), file_(form.path, "film"), program_(encoder_words(form)) {}

  bool add(const headless::Image& frame) override {
    if (program_.feed(frame.pixels.data(), frame.pixels.size() * sizeof(uint32_t))) return true;
    if (InterruptGuard::interrupted()) return false;
    program_.finish();
    throw Error("{} took no more frames and did not say why", kEncoder);
  }

  bool close() override {
    const auto finished = [&] {
      try {
        program_.finish();
      } catch (const Error&) {  // Ctrl+C goes to both
        if (!InterruptGuard::interrupted()) throw;
      }
      return !InterruptGuard::interrupted();
    };
    if (!finished()) return false;
    program_.copy_to(file_);
    file_.commit();
    say("wrote {}\n", path_);
    return true;
  }

 private:
  std::string path_;
  AtomicFile file_;
  FedProgram program_;
};

class NumberedPictures : public FilmWriter {
 public:
  explicit NumberedPictures(const FilmForm& form) : form_(form) {}

  bool add(const headless::Image& frame) override {
    const std::vector<uint8_t> png = [&] {
      const EndsAtOnce at_once(kFramesInterrupted);
      return headless::encode_png(frame);
    }();
    headless::write_png(frame_path(form_, ++written_), png);
    return !InterruptGuard::interrupted();
  }

  bool close() override {
    if (form_.frames == 1)
      say("wrote {}\n", form_.path);
    else
      say("wrote {} to {}\n", frame_path(form_, 1), frame_path(form_, written_));
    return true;
  }

 private:
  FilmForm form_;
  int64_t written_ = 0;
};

}  // namespace

void add_film(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "film", "A session as a film: the cursor goes through its steps", film);
  add_value(sub, "session", options.session, "FILE",
            "the folder of a kept session, or runs saved with Ctrl+S, which are trained first")
      ->required();
  add_value(sub, "--out", options.out, "FILE",
            "the film: .mp4 or .gif through ffmpeg; .png: numbered frames, NAME-0001.png and so on")
      ->required();
  add_value(sub, "--screen", options.screen, "NAME", "which screen", CLI::IsMember(pictured_screens()));
  add_value(sub, "--seconds", options.seconds, "S", "how long the film is", CLI::Range(0.01, 3600.0));
  add_value(sub, "--fps", options.fps, "N", "frames a second", whole(1, 120));
  for (const auto& [name, value, help, standard] :
       {std::tuple{"--from", &options.from, "the first step that is shown", "0"},
        std::tuple{"--to", &options.to, "the last one", "the session's last"}})
    add_value(sub, name, *value, "STEP", help, whole(0, 10'000'000), standard);
  add_look(sub, options.theme, options.scale);
  add_value(sub, "--size", options.size, "WxH", "pixels, as 1600x1000");
  add_language(sub, options.language);
  add_threads(sub, options.threads);
}

FilmKind film_kind(const std::string& path) {
  const std::string ending = small_letters(std::filesystem::path(path).extension().string());
  if (ending == ".png") return FilmKind::Frames;
  if (ending != ".mp4" && ending != ".gif")
    throw CommandError(Exit::Usage,
                       fmt::format("--out {}: expected a name that ends in .mp4, .gif or .png", path));
  if (path_to(kEncoder).empty())
    throw CommandError(
        Exit::Internal,
        fmt::format(
            "--out {}: needs {}, which is not on PATH: install the package {}, or name a file that ends "
            "in .png, which writes the frames",
            path, kEncoder, kEncoder));
  return ending == ".mp4" ? FilmKind::Mp4 : FilmKind::Gif;
}

std::string frame_path(const FilmForm& form, int64_t frame) {
  if (form.frames == 1) return form.path;
  const std::filesystem::path path(form.path);
  const size_t digits = std::max<size_t>(4, std::to_string(form.frames).size());
  return fmt::format("{}-{:0{}}{}", (path.parent_path() / path.stem()).string(), frame, digits,
                     path.extension().string());
}

std::unique_ptr<FilmWriter> make_film_writer(const FilmForm& form) {
  if (form.kind == FilmKind::Frames) return std::make_unique<NumberedPictures>(form);
  return std::make_unique<EncodedFilm>(form);
}

}  // namespace normscope::commands
