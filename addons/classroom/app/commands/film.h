// Writes the frames of a film: through ffmpeg into an MP4 or a GIF, or as numbered PNGs.
#pragma once

#include <memory>

#include "app/headless/raster.h"

namespace normscope::commands {

enum class FilmKind : uint8_t { Mp4, Gif, Frames };

struct FilmForm {
  std::string path;  ///< the value of --out
  FilmKind kind = FilmKind::Frames;
  int width = 1600, height = 1000;  ///< pixels of every frame
  int fps = 25;
  int64_t frames = 1;
};

/// Throws CommandError(usage) for a name that ends in none of .mp4, .gif and .png, and
/// CommandError(internal) where ffmpeg is needed and not on PATH.
FilmKind film_kind(const std::string& path);
/// The file of a frame, counted from 1, of a film of PNGs: x.png becomes x-0001.png; a single frame is x.png itself.
std::string frame_path(const FilmForm& form, int64_t frame);

/// The message after an interrupt of a film of PNGs.
inline constexpr const char* kFramesInterrupted =
    "interrupted; the frames that were drawn are there, each whole";

class FilmWriter {
 public:
  virtual ~FilmWriter() = default;
  /// Returns false after an interrupt. Throws Error.
  virtual bool add(const headless::Image& frame) = 0;
  /// Finishes the film; only then does an MP4 or a GIF exist under its name, complete. Returns false after an
  /// interrupt. Throws Error.
  virtual bool close() = 0;
};
/// Throws Error.
std::unique_ptr<FilmWriter> make_film_writer(const FilmForm& form);

}  // namespace normscope::commands
