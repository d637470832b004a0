// What a run tells of itself: smoothed losses, skip scales, validation, the text it writes now. None of it
// changes a bit of the training. See run.h.
#include <algorithm>
#include <numeric>

#include "engine/train/run_impl.h"

namespace normscope {

double Run::mean_loss(int32_t window) const {
  const auto& losses = impl_->losses;
  const size_t count = std::min(losses.size(), static_cast<size_t>(std::max(window, 0)));
  if (count == 0) return kUnknown;
  return std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
         static_cast<double>(count);
}

std::vector<float> Run::skip_scales() const {
  const Network& network = *impl_->network;
  std::vector<float> scales;
  for (const SublayerValues& sublayer : network.values.sublayers) {
    const Scale& skip = wiring_of(impl_->spec.model, sublayer).skip;
    const int32_t learned = network.store.find(sublayer.name + ".skip");
    if (learned < 0) {
      scales.push_back(skip.kind == Scale::Kind::Constant ? skip.value : 1.0f);
      continue;
    }
    const std::vector<float> values = network.store.read(learned);
    scales.push_back(static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0) /
                                        static_cast<double>(values.size())));
  }
  return scales;
}

double Run::validation_loss() {
  Impl& run = *impl_;
  if (!run.validator)
    run.validator = std::make_unique<Validator>(run.network->store, run.spec.model, *run.task, run.spec.seed,
                                                run.spec.train.batch);
  run.validation = run.validator->measure();
  if (run.steps >= run.silent_until) run.history->append_validation(run.steps, run.validation);
  return run.validation;
}

double Run::validation_accuracy() const { return impl_->validator ? impl_->validator->accuracy() : kUnknown; }

std::string Run::sample(int32_t symbols) {
  Writer& writer = impl_->writer(symbols);
  writer.restart();
  while (!writer.advance()) {
  }
  return impl_->line = writer.text(*impl_->task);
}

bool Run::write_some(int32_t symbols, int32_t line_length) {
  Writer& writer = impl_->writer(line_length);
  for (int32_t i = 0; i < symbols; ++i)
    if (writer.advance()) {
      impl_->line = writer.text(*impl_->task);
      return true;
    }
  return false;
}

const std::string& Run::written() const { return impl_->line; }

}  // namespace normscope
