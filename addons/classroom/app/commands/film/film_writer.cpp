#include "addons/classroom/app/commands/film/film_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "addons/classroom/app/commands/film/fed_program.h"
#include "app/cli/exit_code.h"
#include "app/cli/terminal.h"
#include "training/files/command_text.h"
#include "training/io/output_file.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

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
