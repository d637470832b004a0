// How LabTrainer takes changes back and makes them again (undo.h). Runs that were replaced, and sessions, are kept as
// they were left; a run that is not kept any more is trained again to the same bits.
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
  for (LabEntry* entry : now_.entries()) now.runs.push_back(shown_run(*entry));
  return now;
}

/// Notes what a command changed.
void LabTrainer::note_change(session::Session before, const session::Hand& hand) {
  session::Session after = shown_session();
  before.selected = hand.selected_before;
  after.selected = hand.selected_after;
  if (!before.runs.empty() && !log_.note(std::move(before), std::move(after), began_anew_, hand.gesture))
    return;
  std::erase_if(aside_, [this](const LabSession& one) { return !log_.needs(one.lineage); });
}

void LabTrainer::step_back(bool undo, session::Ticket ticket) {
  session::Session left = shown_session();
  const std::optional<session::Session> to = log_.next(undo, left);
  if (!to) return;
  if (to->lineage != left.lineage)
    exchange_session(to->lineage);
  else if (const std::string lost = become(*to); !lost.empty() && to->step > 0 && !now_.instant)
    message = Message("{} from step 0 again: what had been trained is not kept", lost);
  step_back_ = {ticket, undo, to->lineage != left.lineage, to->selected};
  session::Session now = shown_session();
  now.selected = to->selected;
  log_.stepped(undo, std::move(left), std::move(now));
}

void LabTrainer::exchange_session(uint64_t lineage) {
  const auto other = std::ranges::find(aside_, lineage, &LabSession::lineage);
  if (other == aside_.end()) fail("lab", "the runs of before are not kept any more");
  for (LabEntry* entry : now_.kept()) {
    entry->looking.reset();
    entry->file_stamp = 0;
  }
  std::swap(now_, *other);
  come_back(true);
  if (now_.instant) want_anew();
}

std::unique_ptr<LabEntry> LabTrainer::take_kept(const session::ShownRun& run) {
  auto& parked = now_.parked;
  const auto at = std::find_if(parked.rbegin(), parked.rend(),
                               [&](const auto& entry) { return shown_run(*entry).is_run(run); });
  if (at == parked.rend()) return nullptr;
  std::unique_ptr<LabEntry> found = std::move(*at);
  parked.erase(std::next(at).base());
  return found;
}

/// A run that is not kept any more, to be trained again. One that goes on from a file has a past that nobody knows.
std::unique_ptr<LabEntry> LabTrainer::make_again(const session::ShownRun& run) {
  if (run.goes_on) fail("undo", "run {} went on from a file and is not kept any more", run.letter);
  auto made = make_entry(*run.origin, run.letter, run.end);
  if (now_.instant) return made;  // its run is wanted from the trainer
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

/// Returns, by the runs of the session, those that are not shown yet: as they were left, or from step 0 (`made`).
std::vector<std::unique_ptr<LabEntry>> LabTrainer::missing_runs(const session::Session& to,
                                                                std::string& made) {
  std::vector<std::unique_ptr<LabEntry>> found(to.runs.size());
  std::vector<size_t> lost;
  std::vector<RunSpec> specs;
  for (size_t i = 0; i < to.runs.size(); ++i) {
    LabEntry* shown = now_.find(to.runs[i].letter);
    if (shown &&
        (now_.instant || shown_run(*shown).is_run(to.runs[i]) || is_an_edit_away(*shown, to.runs[i])))
      continue;
    found[i] = take_kept(to.runs[i]);
    if (found[i]) continue;
    lost.push_back(i);
    specs.push_back(*to.runs[i].origin);
  }
  try {
    make_room(specs);
    for (const size_t i : lost) found[i] = make_again(to.runs[i]);
  } catch (...) {
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] && std::ranges::find(lost, i) == lost.end()) now_.parked.push_back(std::move(found[i]));
    throw;
  }
  for (const size_t i : lost) made += (made.empty() ? "" : "+") + std::string(1, to.runs[i].letter);
  return found;
}

/// Shows the runs of a session of this lineage, and parks those that it does not have. Returns the letters of the runs
/// that begin at step 0, as they are not kept: "A+B".
std::string LabTrainer::become(const session::Session& to) {
  std::string made;
  std::vector<std::unique_ptr<LabEntry>> all = missing_runs(to, made);
  std::vector<std::unique_ptr<LabEntry>> shown = std::move(now_.runs);
  if (now_.fork) shown.push_back(std::move(now_.fork));
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i])
      all[i] = std::move(*std::ranges::find_if(
          shown, [&](const auto& entry) { return entry && entry->letter == to.runs[i].letter; }));
  for (auto& entry : shown)
    if (entry) park(std::move(entry));
  for (size_t i = 0; i < all.size(); ++i) show_as(*all[i], to.runs[i]);
  show(std::move(all));
  now_.portion = to.portion;
  now_.step = to.step;
  if (now_.instant) {
    now_.budget = now_.step = target_ = to.runs.front().end;
    want_anew();
    return made;
  }
  settle_budget();
  for (LabEntry* entry : now_.entries()) end_again(*entry);
  if (!to.playing)
    pause();
  else if (!now_.playing && now_.step < now_.budget)
    start_playing();
  return made;
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
