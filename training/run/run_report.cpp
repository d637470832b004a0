// What a run reports: smoothed losses, scales, validation, the text it writes now. None of it changes a bit of the
// training. See run.h.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "training/measure/look.h"
#include "training/run/run_impl.h"

namespace normscope {

double Run::mean_loss(int32_t window) const {
  const auto& losses = impl_->losses;
  const size_t count = std::min(losses.size(), static_cast<size_t>(std::max(window, 0)));
  if (count == 0) return kUnknown;
  return std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
         static_cast<double>(count);
}

namespace {

// The mean of a parameter, or of its absolute values.
float mean_of(const Network& network, const std::string& name, bool absolute) {
  const std::vector<float> values = network.store.read(network.store.find(name));
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(absolute ? std::abs(v) : v);
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

// The mean of a scale of each sub-layer: as learned now, or the constant. A branch with a share leaves
// the skip the rest.
std::vector<float> mean_scales(const Network& network, const ModelConfig& model, const char* part,
                               Scale Wiring::*which) {
  std::vector<float> scales;
  for (const SublayerValues& sublayer : network.values.sublayers) {
    const Wiring& wiring = wiring_of(model, sublayer);
    const Scale& scale = wiring.*which;
    if (wiring.branch.kind == Scale::Kind::Toward) {
      const float share = mean_of(network, sublayer.name + ".branch", true);
      scales.push_back(&scale == &wiring.skip ? 1 - share : share);
    } else if (network.store.find(sublayer.name + part) >= 0) {
      scales.push_back(mean_of(network, sublayer.name + part, false));
    } else {
      scales.push_back(scale.kind == Scale::Kind::Constant ? scale.value : 1.0f);
    }
  }
  return scales;
}

}  // namespace

std::vector<float> Run::skip_scales() const {
  return mean_scales(*impl_->network, impl_->spec.model, ".skip", &Wiring::skip);
}

std::vector<float> Run::branch_scales() const {
  return mean_scales(*impl_->network, impl_->spec.model, ".branch", &Wiring::branch);
}

double Run::validation_loss() {
  Impl& run = *impl_;
  if (!run.validator)
    run.validator = std::make_unique<Validator>(run.network->store, run.spec.model, *run.task, run.spec.seed,
                                                run.spec.train.batch);
  const double measured = run.validator->measure();
  run.require_backend();
  run.validation = measured;
  if (run.steps >= run.silent_until) run.history->append_validation(run.steps, run.validation);
  return run.validation;
}

std::shared_ptr<const BatchMeasurement> Run::measure_batch() {
  Impl& run = *impl_;
  const ModelConfig& model = run.spec.model;
  const Batch batch = run.task->draw(run.spec.seed, static_cast<uint64_t>(std::max(run.steps, 1)),
                                     Split::Train, run.spec.train.batch, model.sequence);
  Look look(run.network->store, model, batch);
  const std::vector<double> numbers = look.measure();
  auto made = std::make_shared<BatchMeasurement>();
  made->step = run.steps;
  made->sequences = batch.B;
  made->layout = look.layout();
  made->values.assign(numbers.begin(), numbers.end());
  return made;
}

double Run::validation_accuracy() const { return impl_->validator ? impl_->validator->accuracy() : kUnknown; }

std::string Run::sample(int32_t symbols) {
  Writer& writer = impl_->writer(symbols);
  writer.restart();
  while (!writer.advance()) {
  }
  impl_->require_backend();
  return impl_->line = writer.text(*impl_->task);
}

bool Run::write_some(int32_t symbols, int32_t line_length) {
  Writer& writer = impl_->writer(line_length);
  for (int32_t i = 0; i < symbols; ++i)
    if (writer.advance()) {
      impl_->require_backend();
      impl_->line = writer.text(*impl_->task);
      return true;
    }
  return false;
}

const std::string& Run::written() const { return impl_->line; }

}  // namespace normscope
