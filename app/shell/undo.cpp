#include "app/shell/undo.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/core/error.h"

namespace normscope::shell {

using namespace lab;

namespace {

constexpr size_t kMostEntries = 500;
constexpr uint64_t kViewsBehind = 3;  // a step, "busy", the answer: then the view shows what was requested

}  // namespace

void UndoLog::catch_up(const LabView& view) {
  const bool behind =
      expected_.size() == view.runs.size() && view.version < asked_at_ + kViewsBehind && view.message.empty();
  if (behind) return;
  expected_.clear();
  for (const RunView& run : view.runs) expected_.push_back(run.spec);
}

void UndoLog::note_edit(const LabView& view, const EditField& edit, Done& done) {
  const bool shared = edit.key.starts_with("data.") || edit.key == "run.seed";
  std::vector<std::shared_ptr<const RunSpec>> after = expected_;
  std::vector<Command> undo;
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (!shared && edit.run >= 0 && edit.run != static_cast<int>(i)) continue;
    if (!expected_[i]) continue;
    undo.emplace_back(SetSpec{static_cast<int>(i), expected_[i]});
    auto next = std::make_shared<RunSpec>(*expected_[i]);
    try {
      set_field(*next, edit.key, edit.value);
      validate(*next);
    } catch (const Error&) {
      return;  // the trainer will refuse it, for all runs, and say why
    }
    after[i] = std::move(next);
  }
  done.gesture += edit.key + std::to_string(edit.run) + ' ';
  done.undo.insert(done.undo.end(), undo.begin(), undo.end());
  expected_ = std::move(after);
  asked_at_ = view.version;
}

void UndoLog::replaced(const LabView& view, const std::string& stash, char selected_before,
                       char selected_after) {
  const std::string other = stash + "-after";
  Done done;
  done.undo.emplace_back(SwapSession{other, stash, view.playing});
  done.redo.emplace_back(SwapSession{stash, other, true});
  done.selected_before = selected_before;
  done.selected_after = selected_after;
  done.swap = true;
  done_.push_back(std::move(done));
  undone_.clear();
  expected_.clear();
  ++changes_;
  const auto is_swap = [](const Done& entry) { return entry.swap; };
  if (std::count_if(done_.begin(), done_.end(), is_swap) == kSlots)
    done_.erase(done_.begin(), std::find_if(done_.begin(), done_.end(), is_swap) + 1);
}

std::string UndoLog::next_slot() {
  return stash_.empty() ? "" : stash_ + "/" + std::to_string(slots_++ % kSlots);
}

void UndoLog::note(const LabView& view, std::span<const Command> made, char selected_before,
                   char selected_after, bool held) {
  if (made.empty()) return;
  for (const Command& command : made)
    if (const auto* other = std::get_if<ReplaceRuns>(&command)) {
      if (other->stash.empty()) return clear();
      return replaced(view, other->stash, selected_before, selected_after);
    }
  catch_up(view);
  Done done;
  done.selected_before = selected_before;
  done.selected_after = selected_after;
  for (const Command& command : made) {
    if (std::holds_alternative<ForkRequest>(command) || std::holds_alternative<ForkFrom>(command)) {
      done.undo.emplace_back(RemoveFork{});
      done.redo.emplace_back(RestoreFork{});
      const auto* fork = std::get_if<ForkRequest>(&command);
      if (fork && fork->train && !view.playing)  // it set the training going
        done.undo.emplace_back(Pause{});
    } else if (const auto* edit = std::get_if<EditField>(&command)) {
      note_edit(view, *edit, done);
      done.redo.push_back(command);
    } else if (const auto* text = std::get_if<LoadText>(&command)) {
      note_edit(view, {-1, "data.text", text->path}, done);
      done.redo.push_back(command);
    } else if (std::holds_alternative<SetBudget>(command)) {
      done.gesture += "budget ";
      done.undo.emplace_back(SetBudget{view.budget});
      done.redo.push_back(command);
    } else if (const auto* reset = std::get_if<Reset>(&command); reset && view.runs.empty()) {
      continue;
    } else if (reset && !reset->new_seed) {
      done.undo.emplace_back(ExchangeReset{true});
      done.redo.emplace_back(ExchangeReset{false});
    } else if (reset) {
      const EditField seed{-1, "run.seed", std::to_string(view.runs[0].spec->seed + 1)};
      note_edit(view, seed, done);
      done.redo.emplace_back(seed);
    }
  }
  if (done.undo.empty()) return;
  ++changes_;
  undone_.clear();
  if (held && !done_.empty() && !done.gesture.empty() && done_.back().gesture == done.gesture) {
    done_.back().redo = std::move(done.redo);  // further along the same drag
    return;
  }
  // What is taken back goes in reverse.
  std::reverse(done.undo.begin(), done.undo.end());
  done_.push_back(std::move(done));
  if (done_.size() > kMostEntries) done_.erase(done_.begin());
}

// An undo is requested like an edit: what follows it starts from there, before a view shows it.
void UndoLog::expect(const LabView& view, const std::vector<Command>& asked) {
  catch_up(view);
  for (const Command& command : asked) {
    Done unused;
    if (const auto* spec = std::get_if<SetSpec>(&command)) {
      const auto run = static_cast<size_t>(spec->run);
      if (run < expected_.size()) expected_[run] = spec->spec;
    } else if (const auto* edit = std::get_if<EditField>(&command)) {
      note_edit(view, *edit, unused);
    } else if (const auto* text = std::get_if<LoadText>(&command)) {
      note_edit(view, {-1, "data.text", text->path}, unused);
    } else if (!std::holds_alternative<SetBudget>(command)) {
      return expected_.clear();  // runs come or go
    }
  }
  asked_at_ = view.version;
}

bool UndoLog::undo(const LabView& view, std::vector<Command>& commands, char& selected) {
  if (done_.empty()) return false;
  ++changes_;
  Done done = std::move(done_.back());
  done_.pop_back();
  commands.insert(commands.end(), done.undo.begin(), done.undo.end());
  selected = done.selected_before;
  expect(view, done.undo);
  undone_.push_back(std::move(done));
  return true;
}

bool UndoLog::redo(const LabView& view, std::vector<Command>& commands, char& selected) {
  if (undone_.empty()) return false;
  ++changes_;
  Done done = std::move(undone_.back());
  undone_.pop_back();
  commands.insert(commands.end(), done.redo.begin(), done.redo.end());
  selected = done.selected_after;
  expect(view, done.redo);
  done_.push_back(std::move(done));
  return true;
}

}  // namespace normscope::shell
