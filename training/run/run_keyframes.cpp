// A run at one of its earlier steps, and the keyframes that make that quick: see run.h.
#include "engine/core/error.h"
#include "training/run/run_impl.h"

namespace normscope {

// Edits with a step beyond `step` had not been made then. Those at or before a keyframe are in its weights
// and count only for the specification; those after it are replayed.
std::unique_ptr<Run> Run::at(int32_t step) const {
  const Impl& from = *impl_;
  if (step < 0 || step > from.steps)
    fail("fork", "step {} was not trained: expected 0 to {}", step, from.steps);
  const Keyframe* frame = from.keyframes.before(step);
  const int32_t start = frame ? frame->step : 0;
  RunSpec spec = from.origin;
  std::vector<Edit> before, after;
  for (const Edit& edit : from.edits)
    if (edit.step <= step) (edit.step <= start ? before : after).push_back(edit);
  for (const Edit& edit : before) set_field(spec, edit.key, edit.value);
  auto run = std::unique_ptr<Run>(new Run(std::make_unique<Impl>(spec, from.task, *from.backend)));
  Impl& made = *run->impl_;
  made.origin = from.origin;
  made.edits = before;
  made.scheduled = after;
  made.steps = start;
  made.rebuild();
  made.history = made.new_history();
  made.silent_until = step;
  if (frame) {
    restore(*frame, made.network->store);
    made.plateau.restore(frame->plateau);
    require_memory_of(fmt::format("keyframe of step {}", start), frame->memory, made.spec.model,
                      made.spec.train.batch);
    made.memory.restore(frame->memory);
    made.losses.assign(from.losses.begin(), from.losses.begin() + start);
  } else {
    made.start_from_weights();
  }
  made.refresh_level();
  made.history->add_event({step, RunEvent::Kind::Forked, "forked"});
  return run;
}

std::vector<int32_t> Run::keyframes() const { return impl_->keyframes.steps(); }
void Run::set_memory(size_t frames, size_t keyframes) {
  impl_->frames_budget = frames;
  impl_->history->set_budget(frames);
  impl_->keyframes.set_budget(keyframes);
}
std::vector<std::shared_ptr<const Keyframe>> Run::lasting_keyframes() const {
  return impl_->keyframes.lasting();
}
void Run::restore_keyframes(std::vector<std::shared_ptr<const Keyframe>> frames) {
  for (auto& frame : frames) {
    if (frame->step > impl_->steps || frame->edits > impl_->edits.size())
      fail("keyframe", "step {} with {} edits is not of this run: it has {} steps and {} edits", frame->step,
           frame->edits, impl_->steps, impl_->edits.size());
    impl_->keyframes.restore(std::move(frame));
  }
}
size_t Run::memory() const { return impl_->history->bytes() + impl_->keyframes.bytes(); }

}  // namespace normscope
