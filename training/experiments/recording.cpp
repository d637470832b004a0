#include "training/experiments/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "engine/core/error.h"
#include "engine/model/transformer.h"
#include "training/experiments/probes.h"
#include "training/experiments/run_store.h"
#include "training/measure/look.h"
#include "training/measure/plateau.h"
#include "training/run/run.h"
#include "training/session/run_cache.h"
#include "training/text/dependency_parser.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kSharesSequences = 4;
constexpr double kShareResidual = 0.01;  ///< of float arithmetic; a wrong wiring misses by tenths at least

/// The definition carries every branch through the later norms; where the parts do not add up to the state
/// again, the wiring lies outside it and the number would mean nothing.
void measure_shares(Run& run, Record& record) {
  const ModelConfig& config = run.spec().model;
  if (!is_transformer(config.architecture)) {
    record.beta2_reason = "there is no residual stream";
    return;
  }
  if (config.stack().second != NormKind::None) {
    record.beta2_reason = "the output has two streams, and the definition knows one";
    return;
  }
  try {
    const Batch batch = lessons::validation_batch(run.task(), run.spec(), kSharesSequences);
    Look look(run.store(), config, batch);
    const std::vector<double> numbers = look.measure();
    double sum = 0;
    for (size_t i = 0; i < look.values().sublayers.size(); ++i) {
      const std::string own = fmt::format("beta2.{0}.{0}", i + 1);
      for (size_t k = 0; k < numbers.size(); ++k)
        if (look.layout()[k].name == own) sum += numbers[k];
    }
    if (!(look.residual() < kShareResidual))
      record.beta2_reason = fmt::format(
          "the branches, carried through the norms, miss the state by {:.2g} standard deviations: "
          "this wiring lies outside the definition",
          look.residual());
    else if (!std::isfinite(sum))
      record.beta2_reason = "not finite at initialisation";
    else
      record.beta2 = sum;
  } catch (const DeviceError&) {  // nothing of the wiring's: such a record would be kept
    throw;
  } catch (const Error& error) {
    record.beta2_reason = error.what();
  }
}

/// The frame of step kGradientStep; false when the history does not have it (any more).
bool take_gradients(const Run& run, Record& record) {
  const History& history = *run.history();
  std::vector<float> frame;
  int32_t found = 0;
  if (!history.frame(Record::kGradientStep, frame, found) || found != Record::kGradientStep) return false;
  const auto number = [&](const std::string& name) {
    const int32_t at = history.find(name);
    return at < 0 ? kUnknown : static_cast<double>(frame[static_cast<size_t>(at)]);
  };
  const ModelConfig& model = run.spec().model;
  if (is_transformer(model.architecture)) {
    record.gradient_first = number("L01.ffn.w2.grad_norm");
    record.gradient_last = number(fmt::format("L{:02}.ffn.w2.grad_norm", model.layers));
  } else {
    const bool convolves = model.architecture == Architecture::Convolutional;
    record.gradient_first = number(convolves ? "L01.conv.w.grad_norm" : "L01.hidden.w.grad_norm");
    record.gradient_last = number("class.w.grad_norm");
  }
  return true;
}

/// See Record::score. Changes no bit of the run.
double score_of(Run& run) {
  const ModelConfig& model = run.spec().model;
  if (model.classes == 0 && model.memory == 0) return kUnknown;
  const double loss = run.validation_loss();
  if (const auto trees = attachment_of(run.store(), model, run.task())) return trees->unlabelled();
  if (model.classes > 0) return 100 * run.validation_accuracy();
  return run.task().of_characters() ? loss / std::numbers::ln2 : kUnknown;
}

double to_four_digits(double loss) {
  constexpr double kParts = 10'000;
  return std::round(loss * kParts) / kParts;
}

void take_curve(const Run& run, Record& record) {
  const std::vector<float> losses = run.finished(false).losses;
  record.curve.clear();
  record.stride = std::max(1, (static_cast<int32_t>(losses.size()) + Record::kCurve - 1) / Record::kCurve);
  const auto stride = static_cast<size_t>(record.stride);
  for (size_t i = 0; i < losses.size(); i += stride) {
    const size_t end = std::min(i + stride, losses.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += static_cast<double>(losses[k]);
    record.curve.push_back(to_four_digits(sum / static_cast<double>(end - i)));
  }
}

void conclude(const Run& run, Record& record) {
  take_curve(run, record);
  record.steps = run.steps_done();
  record.loss = run.mean_loss(Record::kWindow);
  record.level = run.plateau_level();
  record.since = run.learning_since();
  const std::optional<NonFiniteReport> broken = run.non_finite();
  if (broken) record.what = fmt::format("{} at step {}", broken->tensor, broken->step);
  const ModelConfig& model = run.spec().model;
  const double guessing = std::log(static_cast<double>(model.classes > 0 ? model.classes : model.vocabulary));
  // As its page says: what has not left by then counts, on its way or not.
  const bool late = record.steps > std::max(Plateau::kPatience, run.spec().train.schedule.warmup);
  record.verdict = broken || !std::isfinite(record.loss) ? Verdict::NotFinite
                   : record.since > 0                    ? Verdict::Learns
                   : late && record.loss > guessing      ? Verdict::Diverges
                   : late                                ? Verdict::Stuck
                                                         : Verdict::Undecided;
}

/// Told from the threads that train, one at a time.
struct Listener {
  OnRecord on_record;
  std::mutex mutex;
  void tell(size_t index, const Record& record) {
    if (!on_record) return;
    const std::lock_guard lock(mutex);
    on_record(index, record);
  }
};

class Recording final : public Measurement {
 public:
  Recording(size_t index, std::shared_ptr<Listener> listener)
      : index_(index), listener_(std::move(listener)) {}

  void begin(Run& run) override { measure_shares(run, record_); }
  bool after_step(const Run& run) override {
    if (run.steps_done() == Record::kGradientStep) take_gradients(run, record_);
    return true;
  }
  void afterwards(Run& run) override {
    if (run.steps_done() >= Record::kGradientStep && !take_gradients(run, record_))
      fail("result", "its history has no frame of step {} any more", Record::kGradientStep);
  }
  nlohmann::json end(Run& run) override {
    conclude(run, record_);
    record_.score = score_of(run);
    listener_->tell(index_, record_);
    return to_json(record_);
  }
  nlohmann::json so_far() const override { return to_json(record_); }
  void go_on(const InputValue& so_far) override { record_ = record_from(so_far); }
  void known(const InputValue& result, Run*) override { listener_->tell(index_, record_from(result)); }

 private:
  size_t index_;
  std::shared_ptr<Listener> listener_;
  Record record_;
};

}  // namespace

Recorded record_runs(const std::string& name, std::vector<Experiment> experiments, ResultStore& store,
                     const RunnerOptions& options, const std::function<bool(const Progress&)>& on_progress,
                     const OnRecord& on_record) {
  const auto listener = std::make_shared<Listener>();
  listener->on_record = on_record;
  Plan plan;
  plan.name = name;
  plan.measurement = kRecording;
  plan.states_of = lessons::kRuns;
  plan.experiments = std::move(experiments);
  plan.measure = [listener](size_t index) { return std::make_unique<Recording>(index, listener); };
  const Outcome outcome = train(plan, store, options, on_progress);
  Recorded recorded{{}, outcome.missing, outcome.trained, outcome.stored, outcome.complete};
  for (const auto& result : outcome.results)
    recorded.records.push_back(result ? std::optional(record_from(*result)) : std::nullopt);
  for (const auto& [i, why] : outcome.failed) {
    Record failed;
    failed.verdict = Verdict::Failed;
    failed.what = why;
    recorded.records[i] = failed;
  }
  return recorded;
}

Record record_of(const Run& run) {
  Record record;
  take_gradients(run, record);
  conclude(run, record);
  return record;
}

}  // namespace normscope::experiments
