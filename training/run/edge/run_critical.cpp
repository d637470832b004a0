// When a run measures its critical rate, and on which batch. See critical_rate.h.
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/run/run_impl.h"

namespace normscope {

// Holds at the first step and at every n-th after it, but not at steps that are silently repeated.
bool Run::Impl::critical_due(int64_t step) const {
  const int32_t every = spec.train.critical_every;
  return live && every > 0 && !critical_left_out && step > silent_until && (step - 1) % every == 0;
}

// Frees the memory when the measurement is switched off; switched on again, it may find some.
void Run::Impl::settle_critical() {
  if (live && spec.train.critical_every > 0) return;
  critical.reset();
  critical_left_out = false;
}

// Lets a run whose measurement finds no memory train on without it, to the same bits, and says so once.
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
  if (!critical_due(step) && rates_asked.empty()) return;
  try_critical([&] {
    if (!critical)
      critical = std::make_unique<CriticalRate>(network->store, spec.model, spec.train.reuse_gradients);
    critical->before(network->store);
  });
}

BatchShape Run::Impl::batch_shape(int64_t step) const {
  return task->shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch,
                     spec.model.sequence);
}

double Run::Impl::critical_rate(Program& program, int64_t step) {
  if (!critical || !critical_due(step)) return kUnknown;
  const BatchShape shape = batch_shape(step);
  double rate = kUnknown;
  try_critical([&] { rate = critical->after(network->store, program, shape, inputs(step)); });
  return rate;
}

void Run::Impl::try_along(Program& program, int64_t step) {
  if (!critical || rates_asked.empty()) return;
  const StepInputs in = inputs(step);
  std::vector<double> multiples(rates_asked.begin(), rates_asked.end());
  for (double& multiple : multiples) multiple /= static_cast<double>(in.lr);
  const BatchShape shape = batch_shape(step);
  try_critical([&] { losses_along = critical->along(network->store, program, shape, in, multiples); });
}

std::vector<double> Run::step_along(std::span<const double> rates) {
  Impl& run = *impl_;
  if (rates.empty()) fail("rates", "there are none: expected one at least");
  const int32_t before = run.steps;
  run.losses_along.clear();
  struct Asked {
    Impl& run;
    ~Asked() {
      run.rates_asked = {};
      run.settle_critical();  // a run that does not measure it gives the memory back
    }
  } const asked{run};
  run.rates_asked = rates;
  step();
  if (run.steps == before) fail("step", "the run is not finite: expected one that can make a step");
  if (!(run.inputs(run.steps).lr > 0)) fail("step", "it has no update: expected a learning rate above 0");
  if (run.losses_along.empty()) fail("step", "no other rate was tried: {}", take_notice());
  return std::move(run.losses_along);
}

}  // namespace normscope
