#include "app/shell/undo.h"

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

std::string UndoLog::next_slot() {
  return stash_.empty() ? "" : stash_ + "/" + std::to_string(slots_++ % kSlots);
}

void UndoLog::add(Done done) {
  done.undone_before = std::exchange(undone_, {});
  done_.push_back(std::move(done));
  ++changes_;
  if (done_.size() > kMostEntries) done_.erase(done_.begin());
}

void UndoLog::replaced(const LabView& view, const std::string& stash, Ticket ticket, char selected_before,
                       char selected_after) {
  Done done{.selected_before = selected_before, .selected_after = selected_after};
  done.replaces = true;
  done.first = done.last = ticket;
  if (const std::string other = stash + "-after"; !stash.empty())
    done.change = {{SwapSession{other, stash, view.playing}}, {SwapSession{stash, other, true}}};
  add(std::move(done));
  const auto has_slot = [](const Done& entry) { return entry.replaces && !entry.for_good(); };
  if (std::count_if(done_.begin(), done_.end(), has_slot) == kSlots)
    done_.erase(done_.begin(), std::find_if(done_.begin(), done_.end(), has_slot) + 1);
}

void UndoLog::note(const LabView& view, std::span<const Command> made, std::span<const Ticket> tickets,
                   char selected_before, char selected_after, bool held) {
  for (size_t i = 0; i < made.size(); ++i)
    if (const auto* other = std::get_if<ReplaceRuns>(&made[i]))
      return replaced(view, other->stash, tickets[i], selected_before, selected_after);
  if (std::none_of(made.begin(), made.end(), can_be_taken_back)) return;
  Done done{.selected_before = selected_before, .selected_after = selected_after};
  done.gesture = gesture_of(made);
  done.first = tickets.front();
  done.last = tickets.back();
  if (held && !done_.empty() && !done.gesture.empty() && done_.back().gesture == done.gesture)
    done_.back().last = done.last;  // the same drag went on
  else
    add(std::move(done));
}

void UndoLog::settle(const LabView& view) {
  for (auto* list : {&done_, &undone_})
    for (size_t i = list->size(); i-- > 0;) {
      Done& entry = (*list)[i];
      if (!entry.open()) continue;
      const Ticket known = std::min(entry.last, view.answered);
      if (!entry.replaces) add_changes(entry.change, view.answers, entry.first, known);
      entry.first = std::max(entry.first, known + 1);
      if (entry.open()) continue;
      ++changes_;
      const auto at = list->begin() + static_cast<std::ptrdiff_t>(i);
      if (entry.replaces ? !refusal(view.answers, entry.last).empty() : entry.change.undo.empty()) {
        const bool newest = list == &done_ && i + 1 == done_.size();
        if (newest && undone_.empty()) undone_ = std::move(entry.undone_before);
        list->erase(at);
      } else if (entry.for_good()) {
        list->erase(list->begin(), at + 1);
        break;
      } else {
        entry.undone_before.clear();
      }
    }
}

bool UndoLog::undo(std::vector<Command>& commands, char& selected) {
  if (!can_undo()) return false;
  ++changes_;
  Done done = std::move(done_.back());
  done_.pop_back();
  if (done.open() && !done.replaces) commands.emplace_back(TakeBack{done.first, done.last});
  commands.insert(commands.end(), done.change.undo.begin(), done.change.undo.end());
  selected = done.selected_before;
  undone_.push_back(std::move(done));
  return true;
}

bool UndoLog::redo(std::vector<Command>& commands, char& selected) {
  if (undone_.empty()) return false;
  ++changes_;
  Done done = std::move(undone_.back());
  undone_.pop_back();
  commands.insert(commands.end(), done.change.redo.begin(), done.change.redo.end());
  if (done.open() && !done.replaces) commands.emplace_back(TakeBack{done.first, done.last, true});
  selected = done.selected_after;
  done_.push_back(std::move(done));
  return true;
}

}  // namespace normscope::shell
