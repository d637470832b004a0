#include "app/view/commands.h"

namespace normscope::lab {
namespace {

struct Poster {
  Lab& lab;
  void operator()(const Play&) const { lab.play(); }
  void operator()(const Pause&) const { lab.pause(); }
  void operator()(const StepOnce&) const { lab.step_once(); }
  void operator()(const Reset& c) const { lab.reset(c.new_seed); }
  void operator()(const ExchangeReset& c) const { lab.exchange_reset(c.back); }
  void operator()(const SetBudget& c) const { lab.set_budget(c.steps); }
  void operator()(const SetSpeed& c) const { lab.set_steps_per_second(c.steps_per_second); }
  void operator()(const SetBackend& c) const { lab.set_backend(c.choice); }
  void operator()(const EditField& c) const { lab.edit(c.run, c.key, c.value); }
  void operator()(const LoadText& c) const { lab.load_text(c.path); }
  void operator()(const SetSpec& c) const { lab.set_spec(c.run, *c.spec); }
  void operator()(const ForkRequest& c) const { lab.fork(c); }
  void operator()(const ForkFrom& c) const { lab.fork_from(c.run, c.step); }
  void operator()(const CheckSeeds& c) const { c.on ? lab.check_seeds() : lab.cancel_seeds(); }
  void operator()(const MeasureBatch&) const { lab.measure_batch(); }
  void operator()(const Ablate& c) const { lab.ablate(c.run, c.left_out); }
  void operator()(const ReplaceRuns& c) const {
    if (!c.stash.empty()) lab.save(c.stash);
    c.known ? lab.open(c.runs, c.edits, c.letters) : lab.start(c.runs, c.play, c.edits, c.letters);
  }
  void operator()(const SwapSession& c) const {
    lab.save(c.save);
    lab.restore(c.restore, c.play);
  }
  void operator()(const RemoveFork&) const { lab.remove_fork(); }
  void operator()(const RestoreFork&) const { lab.restore_fork(); }
  void operator()(const SavePlot&) const {}  // the app's business
};

}  // namespace

void run_commands(Lab& lab, const std::vector<Command>& commands) {
  for (const Command& command : commands) std::visit(Poster{lab}, command);
}

}  // namespace normscope::lab
