// This part of LabTrainer says where the runs are: all of them, stashed ones too, on one backend, and in its memory.
#include <algorithm>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/run/keyframes.h"
#include "training/session/lab_trainer.h"
#include "training/spec/backend_choice.h"
#include "training/spec/limits.h"

namespace normscope {

std::unique_ptr<Backend> LabTrainer::make_device(BackendChoice choice) const {
  return options_.open_backend ? options_.open_backend(choice) : make_backend(choice, options_.threads);
}

// Begins a rerun under way again: half of it on another backend would be neither's.
void LabTrainer::leave_rerun() {
  if (rerun_) seed_check_done_ -= rerun_->steps_done();
  rerun_.reset();
}

void LabTrainer::set_backend(BackendChoice choice) {
  choice.tf32 = choice.tf32 && choice.cuda;
  backend_note_.clear();
  if (choice == choice_) return;
  if (!choice.cuda && !backend_->error().empty()) {
    fall_back(backend_->error());
    return;
  }
  std::vector<LabEntry*> moved;
  std::unique_ptr<Backend> device;
  try {
    if (choice.cuda) device = make_device(choice);
    for (LabEntry* entry : kept()) {
      entry->run->move_to(device ? *device : *cpu_);
      moved.push_back(entry);
    }
  } catch (...) {  // all stay; no other error may pass for a DeviceError of a run
    const std::string why = describe_exception("moving the runs");
    for (LabEntry* entry : moved) entry->run->move_to(*backend_);
    fail("backend", "{}", why);
  }
  for (LabEntry* entry : moved) {
    entry->scoring.reset();
    entry->looking.reset();
  }
  leave_rerun();
  earlier_.reset();
  backend_ = device ? device.get() : cpu_.get();
  device_ = std::move(device);
  choice_ = choice;
}

bool LabTrainer::fall_back(const std::string& why) {
  if (backend_ == cpu_.get()) return false;
  for (LabEntry* entry : kept()) {
    Run& run = *entry->run;
    run.recover_on(*cpu_, why);
    while (run.catching_up()) run.step();                 // a snapshot is never old
    entry->unscored = entry->unscored || entry->scoring;  // if the device failed during it
    entry->scoring.reset();                               // a half from another backend would not fit
    entry->looking.reset();
  }
  leave_rerun();
  earlier_.reset();
  backend_ = cpu_.get();
  device_.reset();
  choice_ = {};
  backend_note_ = message = fmt::format("CUDA stopped, the runs go on on the CPU: {}", why);
  return true;
}

size_t LabTrainer::kept_bytes() const {
  size_t sum = 0;
  for (const LabEntry* entry : kept()) sum += entry->run->kept_bytes();
  return sum;
}

int64_t LabTrainer::memory() const {  // 0: the size is unknown
  return options_.memory > 0 ? options_.memory : static_cast<int64_t>(machine_memory());
}

int64_t LabTrainer::held_bytes() const {
  int64_t bytes = 0;
  for (const LabEntry* entry : kept()) bytes += estimated_bytes(entry->run->spec());
  return bytes;
}

// Refuses runs that memory cannot hold: requests have no cap, but such a run would end the whole session.
// It drops runs that are kept for undoing an edit, the oldest first.
void LabTrainer::make_room(const std::vector<RunSpec>& more) {
  int64_t wanted = 0;
  for (const RunSpec& spec : more) {
    validate(spec);
    wanted += estimated_bytes(spec);
  }
  while (!parked_.empty() && !has_room(wanted)) parked_.erase(parked_.begin());
  if (memory() > 0) require_bytes("lab", wanted, held_bytes(), memory());
}

// Keeps histories and keyframes of all runs, stashed ones too, within 256 MB together; a single run takes
// no more than it can use.
void LabTrainer::share_bytes() {
  constexpr size_t kSession = size_t{256} << 20;
  const std::vector<LabEntry*> all = kept();
  if (all.empty()) return;
  const size_t share = kSession / all.size(), whole = kHistoryBudget + kKeyframeBudget;
  const double part = std::min(1.0, static_cast<double>(share) / static_cast<double>(whole));
  for (LabEntry* entry : all)
    entry->run->limit_bytes(static_cast<size_t>(part * static_cast<double>(kHistoryBudget)),
                            static_cast<size_t>(part * static_cast<double>(kKeyframeBudget)));
}

}  // namespace normscope
