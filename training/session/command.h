// What the trainer of a Lab can be asked for, as values: a control, a key, the palette, a script and a lesson
// make them, Lab::post takes them, LabTrainer::carry_out does them, in the order of posting. Each says for
// messages what it was doing when it failed. A run is named by its index in LabView::runs; a step n is the
// state after n steps, 0 that before the first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "training/spec/backend_choice.h"
#include "training/spec/spec.h"

namespace normscope::session {

/// Names a command that was posted: each is larger than those before it, and 0 names none.
using Ticket = uint64_t;

/// At the end of the budget: for LabView::portion more steps. So do PlayTo and StepOnce.
struct Play {
  static const char* doing() { return "playing"; }
};
struct PlayTo {
  int32_t step = 0;  ///< plays and pauses exactly there
  static const char* doing() { return "playing"; }
};
struct Pause {
  static const char* doing() { return "pausing"; }
};
struct StepOnce {
  static const char* doing() { return "taking a step"; }
};
/// All runs from step 0 with the specifications that they have now: what was edited stays, as part of them.
/// Those of before are stashed.
struct Reset {
  bool new_seed = false;
  static const char* doing() { return "starting again"; }
};
/// Undo of a reset with the same seed, and redo: the runs of before (after) it as they were left.
struct ExchangeReset {
  bool back = true;
  static const char* doing() { return "exchanging the runs of a reset"; }
};
struct SetBudget {
  int32_t steps = 300;  ///< of all runs; also how many more of them play brings at its end
  static const char* doing() { return "setting the budget"; }
};
struct SetSpeed {
  double steps_per_second = 0;  ///< 0 = as fast as possible
  static const char* doing() { return "setting the speed"; }
};
/// All runs move there with their weights, or stay where they are with a message.
struct SetBackend {
  BackendChoice choice{};
  static const char* doing() { return "moving the runs"; }
};
/// A live field acts on the next step. A structural one restarts that run, which then catches up with the
/// others at full speed (they wait); data.* and run.seed belong to all runs and restart all.
struct EditField {
  int32_t run = -1;  ///< -1 = all
  std::string key, value;
  static const char* doing() { return "editing a run"; }
};
/// All runs restart on a text of one's own, read anew; a bad file leaves all as it is.
struct LoadText {
  std::string path;
  static const char* doing() { return "loading the text"; }
};
/// Gives one run a whole specification, as undo does. Where only live fields differ they are edited; a run
/// that was restarted from this specification before comes back as it was left and catches up; otherwise it
/// restarts.
struct SetSpec {
  int32_t run = 0;
  std::shared_ptr<const RunSpec> spec;
  static const char* doing() { return "changing a run"; }
};
/// Makes or replaces D: a run with another specification that shares its past with the source.
struct ForkRequest {
  int32_t source = 0;       ///< the run
  RunSpec spec;             ///< the changed specification
  bool from_start = false;  ///< Shift: from step 0, catching up; otherwise from the present weights and step
  std::string note;         ///< "12 norms moved"
  int32_t step = -1;        ///< as the source stood after this step; -1: after its newest
  /// D trains at once, whether the Lab was at rest or not, and brings steps of its own: the budget ends no
  /// sooner than LabView::portion steps after the fork, for all runs. Until the fork is removed.
  bool train = false;
  static const char* doing() { return "forking"; }
};
/// D is `run` as it stood after `step` (0 to its newest), with `spec` from the next step on when one is
/// given. At rest it stays at that step, to be looked at, until play; while playing it catches up with the
/// others at once.
struct ForkFrom {
  int32_t run = 0, step = 0;
  std::optional<RunSpec> spec{};
  static const char* doing() { return "forking"; }
};
/// Undo of a fork: the previous D, or none.
struct RemoveFork {
  static const char* doing() { return "removing run D"; }
};
/// Redo; a fork that was stashed catches up.
struct RestoreFork {
  static const char* doing() { return "bringing run D back"; }
};
/// "Is it luck?": every card again, edits included, with the four seeds after its own and to the end of the
/// budget, in the background; RunView::spread grows seed by seed. What a card shares with an earlier check is
/// not trained again, and what no card shows any more is left.
struct CheckSeeds {
  bool on = true;  ///< false: stop; what is complete stays
  static const char* doing() { return "reruns with other seeds"; }
};
/// The live measurements over the whole batch of the present step, of every transformer: RunView::batch.
struct MeasureBatch {
  static const char* doing() { return "measuring the batch"; }
};
/// The loss of a run (nats) with each of its layers and sub-layers left out, and with all of `left_out`
/// ("L03", "L03.attn") left out together: RunView::ablation. Changes no bit of the run.
struct Ablate {
  int32_t run = 0;
  std::vector<std::string> left_out{};
  static const char* doing() { return "leaving sub-layers out"; }
};
/// The step that a run would take next, on a copy of it that can be played one instruction at a time: LabView::played.
/// Of a run that is not finite the step at which that came. Changes no bit of the run.
struct PlayStep {
  int32_t run = 0;
  static const char* doing() { return "copying a step"; }
};
/// Other runs in the place of all that there are.
struct ReplaceRuns {
  std::vector<RunSpec> runs;               ///< 1 to 4
  std::vector<std::vector<Edit>> edits{};  ///< a list a run or none: each takes effect when its step comes
  bool play = true;
  /// A run that the store of finished runs has is not trained again: it stands at the end of its budget at
  /// once, and the others catch up with it. With none of them there it plays from step 0.
  bool known = false;
  std::string stash{};    ///< a folder that the session is saved in before; empty: it is gone
  std::string letters{};  ///< one a run, ascending from A, at most to D; empty: without a gap
  const char* doing() const { return known ? "opening the runs" : "starting the runs"; }
};
/// Takes back what the commands from `first` to `last` changed, or makes it again: for a hand that is faster than
/// the trainer, which alone knows what each of them found. What was refused changed nothing.
struct TakeBack {
  Ticket first = 0, last = 0;
  bool again = false;
  const char* doing() const { return again ? "making a change again" : "taking a change back"; }
};
/// The whole session as it stands, each run with weights, optimizer state and history: a folder that
/// RestoreSession reads. Forks and runs that were stashed and what Lab::keep() was given go along. What was
/// there before stays readable until the new state is complete. Carried out at the end of the Lab too.
struct SaveSession {
  std::string folder;
  static const char* doing() { return "saving the session"; }
};
/// Goes on from a saved session, bit for bit; a folder that cannot be read leaves all as it is.
struct RestoreSession {
  std::string folder;
  bool play = false;
  static const char* doing() { return "restoring the session"; }
};
/// The session goes to one folder, another comes from the other.
struct SwapSession {
  std::string save, restore;
  bool play = false;
  static const char* doing() { return "changing the session"; }
};

using AnyCommand = std::variant<Play, PlayTo, Pause, StepOnce, Reset, ExchangeReset, SetBudget, SetSpeed,
                                SetBackend, EditField, LoadText, SetSpec, ForkRequest, ForkFrom, RemoveFork,
                                RestoreFork, CheckSeeds, MeasureBatch, Ablate, PlayStep, ReplaceRuns,
                                TakeBack, SaveSession, RestoreSession, SwapSession>;
/// One of them. Its copies are made in command.cpp: made wherever a list of commands grows, they took a compiler seconds.
struct Command : AnyCommand {
  using AnyCommand::AnyCommand;
  Command(const Command&);
  Command(Command&&) noexcept;
  Command& operator=(const Command&);
  Command& operator=(Command&&) noexcept;
  ~Command();
};

/// The commands that take a change back, and those that make it again.
struct Change {
  std::vector<Command> undo, redo;
};
/// What is known of a command that was refused, or that changed what can be taken back.
struct Answer {
  Ticket ticket = 0;
  std::string refused{};  ///< why it changed nothing; empty: it was carried out
  Change change{};
};
/// In the order of their tickets.
using Answers = std::vector<std::shared_ptr<const Answer>>;

/// Whether its Answer may have a Change.
bool can_be_taken_back(const Command& command);
/// Why a command was refused; empty: it was not, or it has not been answered.
std::string refusal(const Answers& answers, Ticket ticket);
/// Adds the changes of the commands from `first` to `last` to those before them. Where a setting was changed more
/// than once, it goes back to what the first found, and again to what the last made of it.
void add_changes(Change& sum, const Answers& answers, Ticket first, Ticket last);

}  // namespace normscope::session
