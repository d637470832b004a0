// A session in a folder: session.toml, and one checkpoint for each run. session.toml is the configuration that Ctrl+S
// writes, so `normscope train --config` replays it, with an additional table: [window] has the names of the
// checkpoints, the progress of the runs, and the app's own state (Lab::keep). Autosaver, on a thread of its own, and
// the command "save" write it.
//
// The files of a new state get new names. session.toml is replaced when they are complete, and only then are the old
// files removed: whenever the program ends, by kill -9 too, session.toml names a complete state. Unchanged files are
// not written again. Only files that the former session named, or that this writer wrote, are removed: any other file
// in the folder stays.
#pragma once

#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "training/files/config_file.h"
#include "training/run/run.h"
#include "training/session/lab.h"
#include "training/session/undo.h"

namespace normscope {

/// The runs that are shown, as they were at step 0, with their edits: `normscope train --config` replays them.
std::vector<ConfigRun> session_of(const LabView& view);
/// The command that replaces the Lab's runs by a configuration's runs, with their edits. Letters that do not begin with
/// A are assigned anew.
session::ReplaceRuns replacing(const std::vector<ConfigRun>& runs, bool play);
/// The same command for instant runs (ReplaceRuns::instant) at the small size (spec/small_size.h); edits become part of
/// their specification. A command that is for instant runs stays as it is. Throws Error for a run without a small size.
session::ReplaceRuns instant(session::ReplaceRuns runs);

/// A run's entry in session.toml. A new member is named here and by io() in session_file.cpp.
struct SessionRun : RunCard {
  std::string file;       ///< the checkpoint's name in the folder
  std::string score;      ///< see RunView::score
  bool unscored = false;  ///< a command interrupted the scoring, which is still to be done
};

/// The table [window], checked; reading it is the gate of a restore.
struct SavedSession {
  int32_t step = 0, budget = 0, portion = 0;
  bool instant = false;
  int64_t generation = 0;
  std::vector<SessionRun> runs;
  std::string window;  ///< the whole table as JSON, with the app's own state
};
/// Reads session.toml; `name` is the file's name in messages. Throws Error.
SavedSession parse_session(std::string_view text, const std::string& name);
SavedSession read_session(const std::string& folder);
/// The generation of the state in a folder; 0 where none can be read.
int64_t session_generation(const std::string& folder);

/// A copy of a session at one moment, to be written by another thread.
struct SessionImage : SavedSession {
  std::vector<ConfigRun> config;
  std::vector<std::shared_ptr<const RunRecord>> records;  ///< by run; null: its file exists already
};

class SessionWriter {
 public:
  explicit SessionWriter(std::string folder) : folder_(std::move(folder)) {}
  /// Throws Error; the former state is then still whole.
  void write(const SessionImage& image);

 private:
  std::string folder_;
  bool looked_ = false;            ///< whether `written_` has the files of the former session
  std::set<std::string> written_;  ///< files of the present session, and of attempts that failed
};

/// Writes images one after the other on another thread, so that neither the trainer nor a window waits for a disk.
class Autosaver {
 public:
  explicit Autosaver(std::string folder) : writer_(std::move(folder)) {}
  bool busy() const;
  void give(SessionImage image);  ///< only while it is not busy; throws Error where there is no thread
  /// Returns the error of the last image, the first time only; empty: none.
  Message take_error();

 private:
  SessionWriter writer_;
  std::future<Message> writing_;  ///< waits for the image given last when it is destroyed
};

}  // namespace normscope
