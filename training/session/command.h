// Commands are the requests to the trainer of a Lab, as values. A control, a key, the palette, a script and a lesson
// make them, Lab::post takes them, and LabTrainer::carry_out carries them out in the order of posting. `doing` names
// the command's work in the message of a failure. LabView::runs numbers the runs. Step n is the state after n steps,
// step 0 the state before the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/core/error.h"
#include "training/spec/backend_choice.h"
#include "training/spec/spec.h"

namespace normscope {

class Run;

// An `Inquiry` measures something of a run during its training, part by part, so that quick parts are shown first and a
// newer inquiry need not wait for slow ones. session::Inquire begins an inquiry; the Lab continues it between two
// steps.

/// The result of an inquiry so far. Only the code that made the inquiry knows its type.
struct InquiryResult {
  virtual ~InquiryResult() = default;
};

/// It changes no bit of its run, and the run must not change while it lasts.
class Inquiry {
 public:
  virtual ~Inquiry() = default;
  virtual bool next() = 0;  ///< measures one part; false where there is none left
  virtual size_t done() const = 0;
  virtual size_t parts() const = 0;
  /// True after a part that completes a result.
  virtual bool worth_showing() const = 0;
  /// Whether the remaining parts can still be measured: the run has not moved on.
  virtual bool holds() const = 0;
  virtual std::shared_ptr<const InquiryResult> result() const = 0;
};
}  // namespace normscope

namespace normscope::session {

/// Names a command that was posted: each is larger than all earlier ones, and 0 names none.
using Ticket = uint64_t;

/// Trains until the budget ends. At its end it first adds LabView::portion steps to it, as PlayTo and StepOnce do.
struct Play {
  static const char* doing() { return "playing"; }
};
struct PlayTo {
  int32_t step = 0;  ///< plays and pauses exactly at this step
  static const char* doing() { return "playing"; }
};
struct Pause {
  static const char* doing() { return "pausing"; }
};
struct StepOnce {
  static const char* doing() { return "taking a step"; }
};
/// Starts all runs from step 0 with their present specifications, into which edits are merged. The former
/// runs are kept for undo.
struct Reset {
  bool new_seed = false;
  static const char* doing() { return "starting again"; }
};
struct SetBudget {
  int32_t steps = 300;  ///< of all runs; playing on at the end adds as many
  static const char* doing() { return "setting the budget"; }
};
struct SetSpeed {
  double steps_per_second = 0;  ///< 0 = as fast as possible
  static const char* doing() { return "setting the speed"; }
};
/// Moves all runs with their weights; where that fails, they stay where they are and a message says why.
struct SetBackend {
  BackendChoice choice{};
  static const char* doing() { return "moving the runs"; }
};
/// Changes a field. A live field acts on the next step. A structural field restarts that run, which then catches up at
/// full speed while the others wait. So does an edit that comes too late to change a later step, as a warm-up after its
/// end. data.* and run.seed belong to all runs and restart them all.
struct EditField {
  int32_t run = -1;  ///< -1 = all
  std::string key, value;
  static const char* doing() { return "editing a run"; }
};
/// Restarts all runs on the user's own text, read anew; a bad file changes nothing.
struct LoadText {
  std::string path;
  static const char* doing() { return "loading the text"; }
};
/// Makes or replaces D: a run with another specification that shares its past with the source.
struct ForkRequest {
  int32_t source = 0;       ///< the run
  RunSpec spec;             ///< the changed specification
  bool from_start = false;  ///< Shift: from step 0, catching up; otherwise from the present weights and step
  std::string note;         ///< "12 norms moved"
  int32_t step = -1;        ///< the source's step that D forks at; -1: its newest
  /// Lets D train at once, even if the Lab was at rest, for steps of its own: D ends no sooner than LabView::portion
  /// steps after the fork, and the others keep their end.
  bool train = false;
  static const char* doing() { return "forking"; }
};
/// Makes D from `run` as it stood after `step` (0 to its newest), with `spec`, if given, from the next
/// step on. At rest D stays at that step, so that it can be studied, until play; while playing it catches up at once.
struct ForkFrom {
  int32_t run = 0, step = 0;
  std::optional<RunSpec> spec{};
  static const char* doing() { return "forking"; }
};
/// Answers "Is it luck?": in the background it trains every card again, edits included, with the four
/// seeds after its own, to the end of the budget. RunView::spread grows seed by seed. Reruns that an earlier check
/// made are not repeated, and reruns that no card needs any more are dropped.
struct CheckSeeds {
  bool on = true;  ///< false: stop; complete reruns stay
  static const char* doing() { return "reruns with other seeds"; }
};
/// Takes the live measurements of every transformer over the present step's whole batch: RunView::batch.
struct MeasureBatch {
  static const char* doing() { return "measuring the batch"; }
};
/// Measures the loss of a run (nats) with each of its layers and sub-layers left out, and with all of
/// `left_out` ("L03", "L03.attn") left out together: RunView::ablation. It changes no bit of the run.
struct Ablate {
  int32_t run = 0;
  std::vector<std::string> left_out{};
  static const char* doing() { return "leaving sub-layers out"; }
};
/// Begins an inquiry into a run during its training: RunView::inquiry. An earlier step is trained again from the
/// nearest keyframe, on a copy. It changes no bit of the run.
struct Inquire {
  int32_t run = 0;
  int32_t step = -1;   ///< as the run stood after it; -1: as it stands
  int32_t copies = 0;  ///< of the run's network, which the inquiry itself makes
  /// `then` owns `run` where it is a copy at an earlier step, else null. Throws Error.
  std::function<std::unique_ptr<Inquiry>(Run& run, std::unique_ptr<Run> then)> begin;
  static const char* doing() { return "looking inside"; }
};
/// Copies the step that a run would take next, so that the copy can be played one instruction at a time:
/// LabView::played. Of a run that is not finite it copies the step that made it so. It changes no bit of the run.
struct PlayStep {
  int32_t run = 0;
  static const char* doing() { return "copying a step"; }
};
/// Trains whole runs in addition to the Lab's instant runs, in this order: LabView::supposed. A single one is measured
/// as the Lab's runs are; several have only their losses. Runs `ahead` are trained when no other run is missing, so
/// that the store has them when they are wanted; a change of a run cancels them.
struct Suppose {
  std::vector<RunSpec> specs, ahead{};
  bool operator==(const Suppose&) const = default;
  static const char* doing() { return "training what would be"; }
};
/// Replaces all present runs by others; undo brings the former session back.
struct ReplaceRuns {
  std::vector<RunSpec> runs;               ///< 1 to 4
  std::vector<std::vector<Edit>> edits{};  ///< a list for each run, or none; each edit takes effect at its
                                           ///< step
  bool play = true;
  /// Trains no finished run again: such a run stands at the end of its budget at once, and the others catch up
  /// with it. Without any such run, all play from step 0.
  bool known = false;
  std::string letters{};  ///< one for each run, of A to D, ascending; empty: without a gap
  /// The runs are whole at every moment: each change trains them anew from step 0 to the end of their budget, several
  /// at a time, and LabView::runs shows the former runs until then. Nothing plays.
  bool instant = false;
  const char* doing() const { return known ? "opening the runs" : "starting the runs"; }
};
/// Saves the whole session, each run with weights, optimizer state and history, in a folder that
/// RestoreSession reads. The text of Lab::keep() goes along. The former contents stay readable until the new
/// state is complete. It is carried out even when the Lab ends.
struct SaveSession {
  std::string folder;
  static const char* doing() { return "saving the session"; }
};
/// Replaces the present session by a saved one, which goes on bit for bit; an unreadable folder changes nothing.
struct RestoreSession {
  std::string folder;
  bool play = false;
  static const char* doing() { return "restoring the session"; }
};
/// Takes the newest change back: what it changed is again as it was before, and training goes on (session/undo.h).
/// Without a change it does nothing. Runs that were replaced come back as they were left, or are trained again.
struct Undo {
  static const char* doing() { return "taking a change back"; }
};
/// Makes the change again that was taken back last.
struct Redo {
  static const char* doing() { return "making a change again"; }
};
/// Forgets all changes: what is shown now cannot be taken back any more.
struct ForgetChanges {
  static const char* doing() { return "forgetting the changes"; }
};

using AnyCommand =
    std::variant<Play, PlayTo, Pause, StepOnce, Reset, SetBudget, SetSpeed, SetBackend, EditField, LoadText,
                 ForkRequest, ForkFrom, CheckSeeds, MeasureBatch, Ablate, Inquire, PlayStep, Suppose,
                 ReplaceRuns, SaveSession, RestoreSession, Undo, Redo, ForgetChanges>;
/// Any one of these. lab_commands.cpp defines its copies: defined in every file that grows a list of
/// commands, they cost seconds of compiling.
struct Command : AnyCommand {
  using AnyCommand::AnyCommand;
  Command(const Command&);
  Command(Command&&) noexcept;
  Command& operator=(const Command&);
  Command& operator=(Command&&) noexcept;
  ~Command();
};

/// What the hand does that gives a command.
struct Hand {
  uint64_t gesture = 0;  ///< changes of one gesture are taken back together; 0: of none
  char selected_before = 'A',
       selected_after = 'A';  ///< the run in the diagram, which undo and redo bring back
};

/// Reports a command that was refused.
struct Answer {
  Ticket ticket = 0;
  Message refused{};  ///< why it changed nothing
};
/// In the order of their tickets.
using Answers = std::vector<std::shared_ptr<const Answer>>;

/// Whether the command puts another session in the place of the present one.
bool replaces_runs(const Command& command);
/// Whether Undo may take the command back.
bool can_be_taken_back(const Command& command);
/// Why a command was refused; empty where it was not, or has no answer yet.
Message refusal(const Answers& answers, Ticket ticket);
}  // namespace normscope::session
