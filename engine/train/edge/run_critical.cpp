// When a run measures its critical rate, and on which batch. See critical_rate.h.
#include "engine/train/run_impl.h"

namespace normscope {

// The first step and every n-th after it; not those that are done again silently.
bool Run::Impl::critical_due(int64_t step) const {
  const int32_t every = spec.train.critical_every;
  return live && every > 0 && step > silent_until && (step - 1) % every == 0;
}

void Run::Impl::begin_critical(int64_t step) {
  if (!critical_due(step)) return;
  if (!critical)
    critical = std::make_unique<CriticalRate>(network->store, spec.model, spec.train.reuse_gradients);
  critical->before(network->store);
}

double Run::Impl::critical_rate(Program& program, int64_t step) {
  if (!critical_due(step)) return kUnknown;
  const BatchShape shape = task->shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch,
                                       spec.model.sequence);
  return critical->after(network->store, program, shape, inputs(step));
}

}  // namespace normscope
