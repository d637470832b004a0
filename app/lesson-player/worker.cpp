#include "app/lesson-player/worker.h"

#include <algorithm>
#include <chrono>

#include "app/course/language.h"
#include "app/course/map.h"
#include "app/course/tables.h"
#include "app/lesson-player/saved_curves.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {
using namespace course;
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(50);
constexpr double kTooSoon = 2;  // seconds before which the time left would be a guess

/// Keeps the lesson's order, but puts all curves of a run together, because they are ready when it is trained.
/// It leaves out the measured ways of a challenge, which the learner is to find.
std::vector<const Curve*> by_run(const Lesson& lesson) {
  std::vector<const Curve*> order;
  const auto add = [&](const Curve& curve) {
    if (!of_way(lesson, curve) && std::ranges::find(order, &curve) == order.end()) order.push_back(&curve);
  };
  for (const Curve& curve : lesson.curves) {
    add(curve);
    if (!grows(curve)) continue;
    for (const Curve& other : lesson.curves)
      if (grows(other) && other.run == curve.run) add(other);
  }
  return order;
}

/// Adds a point to a sweep, and to the cells of a map, whenever a run is finished.
void add_finished_points(const Lesson& lesson, const Curve& under_way, const Changes& changes,
                         const experiments::RunStore& store, MeasureState& partial, std::string& name) {
  if (!is_swept(under_way)) return;
  const experiments::StudyRun run = run_of(lesson, under_way.run, 1, changes);
  for (const Curve& curve : lesson.curves)
    if (same_runs(curve, under_way) && !partial.curves.contains(curve.id))
      partial.curves[curve.id] = finished_part(curve, run, store);
  if (under_way.other.empty()) return;
  partial.run = under_way.run;
  name = fmt::format("{} {}",
                     called(*lesson.words, "setting", under_way.other, find_field(under_way.other)->label),
                     under_way.values.front());
}

std::string at_step(const Lesson& lesson, const std::string& run, const experiments::RunProgress& progress) {
  return lesson.words->tr("{run}, step {step} of {steps}",
                          {{"run", run}, {"step", progress.step}, {"steps", progress.steps}});
}

}  // namespace

std::string Worker::doing(const Job& job) { return "measuring lesson " + job.lesson->id; }

Worker::Worker(std::function<void()> on_change, int threads, std::shared_ptr<RunCache> finished,
               const std::string& kept)
    : threads_(threads),
      finished_(std::move(finished)),
      kept_(std::make_unique<SavedCurves>(kept)),
      jobs_(
          "lesson", [this](const Job& job) { carry_out(job); }, std::move(on_change)) {}

Worker::~Worker() = default;

void Worker::start(const Lesson& lesson, const Changes& changes) {
  jobs_.start({&lesson, changes}, [&](MeasureState& state) {
    state = {};
    state.lesson = lesson.id;
    state.changes = changes;
    state.running = true;
    state.doing = lesson.words->tr("getting ready");
  });
}

void Worker::stop() {
  jobs_.stop([](MeasureState& state, const Job* waiting) {
    if (!waiting) return;
    state.running = false;
    state.stopped = true;
    state.doing = waiting->lesson->words->tr("stopped");
  });
}

// Publishes an error that work() cannot, without the half-made curves.
void Worker::carry_out(const Job& job) {
  const Message error = guarded(doing(job), [&] { work(job); });
  if (error.empty()) return;
  (void)guarded(doing(job), [&] {
    MeasureState state;
    state.lesson = job.lesson->id;
    state.error = error;
    jobs_.publish(state);
  });
}

void Worker::work(const Job& job) {
  const Lesson& lesson = *job.lesson;
  MeasureState state;
  state.lesson = lesson.id;
  state.changes = job.changes;
  state.running = true;
  std::vector<Changes>& tried = tried_[lesson.id];
  try {
    std::optional<MeasureState> kept = tried.empty() ? kept_->load(lesson, job.changes) : std::nullopt;
    if (kept) {
      state = std::move(*kept);
    } else {
      measure(job, state);
      kept_->save(lesson, state);
    }
    if (!job.changes.empty() && std::ranges::find(tried, job.changes) == tried.end())
      tried.push_back(job.changes);
  } catch (const experiments::Cancelled&) {
    state.doing = lesson.words->tr("stopped");
    state.stopped = true;
  } catch (...) {
    state.error = describe_exception(doing(job));
  }
  state.running = false;
  jobs_.publish(state);
}

void Worker::measure(const Job& job, MeasureState& state) {
  const Lesson& lesson = *job.lesson;
  if (!store_) store_ = std::make_unique<experiments::RunStore>(threads_, finished_);
  const auto began = std::chrono::steady_clock::now();
  auto shown = began;
  std::optional<double> found_share;  // of the work that was there when training began
  size_t finished = 0;
  const Curve* under_way = nullptr;
  const std::vector<const Curve*> order = by_run(lesson);
  const auto found = [&](const LessonRun& run) {
    return store_->find(run_of(lesson, run.id, 1, job.changes).key());
  };
  // The curves of a run that is being trained grow while it trains, whichever of them asked for it.
  const auto on_step = [&](const experiments::RunProgress& progress) {
    if (jobs_.stopping()) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown < kRefresh) return true;
    shown = now;
    MeasureState partial = state;
    std::string name = lesson.words->tr("another run");
    if (under_way) add_finished_points(lesson, *under_way, job.changes, *store_, partial, name);
    for (const Curve* curve : order) {
      if (!grows(*curve)) continue;
      const experiments::StudyRun run = run_of(lesson, curve->run, 1, job.changes);
      if (run.key() != progress.key) continue;
      name = lesson.words->tr("run {run}", {{"run", curve->run}});
      partial.run = curve->run;
      partial.histories[curve->run] = progress.history;
      if (!partial.curves.contains(curve->id))
        partial.curves[curve->id] = partial_curve(*curve, run.spec.model, *progress.history, progress.level);
    }
    partial.doing = at_step(lesson, name, progress);
    partial.share = (static_cast<double>(finished) + static_cast<double>(progress.step) / progress.steps) /
                    static_cast<double>(order.size());
    if (!found_share) found_share = partial.share;
    const double past = std::chrono::duration<double>(now - began).count(),
                 done = partial.share - *found_share;
    if (past > kTooSoon && done > 0) partial.seconds_left = past / done * (1 - partial.share);
    jobs_.publish(partial);
    return true;
  };
  for (const Curve* curve : order) {
    if (jobs_.stopping()) throw experiments::Cancelled();
    state.doing = lesson.words->tr("measuring");
    under_way = curve;
    state.curves[curve->id] =
        measure_curve(lesson, *curve, 1, *store_, on_step, job.changes, tried_[lesson.id]);
    state.share = static_cast<double>(++finished) / static_cast<double>(order.size());
    for (const LessonRun& run : lesson.runs)
      if (const auto done = found(run)) state.histories[run.id] = done->history;
    jobs_.publish(state);
  }
  for (const LessonRun& run : lesson.runs) {
    const auto done = found(run);
    const experiments::StudyRun own = run_of(lesson, run.id, 1, job.changes);
    const auto kept = done || !shows_trained_map(lesson, run.id) ? done : store_->get(own, on_step);
    if (!kept && shows_map(lesson, run.id)) state.maps[run.id + " start"] = store_->start_shares(own.spec);
    if (!kept) continue;
    state.texts[run.id] = kept->text;
    state.maps[run.id + " start"] = kept->shares_start;
    state.maps[run.id + " end"] = kept->shares_end;
  }
  state.done = true;
  state.share = 1;
}

}  // namespace normscope::lessons
