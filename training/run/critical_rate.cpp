#include "training/run/critical_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/model/transformer.h"
#include "engine/tape/backend.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

// Bisection can reach places 1 to kPlaces - 1 of a grid, whose first and last multiple are at the ends.
constexpr int kPlaces = 1 << kCriticalPasses;
constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

double multiple_at(int place) {
  const double octaves = std::log2(kMaxMultiple / kMinMultiple);
  return kMinMultiple * std::exp2(octaves * (place - 1) / (kPlaces - 2));
}

/// Copies the inputs of `from` to the inputs with the same names.
void copy_inputs(Program& from, Program& to) {
  for (const ValueInfo& value : to.data().values) {
    if (value.role != Role::Input) continue;
    if (value.dtype == DType::I32)
      std::ranges::copy(from.tokens(value.name), to.tokens(value.name).begin());
    else
      std::ranges::copy(from.floats(value.name), to.floats(value.name).begin());
  }
}

/// The critical rate of the next step, and the rate that the step uses.
std::pair<double, double> rates_of_next(const Run& run, const RunSpec& spec) {
  const std::unique_ptr<Run> copy = run.fork(spec);
  copy->step();
  const History& history = *copy->history();
  return {static_cast<double>(history.series(history.find(kCriticalStat)).values.back()),
          static_cast<double>(history.rate().values.back())};
}

/// Changes the rate and tries again where the crossing lies beyond the multiples of the update that are tried.
Curvature curvature_of(const Run& run, RunSpec spec) {
  constexpr int kTries = 4;
  constexpr double kInside = 1.001;
  spec.train.critical_every = 1;
  for (int i = 0; i < kTries; ++i) {
    const auto [critical, used] = rates_of_next(run, spec);
    const double multiple = critical / used;
    if (multiple > kInside * kMinMultiple && multiple < kMaxMultiple / kInside)
      return {critical, 2 / critical};
    if (!(multiple > 0)) break;
    spec.train.schedule.peak = static_cast<float>(multiple * static_cast<double>(spec.train.schedule.peak));
  }
  return {};
}

}  // namespace

double critical_multiple(double start, const std::function<double(double)>& loss_at) {
  int low = 0, high = kPlaces;
  double below = 0, above = 0;  // the rise of the loss over the multiple, at both ends
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const double multiple = multiple_at(middle), rise = (loss_at(multiple) - start) / multiple;
    if (rise <= 0) {  // false for NaN
      low = middle;
      below = rise;
    } else {
      high = middle;
      above = rise;
    }
  }
  if (low == 0) return kMinMultiple;
  if (high == kPlaces) return kMaxMultiple;
  const double from = multiple_at(low), to = multiple_at(high);
  return std::isfinite(above) ? from + (to - from) * below / (below - above) : from;
}

CriticalRate::CriticalRate(const Store& run, const ModelConfig& model, bool reuse_bytes)
    : store_(run.clone()),
      model_(model),
      reuse_bytes_(reuse_bytes),
      from_(run.size()),
      to_(run.size()),
      tried_(run.size()) {}

Program& CriticalRate::program_for(const BatchShape& shape) {
  const auto found = programs_.find(shape);
  if (found != programs_.end()) return found->second;
  Tape tape(store_);
  RecordOptions options = record_options(shape, true, model_.memory);
  options.probes = false;
  const ValueId loss = record_model(tape, model_, options).loss;
  Program program =
      seal(tape, {.loss = loss, .backward = false, .reuse_bytes = reuse_bytes_, .keep_probabilities = false});
  return programs_.emplace(shape, std::move(program)).first->second;
}

void CriticalRate::before(const Store& run) {
  run.backend().download(run.block(Store::Block::Value), 0, from_);
}

std::function<double(double)> CriticalRate::trial(const Store& run, Program& step, const BatchShape& shape,
                                                  const StepInputs& inputs) {
  if (!(inputs.lr > 0) || !std::isfinite(step.loss())) return {};
  run.backend().download(run.block(Store::Block::Value), 0, to_);
  Program& program = program_for(shape);
  copy_inputs(step, program);
  return [this, &program, inputs](double multiple) {
    for (size_t i = 0; i < tried_.size(); ++i) {
      const double from = from_[i];
      tried_[i] = static_cast<float>(from + multiple * (static_cast<double>(to_[i]) - from));
    }
    store_.backend().upload(store_.block(Store::Block::Value), 0, tried_);
    program.replay(inputs);
    return program.loss();
  };
}

double CriticalRate::after(const Store& run, Program& step, const BatchShape& shape,
                           const StepInputs& inputs) {
  const auto loss_at = trial(run, step, shape, inputs);
  return loss_at ? critical_multiple(step.loss(), loss_at) * static_cast<double>(inputs.lr) : kNoLoss;
}

std::vector<double> CriticalRate::along(const Store& run, Program& step, const BatchShape& shape,
                                        const StepInputs& inputs, std::span<const double> multiples) {
  std::vector<double> losses(multiples.size(), kNoLoss);
  if (const auto loss_at = trial(run, step, shape, inputs))
    std::ranges::transform(multiples, losses.begin(), loss_at);
  return losses;
}

NextCurvature next_curvature(const Run& run) {
  RunSpec plain = run.spec();
  plain.train.optimizer = Optimizer::Sgd;
  plain.train.weight_decay = plain.train.clip = 0;
  plain.train.added = {};
  return {curvature_of(run, run.spec()), curvature_of(run, plain)};
}

}  // namespace normscope
