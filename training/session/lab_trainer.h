// The work of the Lab's thread: the runs, their lockstep and the commands. It needs no lock, because Lab::Impl calls it
// from one thread. Internal to training/session.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/run/run_record.h"
#include "training/session/command.h"
#include "training/session/lab.h"
#include "training/session/luck.h"
#include "training/session/session_file.h"
#include "training/session/undo.h"
#include "training/spec/backend_choice.h"
#include "training/trainer/trainer.h"

namespace normscope {

inline constexpr size_t kMaxRuns = 4;  ///< A to D

/// What the Lab shows of a run in addition to the run's own state, and keeps with it.
struct LabCard : SessionRun {
  std::string text;                              ///< of the model, as shown
  int32_t text_step = -1;                        ///< the step at which `text` is complete and current
  std::shared_ptr<std::vector<Sample>> samples;  ///< its texts so far, thinned with age
  double seconds_per_step = 0;                   ///< smoothed; 0: no step was taken here
  bool from_start = false;                       ///< its history covers the whole run
};

/// A run that is not shown, as it was left.
struct KeptRun : LabCard {
  session::ShownRun shown;
  std::shared_ptr<const RunRecord> record;
  std::shared_ptr<const Task> task;
};

/// A run of the Lab, and everything that the Lab shows of it.
struct LabEntry : LabCard {
  std::unique_ptr<Run> run;
  std::unique_ptr<Scoring> scoring;  ///< the scoring under way
  // `published` and the next members are copies for the views; they are renewed when the run's revision changes.
  std::shared_ptr<const RunSpec> published, published_origin;
  std::shared_ptr<const DataIdentity> published_data;
  std::string published_name;
  uint64_t published_revision = 0;
  std::string key;  ///< of the run from scratch, at `key_revision`: its other seeds are known under it
  uint64_t key_revision = 0;
  std::shared_ptr<const RunSpread> spread;  ///< of the runs with other seeds that had ended at `spread_at`
  std::optional<uint64_t> spread_at;        ///< Wisher::ended(); nothing: not looked since `key` changed
  std::shared_ptr<const BatchMeasurement> batch;  ///< the last one requested, of a whole batch
  std::shared_ptr<const Ablation> ablation;       ///< the last requested
  std::shared_ptr<const InquiryResult> inquiry;   ///< likewise, as far as it is measured
  std::unique_ptr<Inquiry> looking;               ///< measures the rest of `inquiry`
  uint64_t file_stamp = 0;                        ///< of the autosave's file, see stamp_of(); 0 = none
  bool again = false;                             ///< it is trained again, up to where it was
  std::shared_ptr<const RunSpec> wanted;  ///< instant: the specification that it will get; null: it has it

  bool broken() const { return run->state() == RunState::NonFinite; }
  const RunSpec& spec() const { return wanted ? *wanted : run->spec(); }
};

/// The runs that are shown, and their progress.
struct LabSession {
  uint64_t lineage = 0;                         ///< as in session::Session
  std::vector<std::unique_ptr<LabEntry>> runs;  ///< A to C
  std::unique_ptr<LabEntry> fork;               ///< D, or null
  bool playing = false;
  bool instant = false;                       ///< see session::ReplaceRuns::instant
  int32_t step = 0, budget = 300;             ///< budget: of the run that ends last, see LabTrainer::end_of
  int32_t portion = 300;                      ///< the requested budget: steps that playing on at its end adds
  std::shared_ptr<const std::string> window;  ///< the text of Lab::keep()

  std::vector<LabEntry*> entries() const;
  LabEntry* find(char letter) const;  ///< null without one
};

class LabTrainer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LabTrainer(LabOptions options);
  /// Opens the device that the options ask for, which takes a while. Without one, LabView::backend_note says why.
  void open_device();
  ~LabTrainer();

  /// Throws Error and then leaves everything as it was.
  void carry_out(const session::Command& command, session::Ticket ticket = 0, const session::Hand& hand = {});
  void refuse(session::Ticket ticket, const Message& why);
  void pause();

  bool has_work() const;
  /// Whether its next work changes nothing of the session: it copies a step, or measures for an inquiry.
  bool only_looks() const { return replays() || looking(); }
  /// The time until which a speed limit holds the next step back.
  Clock::time_point next_step_at() const { return next_step_; }
  /// Does one portion of the first work that waits: a run that the trainer finished, a copied step, an inquiry, a score,
  /// a step of a run that catches up, a step of all runs, a line of text, steps with other seeds on a device. Throws
  /// Error.
  void work();
  /// Recovers from a DeviceError: all runs continue on the CPU from their newest snapshots. False if they were there.
  bool fall_back(const Message& why);

  /// The present session. It refers to files of the last image where nothing changed, unless `whole`.
  SessionImage image(int64_t generation, bool whole);
  bool empty() const { return now_.runs.empty(); }
  void keep(std::string window) { now_.window = std::make_shared<const std::string>(std::move(window)); }

  LabView view() const;
  bool note_too_large();           ///< sets, once, the message that the runs are not autosaved; true if set
  size_t weight_bytes() const;     ///< of all runs shown, with their moments
  size_t kept_bytes() const;       ///< of the runs that are kept for undo
  Message message;                 ///< of the last command, empty when it went well
  session::Ticket answered = 0;    ///< the last command that was carried out or refused
  std::function<bool()> called{};  ///< whether a command waits
  std::function<void()> wake{};    ///< called on another thread when a run of the trainer has ended
  bool waits() const { return wisher_.busy(); }              ///< for runs of the trainer
  bool arrived() const { return wisher_.ended() != seen_; }  ///< whether one of them is not shown yet
  bool checks_seeds() const { return !asked_.empty(); }      ///< the view's counters of their steps move

 private:
  // Carries out one kind of command. Throws Error and then leaves everything as it was.
  void serve(const session::Play&) { play_to(std::numeric_limits<int32_t>::max()); }
  void serve(const session::PlayTo& asked) { play_to(asked.step); }
  void serve(const session::Pause&) { pause(); }
  void serve(const session::StepOnce&);
  void serve(const session::Reset& asked);
  void serve(const session::SetBudget& asked) { set_budget(asked.steps); }
  void serve(const session::SetBackend& asked);
  void serve(const session::SetSpeed& asked);
  void serve(const session::EditField& asked);
  void serve(const session::ForkRequest& asked) { fork(asked); }
  void serve(const session::ForkFrom& asked);
  void serve(const session::LoadText& asked);
  void serve(const session::CheckSeeds& asked);
  void serve(const session::MeasureBatch&);
  void serve(const session::Ablate& asked);
  void serve(const session::Inquire& asked);
  void serve(const session::PlayStep& asked, session::Ticket ticket);
  void serve(const session::Suppose& asked);
  void serve(const session::ReplaceRuns& asked) { asked.known ? open(asked) : start(asked); }
  void serve(const session::SaveSession& asked);
  void serve(const session::RestoreSession& asked);
  void serve(const session::Undo&, session::Ticket ticket) { step_back(true, ticket); }
  void serve(const session::Redo&, session::Ticket ticket) { step_back(false, ticket); }
  void serve(const session::ForgetChanges&);
  void start(session::ReplaceRuns command);
  void open(session::ReplaceRuns command);
  void play_to(int32_t step);
  void set_budget(int32_t steps);
  void fork(session::ForkRequest request);
  LabEntry* looking() const;  ///< the entry whose inquiry has the fewest parts done; nullptr: none has one
  void look_some(LabEntry& seen);
  // Of instant runs, see lab_edits.cpp.
  void want(LabEntry& entry, RunSpec spec);
  void want_edited(const std::vector<LabEntry*>& entries, const std::string& key, const std::string& value);
  void note_passed(const LabEntry& entry, const std::string& key);
  void want_anew(const std::vector<RunSpec>& ahead = {});
  std::vector<Trainer::Request> instant_runs(const std::vector<RunSpec>& ahead);
  void take_whole();
  void take_whole(LabEntry& entry);
  LabEntry entry_of(const RunRecord& record, const Trainer::Request& wanted) const;
  Trainer::Request whole_of(RunSpec spec, bool measured = true);
  void require_played(const LabEntry& played);
  bool replays() const { return replayed_ >= 0; }
  void replay_some();
  bool replay(Clock::time_point until);
  void hand_out(LabEntry& played, const Run& at);
  void begin_lineage();
  void come_back(bool by_undo);

  // Of undo, see lab_undo.cpp.
  session::ShownRun shown_run(LabEntry& entry);
  session::Session shown_session();
  void note_change(session::Session before, const session::Hand& hand);
  void step_back(bool undo, session::Ticket ticket);
  std::string become(const session::Session& to);
  using Kept = std::vector<std::shared_ptr<const KeptRun>>;
  /// A kept run, as an answer to a run that is to be shown.
  struct Found {
    std::shared_ptr<const KeptRun> kept;
    std::shared_ptr<const RunRecord>
        state;  ///< of `kept`: its own, or an earlier one; null: `kept` is that very run
  };
  /// What changes where another session is shown.
  struct Exchange {
    Kept leave;                   ///< the runs that it does not have
    std::vector<LabEntry*> stay;  ///< by its runs: the card that has the run; null where it is
    std::vector<Found> found;     ///< somewhere else
  };
  Exchange exchange_for(const session::Session& to);
  std::shared_ptr<const KeptRun> as_left(LabEntry& entry);
  void keep(std::shared_ptr<const KeptRun> run);
  void keep_copy(LabEntry& entry);
  bool drop_kept();
  Found nearest(const session::ShownRun& run, int32_t step, const Kept& leave);
  std::unique_ptr<LabEntry> brought_back(const session::ShownRun& run, const Found& found, bool instant);
  std::unique_ptr<LabEntry> from_step_0(const session::ShownRun& run, bool instant);
  bool is_an_edit_away(LabEntry& entry, const session::ShownRun& run);
  bool stays(LabEntry& entry, const session::Session& to);
  void show_as(LabEntry& entry, const session::ShownRun& run);
  void end_again(LabEntry& entry) const;
  void train_on(const session::Session& to);

  void keep_answer(session::Answer answer);

  LabEntry& entry(int32_t index) const;
  std::shared_ptr<const Task> task_for(const DataSpec& data) { return task_in(tasks_, data, kMaxRuns); }
  std::unique_ptr<LabEntry> make_entry(RunSpec spec, char letter, int32_t budget);
  int64_t memory() const;
  int64_t held_bytes() const;
  bool has_room(int64_t bytes) const { return memory() == 0 || held_bytes() + bytes <= memory(); }
  void make_room(const std::vector<RunSpec>& more);
  void show(std::vector<std::unique_ptr<LabEntry>> all);
  void begin_round();
  session::ShownRun begun_anew(const LabEntry& card, RunSpec spec);
  void restart(const std::vector<RunSpec>& specs, bool watched);
  void change_budget(int32_t steps);
  int32_t portion_after(int32_t step) const;
  void bring_budget();
  void settle_budget();
  void start_playing();
  std::unique_ptr<LabEntry> load_entry(const std::string& folder, const SessionRun& saved);
  void require_bytes_for(const std::string& folder, const SavedSession& session);
  static uint64_t stamp_of(const Run& run);
  static const std::shared_ptr<const RunSpec>& published_spec(LabEntry& entry);
  std::vector<RunSpec> specs() const;
  void edit_live(int32_t run, const std::string& key, const std::string& value);
  void edit_structure(int32_t run, const std::string& key, const std::string& value);
  void fork_at(session::ForkRequest request);
  std::unique_ptr<Run> run_at(int32_t run, int32_t step);
  std::unique_ptr<LabEntry> entry_at(int32_t run, int32_t step, const std::optional<RunSpec>& spec);
  void adopt_fork(std::unique_ptr<LabEntry> made, int32_t source, bool train);
  bool release_holds();

  bool lags(const LabEntry& entry) const;
  LabEntry* lagging() const;
  static int32_t end_of(const LabEntry& entry) { return entry.run->spec().train.steps; }
  bool all_broken() const;
  bool wants_step() const;
  LabEntry* without_text() const;
  LabEntry* unscored() const;
  void score(LabEntry& entry);
  double step_entry(LabEntry& entry);
  void keep_finished(const LabEntry& entry);
  Wish::Numbers numbers() const;  ///< of every run that is not instant
  void step_all();
  void write_live(double trained_seconds);
  void finish_round(const std::vector<LabEntry*>& writers);
  RunView view_of(LabEntry& entry) const;

  /// Runs that CheckSeeds asked for.
  struct SeedCheck {
    std::string key;  ///< card_key() of the run whose other seeds they are
    std::vector<Wish> wishes;
  };
  static const std::string& card_key(LabEntry& entry);
  SeedCheck seed_check(LabEntry& entry) const;
  bool is_done(const Wish& wish) const;
  std::vector<Trainer::Request> other_seeds();
  void settle_seed_checks();
  std::shared_ptr<const RunSpread> spread_of_card(LabEntry& entry) const;
  void train_beside(double trained_seconds);
  void share_cores();

  void do_work();
  std::unique_ptr<Backend> make_device(BackendChoice choice) const;

  LabOptions options_;
  const int threads_;                      ///< threads of the CPU backend, as views say it
  std::unique_ptr<Backend> cpu_, device_;  ///< they outlive the runs
  Backend* backend_ = nullptr;             ///< cpu_ or device_, whichever the runs are on
  BackendChoice choice_;
  Message backend_note_;
  MadeTasks tasks_;
  /// Numbers of the data with this hash, kept because a large vocabulary makes them too slow for every view.
  struct DataNumbers {
    uint64_t hash = 0;
    double unigram_entropy = 0;
    theory::Agreement agreement;
  };
  mutable std::optional<DataNumbers> data_;
  bool noted_too_large_ = false;
  LabSession now_;
  Kept kept_;              ///< for undo, the newest last
  uint64_t lineages_ = 0;  ///< sessions so far
  session::UndoLog log_;
  LabView::StepBack step_back_;
  bool began_anew_ = false;  ///< whether the command that is carried out restarts all runs

  uint64_t made_ = 0;   ///< runs made so far, see RunCard::take
  int32_t target_ = 0;  ///< steps are taken while now_.step < min(target_, now_.budget)
  double limit_ = 0;    ///< steps a second, 0 = none
  Clock::time_point next_step_{};
  double seconds_per_step_ = 0, tokens_per_second_ = 0;

  std::shared_ptr<Trainer> trainer_;
  Wisher wisher_;      ///< for instant runs, suppositions and other seeds
  uint64_t seen_ = 0;  ///< Wisher::ended() when its runs were last taken
  std::vector<LabView::Supposition> supposed_;
  /// A value that an edit has left, and the wish for its run, which the trainer may still finish.
  struct PassedValue {
    LabView::PassedRun seen;
    Wish wish;
  };
  std::vector<PassedValue> passed_;
  std::string passed_key_;  ///< the setting
  uint64_t passed_so_far_ = 0;
  std::vector<SeedCheck> asked_;  ///< until the runs are there
  double beside_credit_ = 0;      ///< seconds that the trainer may still take while the live runs train

  session::Answers answers_;            ///< the newest thousand
  std::shared_ptr<PlayedStep> played_;  ///< the last one requested
  session::Ticket step_ticket_ = 0;     ///< ticket of the newest PlayStep
  uint64_t generation_ = 0;             ///< PlayedStep::generation
  int32_t replayed_ = -1;               ///< index of a broken run that is trained again for its copy, or -1
  std::unique_ptr<Run> earlier_;        ///< the copy of that run, trained up to the step before it broke
  std::string earlier_key_;             ///< identifies the run that `earlier_` copies

  uint64_t restored_ = 0;  ///< sessions that came back, see LabView
  bool by_undo_ = false;
  std::shared_ptr<const std::string> window_;  ///< the newest one's text of Lab::keep()

  double text_credit_ = 0;     ///< seconds that writing may still take
  size_t writing_ = 0;         ///< the entry whose line is being written in this round
  Clock::time_point round_{};  ///< no new round of lines begins earlier
};

}  // namespace normscope
