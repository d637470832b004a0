// This part of LabTrainer moves the runs. All runs, stashed ones too, are on one backend.
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/session/lab_trainer.h"
#include "training/spec/backend_choice.h"

namespace normscope {

std::unique_ptr<Backend> LabTrainer::make_device(BackendChoice choice) const {
  return options_.open_backend ? options_.open_backend(choice) : make_backend(choice, options_.threads);
}

// `leave_rerun` begins a rerun under way again: half of it on another backend would be neither's.
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
    entry->parsing.reset();
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
    entry->unscored = entry->unscored || entry->parsing;  // if the device failed during it
    entry->parsing.reset();                               // a half from another backend would not fit
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

}  // namespace normscope
