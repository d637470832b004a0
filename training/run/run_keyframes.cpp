// A run at one of its earlier steps, and the keyframes that make this quick: see run.h.
#include "engine/core/error.h"
#include "training/run/run_impl.h"

namespace normscope {

std::shared_ptr<const Keyframe> Run::Impl::keyframe() const {
  return take_keyframe(steps, edits.size(), network->store, plateau.state(), memory.state());
}

std::unique_ptr<Run::Impl> Run::Impl::standing_at(const Keyframe* frame, const RunSpec& origin,
                                                  std::vector<Edit> made, std::vector<Edit> to_come,
                                                  std::shared_ptr<const Task> task, Backend& backend) {
  RunSpec spec = origin;
  for (const Edit& edit : made) set_field(spec, edit.key, edit.value);
  auto run = std::make_unique<Impl>(std::move(spec), std::move(task), backend);
  run->origin = origin;
  run->edits = std::move(made);
  run->scheduled = std::move(to_come);
  run->steps = frame ? frame->step : 0;
  run->rebuild();
  if (frame) {
    restore(*frame, run->network->store);
    run->plateau.restore(frame->plateau);
    run->memory.restore(frame->memory);
  }
  run->refresh_level();
  return run;
}

// Leaves out edits with a step beyond `step`, which had not been made then. Edits at or before a keyframe are in
// its weights and count only for the specification; later edits are replayed.
std::unique_ptr<Run> Run::at(int32_t step) const {
  const Impl& from = *impl_;
  if (step < 0 || step > from.steps)
    fail("fork", "step {} was not trained: expected 0 to {}", step, from.steps);
  const Keyframe* frame = from.keyframes.before(step);
  const int32_t start = frame ? frame->step : 0;
  std::vector<Edit> before, after;
  for (const Edit& edit : from.edits)
    if (edit.step <= step) (edit.step <= start ? before : after).push_back(edit);
  auto run = std::unique_ptr<Run>(new Run(
      Impl::standing_at(frame, from.origin, std::move(before), std::move(after), from.task, *from.backend)));
  Impl& made = *run->impl_;
  made.history = made.new_history();
  made.silent_until = step;
  made.losses.assign(from.losses.begin(), from.losses.begin() + start);
  if (!frame) made.start_from_weights();
  made.history->add_event({step, RunEvent::Kind::Forked, "forked"});
  return run;
}

std::vector<int32_t> Run::keyframes() const { return impl_->keyframes.steps(); }
void Run::limit_bytes(size_t frames, size_t keyframes) {
  impl_->frames_budget = frames;
  impl_->history->set_budget(frames);
  impl_->keyframes.set_budget(keyframes);
}
size_t Run::kept_bytes() const { return impl_->history->bytes() + impl_->keyframes.bytes(); }

}  // namespace normscope
