#include "app/shell/shown_session.h"

#include <algorithm>
#include <utility>

namespace normscope::shell {

using namespace session;

namespace {

constexpr size_t kMostEntries = 500;

// Names the fields that a drag changes, so that its next frame is the same entry.
std::string gesture_of(std::span<const Command> made) {
  std::string gesture;
  for (const Command& command : made) {
    if (const auto* edit = std::get_if<EditField>(&command))
      gesture += edit->key + std::to_string(edit->run) + ' ';
    else if (std::holds_alternative<SetBudget>(command))
      gesture += "budget ";
  }
  return gesture;
}

}  // namespace

void UndoLog::add(UndoEntry done) {
  done.undone_before = std::exchange(undone_, {});
  done_.push_back(std::move(done));
  if (done_.size() > kMostEntries) done_.erase(done_.begin());
}

void UndoLog::note(std::span<const Command> made, std::span<const Ticket> tickets, char selected_before,
                   char selected_after, bool held) {
  if (std::ranges::none_of(made, can_be_taken_back)) return;
  UndoEntry done{.selected_before = selected_before, .selected_after = selected_after};
  done.replaces = std::ranges::any_of(made, replaces_runs);
  done.gesture = gesture_of(made);
  done.begun = done.first = tickets.front();
  done.last = tickets.back();
  if (held && !done_.empty() && !done.gesture.empty() && done_.back().gesture == done.gesture)
    done_.back().last = done.last;  // the same drag went on
  else
    add(std::move(done));
}

void UndoLog::settle(const LabView& view) {
  for (auto* list : {&done_, &undone_})
    for (size_t i = list->size(); i-- > 0;) {
      UndoEntry& entry = (*list)[i];
      if (!entry.open()) continue;
      const Ticket known = std::min(entry.last, view.answered);
      add_changes(entry.change, view.answers, entry.first, known);
      entry.first = std::max(entry.first, known + 1);
      if (entry.open()) continue;
      if (!entry.change.undo.empty()) {
        entry.undone_before.clear();
        continue;
      }
      const bool newest = list == &done_ && i + 1 == done_.size();
      if (newest && undone_.empty()) undone_ = std::move(entry.undone_before);
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(i));
    }
  // Changes from before a session that the trainer dropped cannot be undone either.
  const auto kept = std::find_if(done_.rbegin(), done_.rend(), [&](const UndoEntry& one) {
    return one.replaces && one.begun <= view.dropped;
  });
  done_.erase(done_.begin(), kept.base());
}

std::optional<UndoLog::UndoEffect> UndoLog::undo(std::vector<Command>& commands) {
  if (!can_undo()) return {};
  UndoEntry done = std::move(done_.back());
  done_.pop_back();
  if (done.open()) commands.emplace_back(TakeBack{done.first, done.last});
  commands.insert(commands.end(), done.change.undo.begin(), done.change.undo.end());
  const UndoEffect back{done.selected_before, done.replaces};
  undone_.push_back(std::move(done));
  return back;
}

std::optional<UndoLog::UndoEffect> UndoLog::redo(std::vector<Command>& commands) {
  if (undone_.empty()) return {};
  UndoEntry done = std::move(undone_.back());
  undone_.pop_back();
  commands.insert(commands.end(), done.change.redo.begin(), done.change.redo.end());
  if (done.open()) commands.emplace_back(TakeBack{done.first, done.last, true});
  const UndoEffect back{done.selected_after, done.replaces};
  done_.push_back(std::move(done));
  return back;
}

}  // namespace normscope::shell
