#include "training/session/undo.h"

#include <algorithm>
#include <utility>

namespace normscope::session {
namespace {

constexpr size_t kMaxEntries = 500;

bool same_settings(const RunSpec& a, RunSpec b) {
  b.train.steps = a.train.steps;
  return a == b;
}

bool same_run(const ShownRun* a, const ShownRun* b) { return a && b ? a->is_run(*b) : a == b; }

/// Whether both show the same runs in the same way, wherever these are in their training.
bool shows_same(const Session& a, const Session& b) {
  const auto alike = [](const ShownRun& x, const ShownRun& y) {
    return x.is_run(y) && x.hold == y.hold && x.end == y.end;
  };
  return a.lineage == b.lineage && a.portion == b.portion && std::ranges::equal(a.runs, b.runs, alike);
}

template <typename T>
void merge(T& now, const T& from, const T& to) {
  if (now == from) now = to;
}

/// The run of a letter that all three have.
ShownRun merged(const ShownRun& now, const ShownRun& from, const ShownRun& to) {
  ShownRun made = now.is_run(from) ? to : now;
  made.hold = now.hold;
  made.end = now.end;
  merge(made.hold, from.hold, to.hold);
  merge(made.end, from.end, to.end);
  return made;
}

}  // namespace

bool ShownRun::is_run(const ShownRun& other) const {
  return letter == other.letter && take == other.take && fork_step == other.fork_step && data == other.data &&
         edits == other.edits && (origin == other.origin || same_settings(*origin, *other.origin));
}

bool ShownRun::shares(const ShownRun& other, int32_t step) const {
  if (take != other.take && step > fork_step) return false;  // it is trained to be watched
  const auto until = [step](std::vector<Edit> edits) {
    std::erase_if(edits, [step](const Edit& edit) { return edit.step > step; });
    return edits;
  };
  return data == other.data && goes_on == other.goes_on && until(edits) == until(other.edits) &&
         (origin == other.origin || same_settings(*origin, *other.origin));
}

const ShownRun* Session::find(char letter) const {
  const auto at = std::ranges::find(runs, letter, &ShownRun::letter);
  return at == runs.end() ? nullptr : &*at;
}

Session merged(const Session& now, const Session& from, const Session& to) {
  Session made = now;
  made.runs.clear();
  for (const char letter : {'A', 'B', 'C', 'D'}) {
    const ShownRun *present = now.find(letter), *was = from.find(letter), *becomes = to.find(letter);
    if (present && was && becomes)
      made.runs.push_back(merged(*present, *was, *becomes));
    else if (becomes && !was && !present)
      made.runs.push_back(*becomes);
    else if (present && (becomes || !same_run(present, was)))
      made.runs.push_back(*present);
  }
  merge(made.lineage, from.lineage, to.lineage);
  merge(made.portion, from.portion, to.portion);
  merge(made.playing, from.playing, to.playing);
  made.selected = to.selected;
  return made;
}

bool UndoLog::note(Session before, Session after, bool replaces, uint64_t gesture) {
  if (shows_same(before, after)) return false;
  undone_.clear();
  replaces |= before.lineage != after.lineage;
  if (gesture != 0 && !done_.empty() && done_.back().gesture == gesture) {  // the same press goes on
    Entry& begun = done_.back();
    begun.after = std::move(after);
    begun.replaces |= replaces;
    if (shows_same(begun.before, begun.after)) done_.pop_back();
    return true;
  }
  done_.push_back({std::move(before), std::move(after), replaces, gesture});
  if (done_.size() > kMaxEntries) done_.erase(done_.begin());
  return true;
}

std::optional<Session> UndoLog::next(bool undo, const Session& now) {
  for (std::vector<Entry>& from = undo ? done_ : undone_; !from.empty(); from.pop_back()) {
    const Entry& entry = from.back();
    const Session &was = undo ? entry.after : entry.before, &becomes = undo ? entry.before : entry.after;
    Session to = entry.replaces ? becomes : merged(now, was, becomes);
    if (!shows_same(to, now)) return to;
  }
  return std::nullopt;
}

void UndoLog::stepped(bool undo, Session left, Session now) {
  std::vector<Entry>&from = undo ? done_ : undone_, &to = undo ? undone_ : done_;
  Entry entry = std::move(from.back());
  from.pop_back();
  entry.gesture = 0;  // a press that goes on changes something else
  left.selected = undo ? entry.after.selected : entry.before.selected;
  entry.before = undo ? now : left;
  entry.after = undo ? std::move(left) : std::move(now);
  to.push_back(std::move(entry));
}

void UndoLog::clear() {
  done_.clear();
  undone_.clear();
}

}  // namespace normscope::session
