// LabTrainer: a step of a run on a copy, to be played elsewhere.
#include <algorithm>

#include "engine/cpu/backend_cpu.h"
#include "engine/lab/lab_trainer.h"
#include "engine/lab/played_step.h"

namespace normscope {
namespace {

/// The run as it stood before the step at which it stopped being finite: its weights of now say nothing any more.
std::unique_ptr<Run> before_it_broke(const Run& run) {
  const int32_t step = std::max(0, run.non_finite()->step - 1);
  std::unique_ptr<Run> earlier = run.at(step);
  while (earlier->steps_done() < step && earlier->state() != RunState::NonFinite) earlier->step();
  return earlier;
}

}  // namespace

void LabTrainer::play_step(int32_t run) {
  LabEntry& played = entry(run);
  std::unique_ptr<Run> earlier;
  if (played.broken() && played.run->non_finite()) earlier = before_it_broke(*played.run);
  const Run& at = earlier ? *earlier : *played.run;
  auto made = std::make_shared<PlayedStep>();
  made->letter = played.letter;
  made->name = view_of(played).name;
  made->step = at.steps_done() + 1;
  made->spec = std::make_shared<const RunSpec>(at.spec());
  const std::vector<LabEntry*> all = entries();
  if (played.forked_from >= 0 && static_cast<size_t>(played.forked_from) < all.size()) {
    const LabEntry& source = *all[static_cast<size_t>(played.forked_from)];
    made->source = source.letter;
    made->source_spec = std::make_shared<const RunSpec>(source.run->spec());
  }
  made->shape = at.task().shape(made->spec->seed, static_cast<uint64_t>(made->step), Split::Train,
                                made->spec->train.batch, made->spec->model.sequence);
  made->backend = make_cpu_backend(1);
  made->player = at.play_next(*made->backend);
  made->number = ++steps_played_;
  played_ = std::move(made);
}

}  // namespace normscope
