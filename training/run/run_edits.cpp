// A run's specification changes while it trains: by edits made now and by scheduled edits. The history records them.
// See run.h.
#include <algorithm>

#include "engine/core/error.h"
#include "training/run/run_impl.h"

namespace normscope {
namespace {

// Whether the keys ask for a new network.
bool any_structural(const std::vector<Edit>& edits) {
  return std::any_of(edits.begin(), edits.end(), [](const Edit& e) { return !is_live(e.key); });
}

// Writes "warm-up 200 → 99".
RunEvent event_of(const Edit& edit, const std::string& before) {
  const Field* field = find_field(edit.key);
  const std::string what = field ? std::string(field->label) : edit.key;
  return {edit.step, RunEvent::Kind::Edited, fmt::format("{} {} → {}", what, before, edit.value)};
}

}  // namespace

void require_same_data(const RunSpec& from, const RunSpec& to) {
  DataSpec a = from.data, b = to.data;
  a.context = b.context = 0;
  if (!(a == b)) fail("run", "another data set cannot be learned on from here: expected a run from step 0");
}

void Run::Impl::note_edit(const Edit& edit, const std::string& before) {
  history->add_event(event_of(edit, before));
}

bool Run::Impl::noting(const Edit& edit) const {
  return history && edit.step > silent_until && edits.size() > noted;
}

std::string Run::Impl::value_before(size_t edit) const {
  RunSpec then = origin;
  for (size_t i = 0; i < edit; ++i) set_field(then, edits[i].key, edits[i].value);
  return get_field(then, edits[edit].key);
}

// Joins two changes of a field without a step in between; they vanish when the value is back.
bool Run::Impl::edit_again(const std::string& key, const std::string& value) {
  size_t i = edits.size();
  while (i > 0 && edits[i - 1].step == steps + 1 && edits[i - 1].key != key) --i;
  if (i == 0 || edits[i - 1].step != steps + 1) return false;
  Edit& edit = edits[i - 1];
  const std::string before = value_before(i - 1);
  const bool told = noting(edit);
  if (told) history->take_back(event_of(edit, before));
  set_field(spec, key, value);
  ++revision;
  if (value == before) {
    edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(i - 1));
    noted = std::min(noted, edits.size());
  } else {
    edit.value = value;
    if (told) note_edit(edit, before);
  }
  return true;
}

bool Run::Impl::any_structural_since(size_t edit) const {
  return any_structural({edits.begin() + static_cast<std::ptrdiff_t>(edit), edits.end()});
}

void Run::Impl::apply(const Edit& edit) {
  const std::string before = get_field(spec, edit.key);
  set_field(spec, edit.key, edit.value);
  edits.push_back(edit);
  ++revision;
  if (noting(edit)) note_edit(edit, before);
}

void Run::Impl::apply_due_edits() {
  std::vector<Edit> due;
  while (!scheduled.empty() && scheduled.front().step <= steps + 1) {
    due.push_back(scheduled.front());
    scheduled.erase(scheduled.begin());
  }
  if (due.empty()) return;
  const RunSpec before = spec;
  for (const Edit& edit : due) apply(edit);
  validate(spec);
  if (any_structural(due)) {
    require_same_data(before, spec);
    task->require_batch(spec.train.batch, spec.model.sequence);
    if (!base) {
      base = std::shared_ptr<const Store>(network, &network->store);
      base_spec = before;
    }
    rebuild();
    memory.forget();
    plateau.begin_anew();
  }
  if (any_structural(due) && edits.size() > noted) {
    auto longer = new_history();
    const Series loss = history->loss(), rate = history->rate(), validated = history->validation();
    longer->append_dense(loss.steps, loss.values, rate.values);
    for (size_t i = 0; i < validated.steps.size(); ++i)
      longer->append_validation(validated.steps[i], validated.values[i]);
    for (RunEvent& event : history->events()) longer->add_event(std::move(event));
    history = std::move(longer);
  }
  refresh_level();
}

void Run::edit(const std::string& key, const std::string& value) {
  if (!is_live(key)) fail(key, "is part of the network: expected a fork or a restart to change it");
  RunSpec changed = impl_->spec;
  set_field(changed, key, value);
  validate(changed);
  if (get_field(changed, key) == get_field(impl_->spec, key)) return;
  if (!impl_->edit_again(key, get_field(changed, key)))
    impl_->apply({impl_->steps + 1, key, get_field(changed, key)});
  impl_->refresh_level();
  impl_->settle_critical();
}

void Run::schedule_edits(std::vector<Edit> edits) {
  RunSpec trial = impl_->spec;
  edits = portable_edits(trial, std::move(edits));
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.step < b.step; });
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].step <= impl_->steps)
      fail("edit", "{} lies in the past: expected a step after {}", to_string(edits[i]), impl_->steps);
    set_field(trial, edits[i].key, edits[i].value);
    if (i + 1 < edits.size() && edits[i + 1].step == edits[i].step) continue;  // made together
    validate(trial);
    require_same_data(impl_->spec, trial);
    impl_->task->require_batch(trial.train.batch, trial.model.sequence);
  }
  ++impl_->revision;
  auto& scheduled = impl_->scheduled;
  scheduled.insert(scheduled.end(), edits.begin(), edits.end());
  std::stable_sort(scheduled.begin(), scheduled.end(),
                   [](const Edit& a, const Edit& b) { return a.step < b.step; });
}

}  // namespace normscope
