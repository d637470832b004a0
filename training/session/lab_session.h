// A snapshot of a Lab session in memory, and how it is saved as a folder: one checkpoint a run, one file a
// keyframe, and session.json, which names them. Internal to training/session: LabTrainer makes images, Autosaver
// (on a thread of its own) and the command "save" write them.
//
// The files of a new state get new names; session.json is replaced when they are complete, and only then the
// old ones go: whenever the program ends, by kill -9 too, session.json names a complete state. What has not
// changed since the state before is not written again. Only files go that the session before named, or that this
// writer wrote: whatever else lies in the folder is somebody else's.
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

/// What a session keeps of a run beside the run itself. Another one of these is named here and by io() in
/// lab_session.cpp.
struct KeptEntry {
  char letter = 'A';
  int32_t forked_from = -1, fork_step = 0;
  std::string fork_note;
  std::string score;          ///< see RunView::score
  bool unscored = false;      ///< a command came in between: the score of the present step is still to do
  int32_t hold = -1;          ///< a step at which it waits for play before it catches up; -1 = none
  int32_t budget_before = 0;  ///< of a fork that raised the budget; 0 = it did not
  bool operator==(const KeptEntry&) const = default;
};

/// The same of the session itself.
struct KeptSession {
  int32_t step = 0, budget = 0;
  int32_t portion = 0;  ///< as LabTrainer's; in files of before, the budget
  int64_t generation = 0;
  std::string sidecar;  ///< what the app keeps with it
};

/// What session.json says, checked; the gate of a restore.
struct SavedSession : KeptSession {
  struct Entry : KeptEntry {
    std::string place = "run";  ///< or where it was stashed: "undo", "redo", "parked"
    bool empty = false;         ///< an undo or redo that leads to no D at all
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

/// `name` stands for the file. Throws Error.
SavedSession parse_session(std::string_view json, const std::string& name);

class SessionWriter {
 public:
  explicit SessionWriter(std::string folder) : folder_(std::move(folder)) {}
  /// Throws Error; the state before is then still whole.
  void write(const SessionImage& image);

 private:
  std::string folder_;
  bool looked_ = false;            ///< into the folder, for what is there
  std::set<std::string> written_;  ///< names of files of the session there, and of attempts that failed
  /// Keyframes that have a file here, named by the session that was written last.
  std::map<std::weak_ptr<const Keyframe>, std::string, std::owner_less<>> keyframes_;
};

/// The generation of the state in a folder; 0 when there is none that can be read.
int64_t session_generation(const std::string& folder);

/// Writes images one after the other on its own thread, so that neither the trainer nor a window waits for a disk.
class Autosaver {
 public:
  explicit Autosaver(std::string folder);
  ~Autosaver();  ///< after the image that it was given last
  bool busy() const;
  void give(SessionImage image);  ///< only while it is not busy
  /// What went wrong with the last image, once; empty when it went well.
  std::string take_error();

 private:
  void loop();

  SessionWriter writer_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<SessionImage> image_;  ///< given and not written yet
  bool ending_ = false;
  std::string error_;
  std::jthread thread_;
};

}  // namespace normscope
