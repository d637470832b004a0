// The fast hand may be faster than the trainer: a gate that holds the trainer, and a Lab with its undo log without a
// screen.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "app/shell/undo.h"
#include "app/support/live_lab.h"

namespace normscope::fixture {

using namespace session;

/// Holds the trainer just after it has shown that it is busy, as a large network would.
class Gate {
 public:
  explicit Gate(Lab& lab) : lab_(lab) {
    lab_.on_change([this] {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !shut_; });
    });
  }
  ~Gate() {
    set(false);
    lab_.on_change({});
  }
  void set(bool shut) {
    {
      const std::lock_guard lock(mutex_);
      shut_ = shut;
    }
    changed_.notify_all();
  }

 private:
  Lab& lab_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
};

inline std::string layers(const LabView& view, size_t run = 0) {
  return get_field(*view.runs.at(run).spec, "model.layers");
}

inline std::vector<RunSpec> one_tiny_run() {
  RunSpec run = fixture::small_runs(1).front();
  for (auto [key, value] : {std::pair{"model.d_model", "4"},
                            {"model.feed_forward", "4"},
                            {"model.heads", "1"},
                            {"model.sequence", "4"},
                            {"train.batch", "1"}})
    set_field(run, key, value);
  return {run};
}

/// A Lab and its undo log without a screen.
struct Hand {
  explicit Hand(LabOptions options = fixture::quiet_lab()) : lab(std::move(options)) {
    lab.post(ReplaceRuns{one_tiny_run(), {}, false});
    rest();
  }
  void rest() {
    gate.set(false);
    lab.wait_idle();
    view = lab.view();
    log.settle(*view);
  }
  Ticket give(const Command& command) {
    const Ticket ticket = lab.post(command);
    log.note(std::span(&command, 1), std::span(&ticket, 1), 'A', 'A', false);
    return ticket;
  }
  bool step(bool undo) {
    std::vector<Command> commands;
    const bool any = (undo ? log.undo(commands) : log.redo(commands)).has_value();
    for (const Command& command : commands) lab.post(command);
    return any;
  }

  shell::UndoLog log;
  std::shared_ptr<const LabView> view;
  Lab lab;  // its end is told to the log
  Gate gate{lab};
};

}  // namespace normscope::fixture
