// How LabTrainer takes changes back and makes them again (undo.h). A run that another one replaces is kept as it was left:
// its weights, its history and its keyframes, but no network. A run that is not kept any more is trained again to the
// same bits, from the nearest state that it has in common with a kept one.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/session/lab_trainer.h"
#include "training/spec/spec.h"

namespace normscope {

session::ShownRun LabTrainer::shown_run(LabEntry& entry) {
  session::ShownRun shown{{entry}, published_spec(entry)};
  shown.end = shown.origin->train.steps;
  if (entry.wanted) {
    shown.data = identity_of(entry.wanted->data, *task_for(entry.wanted->data)).hash;
    return shown;
  }
  shown.origin = entry.published_origin;
  shown.data = entry.published_data->hash;
  shown.edits = entry.run->identity().all_edits();
  shown.goes_on = entry.run->identity().start.has_value();
  return shown;
}

session::Session LabTrainer::shown_session() {
  session::Session now{.lineage = now_.lineage, .runs = {}, .step = now_.step, .portion = now_.portion};
  now.playing = now_.playing;
  now.instant = now_.instant;
  now.window = now_.window;
  for (LabEntry* entry : now_.entries()) now.runs.push_back(shown_run(*entry));
  return now;
}

/// Notes what a command changed.
void LabTrainer::note_change(session::Session before, const session::Hand& hand) {
  session::Session after = shown_session();
  before.selected = hand.selected_before;
  after.selected = hand.selected_after;
  if (!before.runs.empty()) log_.note(std::move(before), std::move(after), began_anew_, hand.gesture);
}

void LabTrainer::step_back(bool undo, session::Ticket ticket) {
  session::Session left = shown_session();
  const std::optional<session::Session> to = log_.next(undo, left);
  if (!to) return;
  if (const std::string lost = become(*to); !lost.empty() && to->step > 0 && !now_.instant)
    message = Message("{} from step 0 again: what had been trained is not kept", lost);
  step_back_ = {ticket, undo, to->lineage != left.lineage, to->selected};
  session::Session now = shown_session();
  now.selected = to->selected;
  log_.stepped(undo, std::move(left), std::move(now));
}

std::shared_ptr<const KeptRun> LabTrainer::as_left(LabEntry& entry) {
  auto kept = std::make_shared<KeptRun>();
  static_cast<LabCard&>(*kept) = entry;
  kept->shown = shown_run(entry);
  kept->record = std::make_shared<const RunRecord>(entry.run->record_to_go_on());
  kept->task = entry.run->shared_task();
  return kept;
}

void LabTrainer::keep(std::shared_ptr<const KeptRun> run) {
  kept_.push_back(std::move(run));
  while (kept_.size() > kMaxRuns && kept_bytes() > options_.kept_bytes) drop_kept();
}

namespace {

std::shared_ptr<const KeptRun> without_keyframes(const KeptRun& run) {
  auto made = std::make_shared<KeptRun>(run);
  auto record = std::make_shared<RunRecord>(*run.record);
  record->frames.clear();
  made->record = std::move(record);
  return made;
}

}  // namespace

/// Keeps a run as it stands before an edit of its next step. Of a hand that changes it once more before that step, the
/// state is kept already.
void LabTrainer::keep_copy(LabEntry& entry) {
  const std::vector<Edit>& edits = entry.run->edits();
  if (entry.run->steps_done() == 0 || (!edits.empty() && edits.back().step > entry.run->steps_done())) return;
  auto kept = without_keyframes(*as_left(entry));  // the run itself still has them
  if (has_room(static_cast<int64_t>(kept->record->bytes()))) keep(std::move(kept));
}

/// Drops what can be missed best: keyframes of the oldest run that has any, else the oldest run. False: nothing is kept.
bool LabTrainer::drop_kept() {
  if (kept_.empty()) return false;
  const auto oldest =
      std::ranges::find_if(kept_, [](const auto& one) { return !one->record->frames.empty(); });
  if (oldest == kept_.end())
    kept_.erase(kept_.begin());
  else
    *oldest = without_keyframes(**oldest);
  return true;
}

void LabTrainer::serve(const session::ForgetChanges&) {
  log_.clear();
  kept_.clear();
}

/// The kept run that is to be shown, or the state from which it takes the fewest steps to it, at `step` or before:
/// nothing if there is none. `leave` are runs that are not shown from now on.
LabTrainer::Found LabTrainer::nearest(const session::ShownRun& run, int32_t step, const Kept& leave) {
  if (run.hold >= 0) step = std::min(step, run.hold);
  std::shared_ptr<const KeptRun> best;
  std::shared_ptr<const Keyframe> newest;
  const auto try_state = [&](const auto& kept, const std::shared_ptr<const Keyframe>& frame) {
    if (frame->step <= (newest ? newest->step : 0) || frame->step > step) return;
    if (!run.shares(kept->shown, frame->step) || !kept->record->keeps_network_of(*frame)) return;
    best = kept;
    newest = frame;
  };
  for (const Kept* runs : {&std::as_const(kept_), &leave})
    for (auto kept = runs->rbegin(); kept != runs->rend(); ++kept) {
      if ((*kept)->shown.is_run(run)) return {*kept, nullptr};
      for (const auto& frame : (*kept)->record->frames) try_state(*kept, frame);
      if (!(*kept)->record->broken) try_state(*kept, (*kept)->record->end);
    }
  return best ? Found{best, best->record->at(newest)} : Found{};
}

/// A run as it was left, or on its way there.
std::unique_ptr<LabEntry> LabTrainer::brought_back(const session::ShownRun& run, const Found& found,
                                                   bool instant) {
  if (!found.kept) return from_step_0(run, instant);
  auto made = std::make_unique<LabEntry>();
  if (!found.state) {
    static_cast<LabCard&>(*made) = *found.kept;
    made->file_stamp = 0;
    made->run = Run::resume(*found.kept->record, found.kept->task, *backend_);
    return made;
  }
  RunRecord state = *found.state;
  state.scheduled.clear();
  made->run = Run::resume(state, found.kept->task, *backend_);
  std::vector<Edit> later = run.edits;
  std::erase_if(later, [&](const Edit& edit) { return edit.step <= state.steps(); });
  made->run->schedule_edits(std::move(later));
  made->run->set_budget(run.end);
  made->from_start = found.kept->from_start;
  made->again = true;
  return made;
}

/// A run that has no state in common with any that is kept. One that goes on from a file has a past that nobody knows.
std::unique_ptr<LabEntry> LabTrainer::from_step_0(const session::ShownRun& run, bool instant) {
  if (run.goes_on) fail("undo", "run {} went on from a file and is not kept any more", run.letter);
  auto made = make_entry(*run.origin, run.letter, run.end);
  if (instant) return made;  // its run is wanted from the trainer
  if (made->run->identity().data.hash != run.data)
    fail("undo", "{} has changed since run {} began: expected the text of then", data_name(run.origin->data),
         run.letter);
  made->run->schedule_edits(run.edits);
  made->again = true;
  return made;
}

/// Whether live edits of the run's next step make it the other run, since it made no step with those that it has.
bool LabTrainer::is_an_edit_away(LabEntry& entry, const session::ShownRun& run) {
  session::ShownRun shown = shown_run(entry);
  const std::vector<Edit> now = std::exchange(shown.edits, run.edits);
  if (!shown.is_run(run)) return false;
  const auto [own, other] = std::ranges::mismatch(now, run.edits);
  const auto is_next = [&](const Edit& edit) {
    return is_live(edit.key) && edit.step == entry.run->steps_done() + 1;
  };
  return std::all_of(own, now.end(), is_next) && std::all_of(other, run.edits.end(), is_next);
}

/// Whether the run under this letter is shown in the session too.
bool LabTrainer::stays(LabEntry& entry, const session::Session& to) {
  const session::ShownRun* run = to.lineage == now_.lineage ? to.find(entry.letter) : nullptr;
  return run && (to.instant || shown_run(entry).is_run(*run) || is_an_edit_away(entry, *run));
}

LabTrainer::Exchange LabTrainer::exchange_for(const session::Session& to) {
  Exchange made;
  for (const session::ShownRun& run : to.runs) {
    LabEntry* shown = now_.find(run.letter);
    made.stay.push_back(shown && stays(*shown, to) ? shown : nullptr);
  }
  for (LabEntry* entry : now_.entries())
    if (std::ranges::find(made.stay, entry) == made.stay.end()) made.leave.push_back(as_left(*entry));
  std::vector<RunSpec> missing;
  for (size_t i = 0; i < to.runs.size(); ++i) {
    made.found.emplace_back();
    if (made.stay[i]) continue;
    made.found.back() = nearest(to.runs[i], to.instant ? 0 : to.step, made.leave);
    missing.push_back(*to.runs[i].origin);
  }
  make_room(missing);
  return made;
}

/// Shows the runs of a session, and keeps those that it does not have as they are left. Returns the letters of the runs
/// that begin at step 0, as nothing of them is kept: "A+B".
std::string LabTrainer::become(const session::Session& to) {
  const auto [leave, stay, found] = exchange_for(to);
  std::string made;
  std::vector<std::unique_ptr<LabEntry>> all(to.runs.size());
  for (size_t i = 0; i < to.runs.size(); ++i) {
    if (stay[i]) continue;
    all[i] = brought_back(to.runs[i], found[i], to.instant);
    if (!found[i].kept) made += (made.empty() ? "" : "+") + std::string(1, to.runs[i].letter);
  }

  std::vector<std::unique_ptr<LabEntry>> shown = std::move(now_.runs);
  if (now_.fork) shown.push_back(std::move(now_.fork));
  for (size_t i = 0; i < all.size(); ++i)
    if (stay[i])
      all[i] = std::move(*std::ranges::find(shown, stay[i], [](const auto& one) { return one.get(); }));
  for (const Found& one : found)
    if (one.kept && !one.state) std::erase(kept_, one.kept);
  const bool others = to.lineage != now_.lineage;
  now_.lineage = to.lineage;
  now_.instant = to.instant;
  for (size_t i = 0; i < all.size(); ++i) show_as(*all[i], to.runs[i]);
  show(std::move(all));
  for (const auto& run : leave) keep(run);
  now_.portion = to.portion;
  now_.step = to.step;
  if (others) {
    now_.window = to.window;
    come_back(true);
  }
  train_on(to);
  return made;
}

/// Goes on as the session says whose runs are shown now.
void LabTrainer::train_on(const session::Session& to) {
  if (now_.instant) {
    pause();
    now_.budget = now_.step = target_ = to.runs.front().end;
    return want_anew();
  }
  settle_budget();
  for (LabEntry* entry : now_.entries()) end_again(*entry);
  if (!to.playing)
    pause();
  else if (!now_.playing && now_.step < now_.budget)
    start_playing();
}

/// A run that is trained again has caught up: an edit after its last step is in force again, as it was.
void LabTrainer::end_again(LabEntry& entry) const {
  if (entry.again && !lags(entry)) entry.run->begin_edits();
  entry.again = entry.again && lags(entry);
}

void LabTrainer::show_as(LabEntry& entry, const session::ShownRun& run) {
  static_cast<RunCard&>(entry) = run;
  if (!now_.instant) {
    RunSpec spec = *run.origin;
    spec.train.steps = end_of(entry);
    for (const Edit& edit : run.edits)
      if (edit.step <= entry.run->steps_done() + 1) set_field(spec, edit.key, edit.value);
    for (const Edit& edit : edits_between(entry.run->spec(), spec, 0))
      if (is_live(edit.key) && !entry.again) entry.run->edit(edit.key, edit.value);
    if (end_of(entry) != run.end) entry.run->set_budget(run.end);
    return;
  }
  RunSpec spec = *run.origin;
  spec.train.steps = run.end;
  if (!(spec == entry.spec()) || entry.run->steps_done() < run.end)
    entry.wanted = std::make_shared<const RunSpec>(std::move(spec));
}

}  // namespace normscope
