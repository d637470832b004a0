// What undo knows. A run is a function of what it is, so a change of the Lab is two values: the session before it and
// the session after it. Taking a change back merges values: what the change made goes back to what it was, and what
// came since (training, a longer budget) stays. The trainer then shows the merged session: its runs are those that it
// keeps, as they were left, or they are trained again to the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/spec/spec.h"

namespace normscope {

/// How a run stands among the others.
struct RunCard {
  char letter = 'A';
  int32_t forked_from = -1, fork_step = 0;  ///< the index of the run that it was forked from; -1: none
  std::string fork_note{};                  ///< "12 norms moved"
  int32_t hold = -1;  ///< step at which it waits for play before it catches up; -1: none
  uint64_t take = 0;  ///< tells two trainings of one run apart, as a reset makes them
};

namespace session {

/// A run of the Lab: what it is, and how it is shown.
struct ShownRun : RunCard {
  std::shared_ptr<const RunSpec> origin{};  ///< at step 0; never null. Its budget does not count.
  std::vector<Edit> edits{};                ///< the applied ones, then those whose step has not come
  std::string data{};                       ///< DataIdentity::hash
  bool goes_on = false;                     ///< from a file: origin and edits do not tell its weights
  int32_t end = 0;                          ///< of its budget

  /// Whether both are one training, however far it has come.
  bool is_run(const ShownRun& other) const;
  /// Whether both are in one state after this step, as they differ in later edits alone.
  bool shares(const ShownRun& other, int32_t step) const;
};

/// What the Lab shows. It says nothing of weights and losses, which follow from it.
struct Session {
  uint64_t lineage = 0;        ///< of all runs that came together; other runs in their place have another
  std::vector<ShownRun> runs;  ///< by letter
  int32_t step = 0, portion = 0;
  bool playing = false;
  bool instant = false;                         ///< see ReplaceRuns::instant
  char selected = 'A';                          ///< the run in the diagram
  std::shared_ptr<const std::string> window{};  ///< the text of Lab::keep()

  const ShownRun* find(char letter) const;
};

/// Does to `now` what turns `from` into `to`, wherever `now` is still as `from`.
Session merged(const Session& now, const Session& from, const Session& to);

/// The changes that can be taken back and made again, each a press of a hand or a command.
class UndoLog {
 public:
  /// Adds a change, or joins it to the newest one if both are of one gesture (0: of none). False if it changed nothing.
  /// `replaces`: everything was begun anew, so all of `before` comes back, its step too.
  bool note(Session before, Session after, bool replaces, uint64_t gesture);
  /// What is to be shown next; nothing if there is nothing to take back or to make again. Changes that would do nothing
  /// any more are dropped on the way.
  std::optional<Session> next(bool undo, const Session& now);
  /// To be called when the session of next() is shown: both ends of the change are kept as they were left.
  void stepped(bool undo, Session left, Session now);
  bool can_undo() const { return !done_.empty(); }
  bool can_redo() const { return !undone_.empty(); }
  void clear();

 private:
  struct Entry {
    Session before, after;
    bool replaces = false;
    uint64_t gesture = 0;
  };
  std::vector<Entry> done_, undone_;  ///< the nearest last
};

}  // namespace session
}  // namespace normscope
