#include "app/lesson-player/worker.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/course/check.h"
#include "app/course/map.h"
#include "app/course/reader.h"
#include "app/course/tables.h"
#include "app/course/tapes.h"
#include "app/lesson-player/workload.h"
#include "engine/core/boundary.h"
#include "engine/io/output_file.h"
#include "training/io/codec.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"

namespace normscope::course {

template <class Io>
void io(Io& io, codec::Of<Io, CurveData>& c) {
  io("x", c.x, codec::List{0, kMaxCurvePoints, codec::AnyNumber{}});
  io("y", c.y, codec::List{c.x.size(), c.x.size(), codec::AnyNumber{}});
}

}  // namespace normscope::course

namespace normscope::lesson_player {
using namespace course;
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(50);

/// Keeps the lesson's order, but puts all curves of a run together, because they are ready when it is trained, and the
/// curves of fresh models first, because how long those take is not foreseen (workload.h). It leaves out the measured
/// ways of a challenge, which the learner is to find.
std::vector<const Curve*> by_run(const Lesson& lesson) {
  std::vector<const Curve*> order;
  const auto add = [&](const Curve& curve) {
    if (!belongs_to_way(lesson, curve) && std::ranges::find(order, &curve) == order.end())
      order.push_back(&curve);
  };
  for (const Curve& curve : lesson.curves)
    if (trainings_of(lesson, curve, {}, {}).empty()) add(curve);
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
                         const experiments::RunStore& store, MeasureState& partial) {
  if (!is_swept(under_way)) return;
  const experiments::StudyRun run = run_of(lesson, under_way.run, 1, changes);
  for (const Curve& curve : lesson.curves) {
    if (!same_runs(curve, under_way)) continue;
    partial.growing.insert(curve.id);
    if (!partial.curves.contains(curve.id)) partial.curves[curve.id] = finished_part(curve, run, store);
  }
  if (!under_way.other.empty()) partial.run = under_way.run;
}

/// What the run with this key is called: its letter, or for one without a tile its name, with the settings of a sweep.
std::string name_of(const Lesson& lesson, const Curve& curve, const Changes& changes,
                    const std::vector<Changes>& tried, const std::string& key) {
  if (!is_swept(curve))
    return lesson.has_letter(curve.run) ? lesson.words->tr("run {run}", {{"run", curve.run}})
                                        : run_label(lesson, curve.run, changes);
  const std::string name = lesson.run(curve.run)->name;
  for (const experiments::StudyRun& run : runs_of(lesson, curve, changes, tried))
    if (run.key() == key) {
      std::string settings = setting_label(lesson, curve.field, get_field(run.spec, curve.field));
      if (!curve.other.empty())
        settings += ", " + setting_label(lesson, curve.other, get_field(run.spec, curve.other));
      return name + ", " + settings;
    }
  return name;
}

std::string at_step(const Lesson& lesson, const std::string& run, const experiments::RunProgress& progress) {
  return lesson.words->tr("{run}, step {step} of {steps}",
                          {{"run", run}, {"step", progress.step}, {"steps", progress.steps}});
}

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 6;

std::string all_that_decides(const Lesson& lesson, const Changes& changes) {
  std::string out = "version " NORMSCOPE_VERSION "\nseed 1\n" + definition(lesson);
  for (const LessonRun* run : lesson.all_runs())
    out += run->id + "\n" + run_of(lesson, run->id, 1, changes).key();
  for (const LessonTape& tape : lesson.tapes)
    out += definition_of({tape.id, tape_of(lesson, tape.id, changes)});
  return out;
}

/// Whether the state has every curve that the player measures for the lesson.
bool is_whole(const Lesson& lesson, const MeasureState& state) {
  return state.lesson == lesson.id && std::ranges::all_of(lesson.curves, [&](const Curve& curve) {
           return belongs_to_way(lesson, curve) || state.curves.contains(curve.id);
         });
}

}  // namespace

std::string Worker::doing(const Job& job) { return "measuring lesson " + job.lesson->id; }

Worker::Worker(std::function<void()> on_change, int threads, std::shared_ptr<Trainer> trainer,
               const std::string& kept)
    : threads_(threads),
      trainer_(std::move(trainer)),
      kept_(kept),
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
    std::optional<MeasureState> kept = tried.empty() ? kept_.load(lesson, job.changes) : std::nullopt;
    if (kept) {
      state = std::move(*kept);
    } else {
      measure(job, state);
      kept_.save(lesson, state);
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
  if (!store_) store_ = std::make_unique<experiments::RunStore>(threads_, trainer_);
  using Clock = std::chrono::steady_clock;
  auto shown = Clock::now();
  std::optional<Clock::time_point> began;  // to train
  const std::vector<Changes>& tried = tried_[lesson.id];
  const std::vector<const Curve*> order = by_run(lesson);
  const auto found = [&](const LessonRun& run) {
    return store_->find(run_of(lesson, run.id, 1, job.changes).key());
  };
  Workload work;
  size_t fresh = 0, trained = 0,
         finished = 0;  // curves: of fresh models, of trainings; those that are measured
  for (const Curve* curve : order) {
    const std::vector<Training> trainings = trainings_of(lesson, *curve, job.changes, tried);
    ++(trainings.empty() ? fresh : trained);
    for (const Training& training : trainings)
      if (!store_->find(training.key)) work.add(training);
  }
  const auto share = [&] {
    if (work.empty()) return static_cast<double>(finished) / static_cast<double>(order.size());
    return (static_cast<double>(std::min(finished, fresh)) + static_cast<double>(trained) * work.share()) /
           static_cast<double>(order.size());
  };
  const Curve* under_way = nullptr;
  // The curves of a run that is being trained grow while it trains, whichever of them asked for it.
  const auto on_step = [&](const experiments::RunProgress& progress) {
    if (jobs_.stopping()) return false;
    const auto now = Clock::now();
    if (!began) began = now;
    work.reach(progress.key.empty() && under_way ? of_step(*under_way) : progress.key, progress.step);
    if (now - shown < kRefresh) return true;
    shown = now;
    MeasureState partial = state;
    std::string name = lesson.words->tr("another run");
    if (under_way) {
      add_finished_points(lesson, *under_way, job.changes, *store_, partial);
      name = name_of(lesson, *under_way, job.changes, tried, progress.key);
    }
    for (const Curve* curve : order) {
      if (!grows(*curve)) continue;
      const experiments::StudyRun run = run_of(lesson, curve->run, 1, job.changes);
      if (run.key() != progress.key) continue;
      name = name_of(lesson, *curve, job.changes, tried, progress.key);
      partial.run = curve->run;
      partial.growing.insert(curve->id);
      partial.histories[curve->run] = progress.history;
      if (!partial.curves.contains(curve->id))
        partial.curves[curve->id] = partial_curve(*curve, run.spec.model, *progress.history, progress.level);
    }
    partial.doing = at_step(lesson, name, progress);
    partial.share = share();
    if (const auto left = work.seconds_left(std::chrono::duration<double>(now - *began).count()))
      partial.seconds_left = *left;
    jobs_.publish(partial);
    return true;
  };
  for (const Curve* curve : order) {
    if (jobs_.stopping()) throw experiments::Cancelled();
    state.doing = lesson.words->tr("measuring");
    under_way = curve;
    state.curves[curve->id] = measure_curve(lesson, *curve, 1, *store_, on_step, job.changes, tried);
    for (const Training& training : trainings_of(lesson, *curve, job.changes, tried))
      work.finish(training.key);
    ++finished;
    state.share = share();
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

template <class Io>
void io(Io& io, codec::Of<Io, MeasureState>& state) {
  io("lesson", state.lesson, codec::Text{kMaxTextBytes});
  io.optional("curves", state.curves, codec::Map{kMaxLessonEntries, codec::Object{}});
  io.optional("maps", state.maps, codec::Map{kMaxLessonEntries, ShareRows{}});
  io.optional("texts", state.texts, codec::Map{kMaxLessonEntries, codec::Text{kMaxTextBytes}});
}

std::string SavedCurves::folder_beside(const std::string& progress_path) {
  return progress_path.empty() ? "" : (fs::path(progress_path).parent_path() / "lessons").string();
}

std::string SavedCurves::path_of(const Lesson& lesson, const Changes& changes) const {
  return (fs::path(folder_) /
          fmt::format("{}-{}.json", lesson.id, hash_text(all_that_decides(lesson, changes))))
      .string();
}

std::optional<MeasureState> SavedCurves::load(const Lesson& lesson, const Changes& changes) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(lesson, changes);
  try {
    const auto text = read_input_file_if_there(path, input::kMeasured);
    if (!text) return std::nullopt;
    auto state = codec::read<MeasureState>(InputValue::parse(*text, path));
    if (!is_whole(lesson, state)) return std::nullopt;
    state.changes = changes;
    state.done = true;
    state.share = 1;
    return state;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void SavedCurves::save(const Lesson& lesson, const MeasureState& state) const {
  if (folder_.empty()) return;
  try {
    make_folder(folder_, Access::Own, "lesson");
    write_file(path_of(lesson, state.changes), codec::text_of(codec::write(state)) + "\n", "lesson",
               Access::Own);
    thin_out(lesson);
  } catch (const std::exception&) {
  }
}

void SavedCurves::thin_out(const Lesson& lesson) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(lesson.id + "-") &&
        entry.path().extension() == ".json")
      files.emplace_back(entry.last_write_time(), entry.path());
  std::ranges::sort(files, std::greater<>());
  for (size_t i = kMaxFiles; i < files.size(); ++i) fs::remove(files[i].second);
}

}  // namespace normscope::lesson_player
