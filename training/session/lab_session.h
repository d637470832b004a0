// `SessionImage` is a snapshot of a Lab session in memory. SessionWriter saves it as a folder: one checkpoint for
// each run, one file for each keyframe, and session.json, which names them. Internal to training/session: LabTrainer
// makes images, and Autosaver (on a thread of its own) and the command "save" write them.
//
// The files of a new state get new names. session.json is replaced when they are complete, and only then are the old
// files removed: whenever the program ends, by kill -9 too, session.json names a complete state. Unchanged files are
// not written again. Only files that the former session named, or that this writer wrote, are removed: any other file
// in the folder is somebody else's.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "training/run/keyframes.h"
#include "training/run/run.h"

namespace normscope {

/// What a session keeps of a run beside the run itself. A new member is named here and by io() in
/// lab_session.cpp.
struct KeptEntry {
  char letter = 'A';
  int32_t forked_from = -1, fork_step = 0;
  std::string fork_note;
  std::string score;      ///< see RunView::score
  bool unscored = false;  ///< a command interrupted the scoring, which is still to be done
  int32_t hold = -1;      ///< step at which it waits for play before it catches up; -1: none
  bool operator==(const KeptEntry&) const = default;
};

/// What a session keeps beside its runs.
struct KeptSession {
  int32_t step = 0, budget = 0;
  int32_t portion = 0;  ///< as LabTrainer's; the budget in older files
  int64_t generation = 0;
  std::string sidecar;  ///< what the app keeps with it
};

/// What session.json says, checked; reading it is the gate of a restore.
struct SavedSession : KeptSession {
  struct Entry : KeptEntry {
    std::string place = "run";  ///< or where it was stashed: "undo", "redo", "parked"
    bool empty = false;         ///< an undo or redo that leads to no D
    std::string file;           ///< its name in the folder
    std::vector<std::string> keyframes;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> runs, stash;
};

struct SessionImage : KeptSession {
  struct Entry : SavedSession::Entry {
    std::shared_ptr<const RunImage> image;  ///< nullptr: the file is there already
    std::vector<std::shared_ptr<const Keyframe>> frames;
  };
  std::vector<Entry> entries;
};

/// Reads session.json; `name` stands for the file in messages. Throws Error.
SavedSession parse_session(std::string_view json, const std::string& name);

class SessionWriter {
 public:
  explicit SessionWriter(std::string folder) : folder_(std::move(folder)) {}
  /// Throws Error; the former state is then still whole.
  void write(const SessionImage& image);

 private:
  std::string folder_;
  bool looked_ = false;            ///< whether it has listed the files in the folder
  std::set<std::string> written_;  ///< files of the present session, and of attempts that failed
  /// `keyframes_` are those that have a file here and that the session written last names.
  std::map<std::weak_ptr<const Keyframe>, std::string, std::owner_less<>> keyframes_;
};

/// The generation of the state in a folder; 0 where none can be read.
int64_t session_generation(const std::string& folder);

/// Writes images one after the other on its own thread, so that neither the trainer nor a window waits
/// for a disk.
class Autosaver {
 public:
  explicit Autosaver(std::string folder);
  ~Autosaver();  ///< waits for the image given last
  bool busy() const;
  void give(SessionImage image);  ///< only while it is not busy
  /// `take_error` says, once, what went wrong with the last image; empty: nothing.
  std::string take_error();

 private:
  void loop();

  SessionWriter writer_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<SessionImage> image_;  ///< given, but not written yet
  bool ending_ = false;
  std::string error_;
  std::jthread thread_;
};

}  // namespace normscope
