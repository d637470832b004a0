// When a run measures its critical rate, and on which batch. See critical_rate.h.
#include "engine/core/boundary.h"
#include "engine/tape/backend.h"
#include "training/run/run_impl.h"

namespace normscope {

// `critical_due` holds at the first step and at every n-th after it, but not at steps that are silently repeated.
bool Run::Impl::critical_due(int64_t step) const {
  const int32_t every = spec.train.critical_every;
  return live && every > 0 && !critical_left_out && step > silent_until && (step - 1) % every == 0;
}

// `settle_critical` frees the memory when the measurement is switched off; switched on again, it may find some.
void Run::Impl::settle_critical() {
  if (live && spec.train.critical_every > 0) return;
  critical.reset();
  critical_left_out = false;
}

// `try_critical` lets a run whose measurement finds no memory train on without it, to the same bits, and says so once.
// A lost device is reported by require_backend().
void Run::Impl::try_critical(const std::function<void()>& measure) {
  const std::string error = guarded("critical rate", measure);
  if (error.empty() || !backend->error().empty()) return;
  critical.reset();
  critical_left_out = true;
  notice = "the critical rate is left out: " + error;
}

void Run::Impl::begin_critical(int64_t step) {
  settle_critical();  // a scheduled edit may have switched it off
  if (!critical_due(step)) return;
  try_critical([&] {
    if (!critical)
      critical = std::make_unique<CriticalRate>(network->store, spec.model, spec.train.reuse_gradients);
    critical->before(network->store);
  });
}

double Run::Impl::critical_rate(Program& program, int64_t step) {
  if (!critical || !critical_due(step)) return kUnknown;
  const BatchShape shape = task->shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch,
                                       spec.model.sequence);
  double rate = kUnknown;
  try_critical([&] { rate = critical->after(network->store, program, shape, inputs(step)); });
  return rate;
}

}  // namespace normscope
