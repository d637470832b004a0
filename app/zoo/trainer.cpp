#include "app/zoo/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "app/experiments/probes.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/cpu/pool.h"
#include "engine/measure/step_metrics.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "engine/measure/plateau.h"
#include "engine/train/run.h"

namespace normscope::zoo {
namespace {

constexpr int32_t kSharesSequences = 4;
constexpr double kShareResidual = 0.01;  ///< of float arithmetic; a wrong wiring misses by tenths at least
constexpr auto kTick = std::chrono::milliseconds(100);

using Tasks = std::map<std::string, std::shared_ptr<const Task>>;

/// What belongs to the data in a key: two jobs with the same have one task.
std::string data_key(const RunSpec& spec) {
  std::string key;
  for (const auto& [name, value] : field_values(spec))
    if (name.starts_with("data.")) key += name + "=" + value + "\n";
  return key + std::to_string(spec.model.sequence);
}

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

/// What a step adds to the record.
void note_step(const Run& run, Record& record) {
  const int32_t step = run.steps_done();
  if (step <= Record::kOpening) record.opening.push_back(static_cast<float>(run.last_loss()));
  if (step == Record::kGradientStep) {
    record.gradient_first = number_at(run, "L01.ffn.w2.grad_norm");
    record.gradient_last = number_at(run, fmt::format("L{:02}.ffn.w2.grad_norm", run.spec().model.layers));
  }
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

bool same_opening(const Record& a, const Record& b) {
  return std::equal(a.opening.begin(), a.opening.end(), b.opening.begin(), b.opening.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// Shared by the workers of one visit.
struct Hall {
  Hall(const std::vector<Job>& all, RecordStore& kept, const TrainerOptions& asked)
      : jobs(all), store(kept), options(asked) {
    for (size_t i = 0; i < jobs.size(); ++i)
      if (first.emplace(jobs[i].key, i).second) distinct.push_back(i);
    for (const size_t i : distinct) {
      std::shared_ptr<const Task>& task = tasks[data_key(jobs[i].spec)];
      if (!task) task = make_task(jobs[i].spec.data);
    }
    records.resize(jobs.size());
    partial.resize(jobs.size());
  }

  std::shared_ptr<const Task> task_of(const Job& job) const { return tasks.at(data_key(job.spec)); }

  const std::vector<Job>& jobs;
  RecordStore& store;
  const TrainerOptions& options;
  std::map<std::string, size_t> first;  // job of each key
  std::vector<size_t> distinct;
  Tasks tasks;
  std::vector<std::optional<Record>> records;  // of distinct jobs; each written by one worker
  std::vector<std::optional<Record>> partial;  // believed, with a state beside it
  std::atomic<bool> stop{false};
  std::atomic<int64_t> done{0};
  std::mutex mutex;
  std::condition_variable wake;
  std::exception_ptr error;                   // of the store: ends the visit
  std::map<std::thread::id, size_t> at_work;  // job of each worker
};

/// The first steps of a run, to compare with what the store says of it.
Record opening_of(Hall& hall, const Job& job, Backend& backend) {
  Run run(job.spec, hall.task_of(job), backend);
  run.measure_live(false);
  Record record;
  while (run.steps_done() < std::min(Record::kOpening, job.spec.train.steps) && !run.non_finite()) {
    run.step();
    note_step(run, record);
  }
  return record;
}

void look_up(Hall& hall, size_t index, Backend& backend) {
  const Job& job = hall.jobs[index];
  std::optional<Record> known = hall.store.find(job.key);
  const bool whole = known.has_value();
  if (!known) known = hall.store.find_partial(job.key);
  if (known && same_opening(*known, opening_of(hall, job, backend)))
    (whole ? hall.records : hall.partial)[index] = std::move(known);
  ++hall.done;
}

/// A run to go on with: the interrupted one where there is one, else a fresh one with its shares measured.
std::unique_ptr<Run> begin(Hall& hall, size_t index, Backend& backend, Record& record) {
  const Job& job = hall.jobs[index];
  if (hall.partial[index]) {
    try {
      std::unique_ptr<Run> run = Run::load(hall.store.state_path(job.key), hall.task_of(job), backend);
      if (run->steps_done() == hall.partial[index]->steps) {
        record = *hall.partial[index];
        run->measure_live(false);
        return run;
      }
    } catch (const Error&) {
      // The state beside the record is gone or damaged: from the start.
    }
  }
  auto run = std::make_unique<Run>(job.spec, hall.task_of(job), backend);
  run->measure_live(false);
  measure_shares(*run, record);
  return run;
}

void keep_for_later(Hall& hall, const Job& job, const Run& run, Record& record) {
  const std::string state = hall.store.state_path(job.key);
  if (state.empty() || run.steps_done() < Record::kOpening) return;
  record.steps = run.steps_done();
  run.save(state);
  hall.store.put_partial(job.key, record);
}

void train(Hall& hall, size_t index, Backend& backend) {
  const Job& job = hall.jobs[index];
  const int32_t steps = job.spec.train.steps;
  Record record;
  std::unique_ptr<Run> run;
  try {
    run = begin(hall, index, backend, record);
  } catch (const Error& error) {
    record.verdict = Verdict::Failed;
    record.what = error.what();
    hall.records[index] = record;
    hall.done += steps;
    return;
  }
  hall.done += run->steps_done();
  while (run->steps_done() < steps && !run->non_finite()) {
    if (hall.stop) return keep_for_later(hall, job, *run, record);
    run->step();
    note_step(*run, record);
    ++hall.done;
  }
  hall.done += steps - run->steps_done();
  conclude(*run, record);
  hall.store.put(job.key, record);
  hall.store.drop_partial(job.key);
  hall.records[index] = std::move(record);
}

std::string note_of(const Hall& hall) {
  std::string note;
  for (const auto& [thread, index] : hall.at_work) {
    const Job& job = hall.jobs[index];
    note += fmt::format("{}{}{} seed {}", note.empty() ? "" : ", ", job.spec.name,
                        job.warm ? " with warm-up" : "", job.seed);
  }
  return note;
}

/// Every index of `work` once, on workers of their own; this thread tells the progress.
template <typename Each>
void run_all(Hall& hall, const std::vector<size_t>& work, const Each& each, TrainerProgress progress,
             const std::function<bool(const TrainerProgress&)>& on_progress) {
  std::atomic<size_t> next{0};
  std::atomic<int32_t> busy{0};
  hall.done = 0;
  const auto worker = [&] {
    std::string doing = "zoo";
    try {
      const std::unique_ptr<Backend> backend = make_cpu_backend(hall.options.threads_each);
      for (size_t i = next++; i < work.size() && !hall.stop; i = next++) {
        {
          const std::lock_guard lock(hall.mutex);
          hall.at_work[std::this_thread::get_id()] = work[i];
        }
        doing = "zoo: " + hall.jobs[work[i]].spec.name;
        each(work[i], *backend);
      }
    } catch (...) {
      const std::lock_guard lock(hall.mutex);
      if (!hall.error) hall.error = exception_for_others(doing);
      hall.stop = true;
    }
    const std::lock_guard lock(hall.mutex);
    hall.at_work.erase(std::this_thread::get_id());
    --busy;
    hall.wake.notify_all();
  };
  int32_t count = hall.options.runs_at_a_time > 0 ? hall.options.runs_at_a_time : default_runs_at_a_time();
  count = std::min(count, static_cast<int32_t>(work.size()));
  busy = count;
  {
    std::vector<std::jthread> threads;
    try {
      for (int32_t i = 0; i < count; ++i) threads.push_back(start_thread("zoo", worker));
      std::unique_lock lock(hall.mutex);
      while (busy > 0) {
        hall.wake.wait_for(lock, kTick);
        progress.done = hall.done, progress.note = note_of(hall);
        lock.unlock();
        if (!on_progress(progress)) hall.stop = true;
        lock.lock();
      }
    } catch (...) {
      hall.stop = true;  // the workers put their runs by; then they are joined
      throw;
    }
  }
  if (hall.error) std::rethrow_exception(hall.error);
}

}  // namespace

int32_t default_runs_at_a_time() { return cpu::Pool(0).threads(); }

Visit visit(const std::vector<Job>& jobs, RecordStore& store, const TrainerOptions& options,
            const std::function<bool(const TrainerProgress&)>& on_progress) {
  Hall hall(jobs, store, options);
  Visit out;
  if (!store.folder().empty())
    run_all(
        hall, hall.distinct, [&](size_t index, Backend& backend) { look_up(hall, index, backend); },
        {true, 0, static_cast<int64_t>(hall.distinct.size()), ""}, on_progress);
  std::vector<size_t> missing;
  int64_t steps = 0;
  for (const size_t index : hall.distinct) {
    if (hall.records[index]) continue;
    missing.push_back(index);
    steps += jobs[index].spec.train.steps;
  }
  // Depth by depth and seed by seed, so that what ends early has something of every entry.
  std::map<int32_t, size_t> depth;  // where its jobs begin
  for (size_t i = 0; i < jobs.size(); ++i) depth.emplace(jobs[i].layers, i);
  std::stable_sort(missing.begin(), missing.end(), [&](size_t a, size_t b) {
    return std::pair(depth[jobs[a].layers], jobs[a].seed) < std::pair(depth[jobs[b].layers], jobs[b].seed);
  });
  out.stored = static_cast<int32_t>(hall.distinct.size() - missing.size());
  if (!options.stored_only && !hall.stop)
    run_all(
        hall, missing, [&](size_t index, Backend& backend) { train(hall, index, backend); },
        {false, 0, steps, ""}, on_progress);
  for (const size_t index : missing) out.trained += hall.records[index].has_value();
  out.complete = !hall.stop;
  out.records = std::move(hall.records);
  for (size_t i = 0; i < jobs.size(); ++i) out.records[i] = out.records[hall.first.at(jobs[i].key)];
  return out;
}

}  // namespace normscope::zoo
