#include "app/lesson-player/workload.h"

#include <algorithm>

#include "app/course/map.h"

namespace normscope::lesson_player {
using namespace course;
namespace {

constexpr double kTooSoon = 2;  // seconds before which the time left would be a guess

/// Of the matrices alone, which take nearly all of a step. A measurement of the critical rate runs six copies forward,
/// each about a third of a step.
double multiplications(const RunSpec& spec) {
  const ModelConfig& model = spec.model;
  const double width = model.d_model, tokens = static_cast<double>(spec.train.batch) * model.sequence;
  const bool two = model.architecture == Architecture::EncoderDecoder;
  const double layers = layers_of("", model) + (two ? layers_of("enc.", model) : 0);
  const double measuring = spec.train.critical_every > 0 ? 1 + 2.0 / spec.train.critical_every : 1;
  return measuring * tokens * layers * width * (4 * width + 2 * model.feed_forward);
}

}  // namespace

std::vector<experiments::StudyRun> runs_of(const Lesson& lesson, const Curve& curve, const Changes& changes,
                                           const std::vector<Changes>& tried) {
  using Of = Curve::Of;
  const bool whole =
      curve.of == Of::Run || curve.of == Of::Profile || curve.of == Of::Shares || curve.of == Of::LeftOut;
  if (!whole && !is_swept(curve)) return {};
  const experiments::StudyRun run = run_of(lesson, curve.run, 1, changes);
  if (whole) return {run};
  Curve swept = curve;
  swept.xs = sweep_values(lesson, curve, 1, changes, tried);
  return points_of(swept, run);
}

std::string of_step(const Curve& curve) { return "step of " + curve.id; }

std::vector<Training> trainings_of(const Lesson& lesson, const Curve& curve, const Changes& changes,
                                   const std::vector<Changes>& tried) {
  std::vector<Training> trainings;
  if (curve.of == Curve::Of::OneStep)
    trainings.push_back(
        {of_step(curve), multiplications(run_of(lesson, curve.run, 1, changes).spec), curve.from});
  for (const experiments::StudyRun& run : runs_of(lesson, curve, changes, tried))
    trainings.push_back({run.key(), multiplications(run.spec), run.spec.train.steps});
  return trainings;
}

void Workload::add(const Training& training) {
  if (trainings_.emplace(training.key, training).second) all_ += training.a_step * training.steps;
}

void Workload::reach(const std::string& key, int32_t step) {
  const auto it = trainings_.find(key);
  if (it == trainings_.end()) return;
  Training& training = it->second;
  const int32_t now = std::clamp(step, training.reached, training.steps);
  done_ += training.a_step * (now - training.reached);
  training.reached = now;
}

void Workload::finish(const std::string& key) {
  if (const auto it = trainings_.find(key); it != trainings_.end()) reach(key, it->second.steps);
}

std::optional<double> Workload::seconds_left(double seconds) const {
  if (seconds < kTooSoon || !(done_ > 0)) return std::nullopt;
  return seconds * (all_ - done_) / done_;
}

}  // namespace normscope::lesson_player
