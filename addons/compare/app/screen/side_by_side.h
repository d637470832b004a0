// Which runs stand side by side: the session's own under their letters, and recorded ones in the places that are free or
// that somebody gave them: E to H first, where the session has runs of its own. Files are read on threads of their own
// and followed while they grow.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "addons/recorded/training/log_reader.h"
#include "app/panels/metrics.h"
#include "app/view/app_screen.h"

namespace normscope::compare_screen {

/// A run of a file at its place.
struct KeptFile {
  std::string path;  ///< empty: none is open
  size_t run = 0;
  char letter = 0;  ///< E to H; 0: not said
  bool operator==(const KeptFile&) const = default;
};

/// What a session and a link keep of the Compare screen.
struct KeptChoice {
  char baseline = 'B';
  int align = 0, matrix = 0;
  panels::Metric metric = panels::Metric::Gradient;
  double factor = 4;
  std::vector<KeptFile> files{};  ///< by place
  bool operator==(const KeptChoice&) const = default;
};

ScreenSettings settings_of(const KeptChoice& choice);
/// Throws Error.
KeptChoice choice_from(const ScreenSettings& settings);
/// Throws Error for settings that no link has: of files, too.
void check_link(const ScreenSettings& settings);

class SideBySide {
 public:
  /// Called from a file's thread when the file has news; empty: update() reads the files.
  explicit SideBySide(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Says what stands in a place, 0 to 7.
  struct Place {
    size_t number = 0;
    char letter = 'A';                    ///< of the live run that belongs here, or of the recorded one
    bool live = false, recorded = false;  ///< neither: the place is empty
    std::string name{};                   ///< of the run
    std::string path{};                   ///< of a recorded run
    std::string fault{};                  ///< why its file cannot be read, one line
    bool reading = false;                 ///< its file has not been looked at yet
  };

  /// Opens a log or a saved run in `place` (0 to 7), else in the first free place. It returns false and opens
  /// nothing where there is none: then somebody has to say who makes room. Further runs of the file take further free
  /// places.
  bool open(const std::string& path, const LabView& view, std::optional<size_t> place = {});
  /// Clears a place; a recorded run makes room for the live one.
  void leave_out(size_t place);
  /// Puts the live run of this place there again.
  void bring_back(size_t place);
  /// Puts a run of a file in a place, under `letter`; 0: under the place's letter, or the first that is free.
  void put(size_t place, const std::string& path, size_t run, char letter = 0);

  /// Takes in what the files have gained, once per frame.
  void update(const LabView& view);
  std::array<Place, compare::kMost> places(const LabView& view) const;
  /// The runs that can be compared, in the order of their places. `clock` is as for LiveRuns::take.
  std::vector<records::Recording> runs(const LabView& view, bool clock = true);
  /// Changes whenever runs() would.
  std::string key(const LabView& view) const;

  struct Choice {
    std::string path, name;
    size_t run = 0;
  };
  /// Lists every run of every open file.
  std::vector<Choice> choices() const;
  /// Lists the files by place, to be opened again.
  std::vector<KeptFile> kept() const;

 private:
  struct File {
    std::unique_ptr<records::FollowedFile> source;
    std::shared_ptr<const records::FollowedNow> now;
    std::vector<records::Recording> runs;
    bool handed_out = false;  ///< its further runs have their places
  };
  struct Slot {
    std::shared_ptr<File> file;
    size_t run = 0;
    bool hidden = false;  ///< the live run is left out
    char letter = 0;      ///< of the file's run
  };
  void fill(size_t place, const std::shared_ptr<File>& file, size_t run, char letter = 0);
  /// The next for a recorded run; kMost: there is none.
  size_t free_place(const LabView& view) const;
  std::shared_ptr<File> file_of(const std::string& path);
  void hand_out(const std::shared_ptr<File>& file, const LabView& view);

  std::function<void()> wake_;
  std::vector<std::shared_ptr<File>> files_;
  std::array<Slot, compare::kMost> slots_;
  compare::LiveRuns live_;
};

}  // namespace normscope::compare_screen
