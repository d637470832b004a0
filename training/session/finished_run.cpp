// Run::finished and Run::resume: what a run leaves behind in the store of finished runs, and how it goes on
// from there. See run_cache.h.
#include "engine/core/error.h"
#include "training/run/run_impl.h"
#include "training/session/run_cache.h"

namespace normscope {
FinishedRun Run::finished(bool with_weights) const {
  const Impl& run = *impl_;
  FinishedRun done;
  done.origin = run.origin;
  done.edits = run.edits;
  done.losses = run.losses;
  done.broken = run.broken;
  done.edits.insert(done.edits.end(), run.scheduled.begin(), run.scheduled.end());
  if (!with_weights) return done;
  done.history = run.history->copy();
  done.end = run.keyframe();
  return done;
}

std::unique_ptr<Run> Run::resume(const FinishedRun& from, std::shared_ptr<const Task> task,
                                 Backend& backend) {
  if (!from.whole()) fail("run", "only the losses of this run were kept: expected its weights too");
  const auto present = from.edits.begin() + static_cast<std::ptrdiff_t>(from.end->edits);
  auto made = Impl::standing_at(from.end.get(), from.origin, {from.edits.begin(), present},
                                {present, from.edits.end()}, std::move(task), backend);
  made->history = from.history->copy();
  made->losses = from.losses;
  made->broken = from.broken;
  const Series validation = made->history->validation();
  if (!validation.values.empty()) made->validation = static_cast<double>(validation.values.back());
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
