#include "app/zoo/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "app/experiments/probes.h"
#include "engine/core/error.h"
#include "engine/measure/plateau.h"
#include "engine/measure/step_metrics.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "engine/train/run.h"

namespace normscope::zoo {
namespace {

constexpr int32_t kSharesSequences = 4;
constexpr double kShareResidual = 0.01;  ///< of float arithmetic; a wrong wiring misses by tenths at least

/// The definition carries every branch through the later norms; where the parts do not add up to the state
/// again, the wiring lies outside it and the number would mean nothing.
void measure_shares(Run& run, Record& record) {
  const ModelConfig& config = run.spec().model;
  if (config.stack().second != NormKind::None) {
    record.beta2_reason = "the output has two streams, and the definition knows one";
    return;
  }
  try {
    const MeasureBatch batch = lessons::validation_batch(run.task(), run.spec(), kSharesSequences);
    Tape tape(run.store());
    const ModelValues model = record_transformer(
        tape, config, {.batch = batch.B, .sequence = batch.T, .training = false, .probes = false});
    Program program = seal(tape, {.loss = model.loss, .backward = false});
    std::copy(batch.tokens.begin(), batch.tokens.end(), program.tokens("tokens").begin());
    std::copy(batch.targets.begin(), batch.targets.end(), program.tokens("targets").begin());
    program.replay({});
    LiveMeasurements live(program, model, config, batch.B);
    std::vector<double> numbers(live.layout().size());
    live.measure(numbers);
    double sum = 0;
    for (size_t i = 0; i < model.sublayers.size(); ++i) {
      const std::string own = fmt::format("beta2.{0}.{0}", i + 1);
      for (size_t k = 0; k < numbers.size(); ++k)
        if (live.layout()[k].name == own) sum += numbers[k];
    }
    if (!(live.residual() < kShareResidual))
      record.beta2_reason = fmt::format(
          "the branches, carried through the norms, miss the state by {:.2g} standard deviations: "
          "this wiring lies outside the definition",
          live.residual());
    else if (!std::isfinite(sum))
      record.beta2_reason = "not finite at initialisation";
    else
      record.beta2 = sum;
  } catch (const Error& error) {
    record.beta2_reason = error.what();
  }
}

double number_at(const Run& run, const std::string& name) {
  const History& history = *run.history();
  std::vector<float> frame;
  int32_t found = 0;
  const int32_t at = history.find(name);
  if (at < 0 || !history.frame(run.steps_done(), frame, found) || found != run.steps_done()) return kUnknown;
  return static_cast<double>(frame[static_cast<size_t>(at)]);
}

void conclude(const Run& run, Record& record) {
  record.steps = run.steps_done();
  record.loss = run.mean_loss(Record::kWindow);
  record.level = run.plateau_level();
  record.since = run.learning_since();
  const std::optional<NonFiniteReport> broken = run.non_finite();
  if (broken) record.what = fmt::format("{} at step {}", broken->tensor, broken->step);
  const double guessing = std::log(static_cast<double>(run.spec().model.vocabulary));
  // As its page says: what has not left by then counts, on its way or not.
  const bool late = record.steps > std::max(Plateau::kPatience, run.spec().train.schedule.warmup);
  record.verdict = broken || !std::isfinite(record.loss) ? Verdict::NotFinite
                   : record.since > 0                    ? Verdict::Learns
                   : late && record.loss > guessing      ? Verdict::Diverges
                   : late                                ? Verdict::Stuck
                                                         : Verdict::Undecided;
}

class Recording final : public experiments::Measurement {
 public:
  void begin(Run& run) override { measure_shares(run, record_); }
  bool after_step(const Run& run) override {
    if (run.steps_done() != Record::kGradientStep) return true;
    record_.gradient_first = number_at(run, "L01.ffn.w2.grad_norm");
    record_.gradient_last = number_at(run, fmt::format("L{:02}.ffn.w2.grad_norm", run.spec().model.layers));
    return true;
  }
  nlohmann::json end(Run& run) override {
    conclude(run, record_);
    return to_json(record_);
  }
  nlohmann::json so_far() const override { return to_json(record_); }
  void go_on(const InputValue& so_far) override { record_ = record_from(so_far); }
  void known(const InputValue& result, Run*) override { record_from(result); }

 private:
  Record record_;
};

/// Depth by depth and seed by seed, so that what ends early has something of every entry.
std::vector<size_t> training_order(const std::vector<Job>& jobs) {
  std::map<int32_t, size_t> depth;  // where its jobs begin
  for (size_t i = 0; i < jobs.size(); ++i) depth.emplace(jobs[i].layers, i);
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(depth[jobs[a].layers], jobs[a].seed) < std::pair(depth[jobs[b].layers], jobs[b].seed);
  });
  return order;
}

}  // namespace

Visit visit(const std::vector<Job>& jobs, experiments::ResultStore& store,
            const experiments::RunnerOptions& options,
            const std::function<bool(const experiments::Progress&)>& on_progress) {
  const std::vector<size_t> order = training_order(jobs);
  experiments::Plan plan;
  plan.name = "zoo";
  plan.measurement = "zoo 2";
  for (const size_t job : order) plan.experiments.push_back({jobs[job].spec, {}});
  plan.measure = [](size_t) { return std::make_unique<Recording>(); };
  const experiments::Outcome outcome = experiments::train(plan, store, options, on_progress);
  Visit visit{std::vector<std::optional<Record>>(jobs.size()), outcome.trained, outcome.stored,
              outcome.complete};
  for (size_t i = 0; i < order.size(); ++i)
    if (outcome.results[i]) visit.records[order[i]] = record_from(*outcome.results[i]);
  for (const auto& [i, why] : outcome.failed) {
    Record failed;
    failed.verdict = Verdict::Failed;
    failed.what = why;
    visit.records[order[i]] = failed;
  }
  return visit;
}

}  // namespace normscope::zoo
