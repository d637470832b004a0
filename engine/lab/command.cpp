// LabTrainer: which of its functions carries a command out.
#include "engine/lab/command.h"

#include <limits>

#include "engine/lab/lab_trainer.h"

namespace normscope {

struct LabTrainer::Carrier {
  LabTrainer& trainer;
  void operator()(const lab::Play&) const { trainer.play_to(std::numeric_limits<int32_t>::max()); }
  void operator()(const lab::PlayTo& c) const { trainer.play_to(c.step); }
  void operator()(const lab::Pause&) const { trainer.pause(); }
  void operator()(const lab::StepOnce&) const { trainer.step_once(); }
  void operator()(const lab::Reset& c) const { trainer.reset(c.new_seed); }
  void operator()(const lab::ExchangeReset& c) const { trainer.exchange_reset(c.back); }
  void operator()(const lab::SetBudget& c) const { trainer.set_budget(c.steps); }
  void operator()(const lab::SetSpeed& c) const { trainer.set_steps_per_second(c.steps_per_second); }
  void operator()(const lab::SetBackend& c) const { trainer.set_backend(c.choice); }
  void operator()(const lab::EditField& c) const { trainer.edit(c.run, c.key, c.value); }
  void operator()(const lab::LoadText& c) const { trainer.load_text(c.path); }
  void operator()(const lab::SetSpec& c) const { trainer.set_spec(c.run, *c.spec); }
  void operator()(const lab::ForkRequest& c) const { trainer.fork(c); }
  void operator()(const lab::ForkFrom& c) const { trainer.fork_from(c.run, c.step, c.spec); }
  void operator()(const lab::RemoveFork&) const { trainer.remove_fork(); }
  void operator()(const lab::RestoreFork&) const { trainer.restore_fork(); }
  void operator()(const lab::CheckSeeds& c) const { c.on ? trainer.check_seeds() : trainer.cancel_seeds(); }
  void operator()(const lab::MeasureBatch&) const { trainer.measure_batch(); }
  void operator()(const lab::Ablate& c) const { trainer.ablate(c.run, c.left_out); }
  void operator()(const lab::PlayStep& c) const { trainer.play_step(c.run); }
  void operator()(const lab::ReplaceRuns& c) const {
    c.known ? trainer.open(c.runs, c.edits, c.letters) : trainer.start(c.runs, c.play, c.edits, c.letters);
  }
  void operator()(const lab::SaveSession& c) const { trainer.save(c.folder); }
  void operator()(const lab::RestoreSession& c) const { trainer.restore(c.folder, c.play); }
  void operator()(const lab::SwapSession&) const {}  // came as two, see Lab::post
};

void LabTrainer::carry_out(const lab::Command& command) { std::visit(Carrier{*this}, command); }

}  // namespace normscope
