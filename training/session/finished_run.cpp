// Run::finished and Run::resume: what a run leaves behind in the store of finished runs, and how it goes on
// from there. See run_cache.h.
#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/run/run_impl.h"
#include "training/session/run_cache.h"

namespace normscope {
namespace {

std::vector<float> block_of(const Store& store, Store::Block block) {
  std::vector<float> numbers(store.size());
  store.backend().download(store.block(block), 0, numbers);
  return numbers;
}

}  // namespace

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
  const Store& store = run.network->store;
  auto end = std::make_shared<Keyframe>();
  end->step = run.steps;
  end->edits = run.edits.size();
  end->plateau = run.plateau.state();
  end->memory = run.memory.state();
  end->values = block_of(store, Store::Block::Value);
  end->m = block_of(store, Store::Block::M);
  end->v = block_of(store, Store::Block::V);
  done.end = std::move(end);
  return done;
}

std::unique_ptr<Run> Run::resume(const FinishedRun& from, std::shared_ptr<const Task> task,
                                 Backend& backend) {
  if (!from.whole()) fail("run", "only the losses of this run were kept: expected its weights too");
  const auto present = from.edits.begin() + static_cast<std::ptrdiff_t>(from.end->edits);
  RunSpec spec = from.origin;
  for (auto edit = from.edits.begin(); edit != present; ++edit) set_field(spec, edit->key, edit->value);
  auto made = std::make_unique<Impl>(spec, std::move(task), backend);
  made->origin = from.origin;
  made->edits.assign(from.edits.begin(), present);
  made->scheduled.assign(present, from.edits.end());
  made->steps = from.end->step;
  made->rebuild();
  restore(*from.end, made->network->store);
  made->history = from.history->copy();
  made->plateau.restore(from.end->plateau);
  made->memory.restore(from.end->memory);
  made->losses = from.losses;
  made->broken = from.broken;
  const Series validation = made->history->validation();
  if (!validation.values.empty()) made->validation = static_cast<double>(validation.values.back());
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
