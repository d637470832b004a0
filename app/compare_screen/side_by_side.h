// Which runs stand side by side: the session's own, each under its letter, and recorded ones, E to H, in the places
// that are left or that somebody gave them. Files are read on threads of their own and followed while they grow.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compare/live.h"
#include "training/records/followed_file.h"

namespace normscope::compare_screen {

/// A run of a file at its place.
struct KeptFile {
  std::string path;  ///< empty: none is open
  size_t run = 0;
  char letter = 0;  ///< E to H; 0: not said
  bool operator==(const KeptFile&) const = default;
};

class SideBySide {
 public:
  /// `wake`: rung when a file has news, from its thread; empty: files are read by update().
  explicit SideBySide(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// What stands in a place, 0 to 3.
  struct Place {
    size_t number = 0;
    char letter = 'A';                    ///< of the live run that belongs here, or of the recorded one
    bool live = false, recorded = false;  ///< neither: nobody
    std::string path{};                   ///< of a recorded run
    std::string fault{};                  ///< why its file cannot be read, one line
    bool reading = false;                 ///< nothing is known of it yet
  };

  /// Opens a log or a saved run: into `place` (0 to 3), else into the first that is free. False where none is: then
  /// nothing was opened, and somebody has to say who makes room. Further runs of the file take further free places.
  bool open(const std::string& path, const LabView& view, std::optional<size_t> place = {});
  /// Nobody stands there any more; a recorded run makes room for the live one.
  void leave_out(size_t place);
  /// The live run of this letter stands there again.
  void bring_back(size_t place);
  /// A run of a file, under `letter`; 0: under the one that the place has, or the first that is free.
  void put(size_t place, const std::string& path, size_t run, char letter = 0);

  /// Once a frame: what the files have gained.
  void update(const LabView& view);
  std::array<Place, compare::kMost> places(const LabView& view) const;
  /// Those that can be compared, in the order of their places. `clock` as for LiveRuns::take.
  std::vector<compare::Compared> runs(const LabView& view, bool clock = true);
  /// Changes whenever runs() would.
  std::string key(const LabView& view) const;

  struct Choice {
    std::string path, name;
    size_t run = 0;
  };
  /// Every run of every open file.
  std::vector<Choice> choices() const;
  /// By place, to be opened again.
  std::vector<KeptFile> kept() const;

 private:
  struct File {
    std::unique_ptr<records::FollowedFile> source;
    std::shared_ptr<const records::FollowedNow> now;
    std::vector<compare::Compared> runs;
    bool handed_out = false;  ///< its further runs have taken their places
  };
  struct Slot {
    std::shared_ptr<File> file;
    size_t run = 0;
    bool hidden = false;  ///< the live run is left out
    char letter = 0;      ///< of the file's run
  };
  void fill(size_t place, const std::shared_ptr<File>& file, size_t run, char letter = 0);
  bool is_free(const LabView& view, size_t place) const;
  std::shared_ptr<File> file_of(const std::string& path);
  void hand_out(const std::shared_ptr<File>& file, const LabView& view);

  std::function<void()> wake_;
  std::vector<std::shared_ptr<File>> files_;
  std::array<Slot, compare::kMost> slots_;
  compare::LiveRuns live_;
};

}  // namespace normscope::compare_screen
