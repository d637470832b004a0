// See run.h. The order of a step: edits, batch, inputs, replay, record, verdicts.
#include "training/run/run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/core/error.h"
#include "training/measure/look.h"
#include "training/measure/verdict.h"
#include "training/run/run_impl.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

RunSpec with_vocabulary(RunSpec spec, const Task* task) {
  if (!task) fail("run", "there is no data: expected a task");
  fit_to_data(spec, *task);
  return spec;
}

// The cross-entropy of the best constant prediction of targets smoothed by e: the entropy of
// (1-e) p + e/V.
double smoothed_entropy(std::span<const double> p, double e) {
  double sum = 0;
  for (double probability : p) {
    const double q = (1 - e) * probability + e / static_cast<double>(p.size());
    if (q > 0) sum -= q * std::log(q);
  }
  return sum;
}

}  // namespace

const char* to_string(RunState state) {
  switch (state) {
    case RunState::Training:
      return "training";
    case RunState::WarmingUp:
      return "warming up";
    case RunState::Learning:
      return "learning";
    case RunState::Stuck:
      return "stuck";
    case RunState::NonFinite:
      return "not finite";
    case RunState::Finished:
      return "finished";
  }
  return "?";
}

std::string stuck_words(double mean, double level, const std::string& unit) {
  return fmt::format("stuck {} {} frequencies", Plateau::at_level(mean, level) ? "at" : "above", unit);
}

Run::Impl::Impl(RunSpec given, std::shared_ptr<const Task> data, Backend& machine)
    : spec(with_vocabulary(std::move(given), data.get())),
      task(std::move(data)),
      backend(&machine),
      validation(kUnknown) {
  normscope::validate(spec);
  task->require_batch(spec.train.batch, spec.model.sequence);
  origin = spec;
}

void Run::Impl::refresh_level() {
  level = smoothed_entropy(task->unigram(), static_cast<double>(spec.train.label_smoothing));
}

void Run::Impl::drop_programs() {
  validator.reset();
  critical.reset();
  critical_left_out = false;
  line_writer.reset();
  frame.reset();
}

void Run::Impl::rebuild() {
  drop_programs();
  network = build_network(spec, *task, *backend, steps + 1, base.get(), base ? &base_spec : nullptr);
}

Program& Run::Impl::program_with_batch(int64_t step) {
  const auto number = static_cast<uint64_t>(step);
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  const BatchShape shape = batch_shape(step);
  Program& program = network->program_for(shape, spec);
  task->fill(spec.seed, number, Split::Train, B, T, inputs_of(program, shape));
  memory.fill(program, network->values.memories, task->goes_on(number, Split::Train, B, T));
  return program;
}

// The step after which the moments were zero: the start, or a change to an optimizer whose moments
// have another meaning.
int64_t Run::Impl::moments_begin() const {
  Optimizer before = origin.train.optimizer, now = before;
  int64_t begin = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].key == "train.optimizer") now = optimizer_from(edits[i].value);
    if (i + 1 < edits.size() && edits[i + 1].step == edits[i].step) continue;  // made together
    if (!shares_moments(before, now)) begin = edits[i].step - 1;
    before = now;
  }
  return begin;
}

StepInputs Run::Impl::inputs(int64_t step) const {
  const TrainConfig& train = spec.train;
  StepInputs in;
  in.seed = spec.seed;
  in.step = static_cast<uint32_t>(step);
  in.lr = static_cast<float>(learning_rate(train.schedule, step));
  set_update_rule(in, train, step - moments_begin());
  in.clip = train.clip;
  in.qk_clip = train.qk_clip;
  in.label_smoothing = train.label_smoothing;
  set_dropout(in, spec.model);
  return in;
}

void Run::Impl::record(Program& program, int64_t step, double rate) {
  const double loss = program.loss();
  losses.push_back(static_cast<float>(loss));
  if (step <= silent_until) return;
  std::ranges::copy(program.stats(), frame->replayed().begin());
  history->append(static_cast<int32_t>(step), loss, rate, frame->numbers());
}

// Measures every few steps on a device, where every tensor is a copy that waits, and repeats the numbers
// in between.
void Run::Impl::measure_live(int64_t step) {
  constexpr int64_t kDeviceInterval = 16;
  if (!frame) frame.emplace(*network);
  begin_critical(step);
  looks_at_update = false;
  if (step <= silent_until) return;
  if (!live) return frame->forget();
  if (frame->known && !backend->on_host() && step % kDeviceInterval != 1) return;
  if (network->measured) network->measured->measure(frame->measured());
  network->updates->before();
  looks_at_update = frame->known = true;
}

void Run::Impl::measure_update(Program& program, const StepInputs& inputs) {
  if (looks_at_update) network->updates->after(program, inputs, frame->updates());
}

std::shared_ptr<History> Run::Impl::new_history() const {
  return std::make_shared<History>(Frame(*network).layout(), frames_budget);
}

void Run::Impl::recognise(int32_t step, double loss) {
  const auto add = [&](RunEvent::Kind kind, std::string text) {
    if (step > silent_until) history->add_event({step, kind, std::move(text)});
  };
  switch (plateau.update(step, loss, level, spec.train.schedule.warmup)) {
    case Plateau::Change::None:
      break;
    case Plateau::Change::LeftPlateau:
      add(RunEvent::Kind::LeftPlateau, plateau.began_below(level) ? kBeganBelow : "leaves the plateau");
      break;
    case Plateau::Change::Returned:
      add(RunEvent::Kind::Returned, "back on the plateau");
      break;
    case Plateau::Change::Stuck:
      add(RunEvent::Kind::Stuck, stuck_words(plateau.mean(), level, task->unit()));
      break;
    case Plateau::Change::Unstuck:
      add(RunEvent::Kind::Unstuck, "leaves the plateau");
      break;
  }
}

void Run::Impl::check_finite(const Program& program, int32_t step) {
  const std::span<const double> stats = program.stats();
  // A sum is finite only if every term is (norms and losses are far from overflow in double).
  if (std::isfinite(std::accumulate(stats.begin(), stats.end(), 0.0))) return;
  for (const FiniteCheck& check : network->checks)
    if (!std::isfinite(stats[static_cast<size_t>(check.stat)])) {
      broken = NonFiniteReport{check.layer, check.tensor, step};
      history->add_event({step, RunEvent::Kind::NonFinite, "not finite: " + check.tensor});
      return;
    }
}

void Run::Impl::start_from_weights() {
  if (spec.train.init_from.empty()) return;
  const int32_t fitted = load_weights(spec.train.init_from, network->store);
  history->add_event({0, RunEvent::Kind::Started,
                      fmt::format("{} of {} tensors from {}", fitted, network->store.parameters().size(),
                                  spec.train.init_from)});
}

Writer& Run::Impl::writer(int32_t line_length) {
  if (!line_writer || line_writer->line_length() != line_length)
    line_writer = std::make_unique<Writer>(network->store, spec.model, *task, spec.seed, line_length);
  return *line_writer;
}

Run::Run(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend)
    : impl_(std::make_unique<Impl>(std::move(spec), std::move(task), backend)) {
  impl_->rebuild();
  impl_->history = impl_->new_history();
  impl_->history->add_event({0, RunEvent::Kind::Started, ""});
  impl_->start_from_weights();
  impl_->refresh_level();
}

Run::Run(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Run::~Run() = default;

void Run::step() {
  Impl& run = *impl_;
  if (run.broken) return;
  run.apply_due_edits();
  run.base.reset();
  const int32_t step = run.steps + 1;
  Program& program = run.program_with_batch(step);
  const StepInputs inputs = run.inputs(step);
  run.measure_live(step);
  program.replay(inputs);
  run.measure_update(program, inputs);
  run.memory.take(program, run.network->values.memories);
  run.frame->critical_rate() = run.critical_rate(program, step);
  run.try_along(program, step);
  run.require_backend();  // nothing is kept of a failed step
  run.steps = step;
  run.network->newest = &program;
  run.record(program, step, static_cast<double>(inputs.lr));
  run.recognise(step, program.loss());
  run.check_finite(program, step);
  run.keyframes.after_step(step, run.edits.size(), run.network->store, run.plateau.state(),
                           run.memory.state());
  run.keep_snapshot();
  if (step == run.spec.train.steps && step > run.silent_until)
    run.history->add_event({step, RunEvent::Kind::Finished, "finished"});
}

int32_t Run::steps_done() const { return impl_->steps; }
const RunSpec& Run::spec() const { return impl_->spec; }
std::vector<Edit> RunPast::all_edits() const {
  std::vector<Edit> all = edits;
  all.insert(all.end(), scheduled.begin(), scheduled.end());
  return all;
}

const RunPast& Run::past() const { return *impl_; }
const RunSpec& Run::origin() const { return impl_->origin; }
const std::vector<Edit>& Run::edits() const { return impl_->edits; }
const std::vector<Edit>& Run::scheduled() const { return impl_->scheduled; }

void Run::measure_live(bool on) {
  impl_->live = on;
  impl_->settle_critical();
}

std::string Run::take_notice() { return std::exchange(impl_->notice, {}); }

void Run::set_budget(int32_t steps) {
  impl_->spec.train.steps = impl_->origin.train.steps = steps;
  ++impl_->revision;
}

void Run::set_name(const std::string& name) {
  impl_->spec.name = impl_->origin.name = name;
  ++impl_->revision;
}

uint64_t Run::revision() const { return impl_->revision; }

RunState Run::state() const {
  const Impl& run = *impl_;
  if (run.broken) return RunState::NonFinite;
  if (run.plateau.stuck()) return RunState::Stuck;
  if (run.steps >= run.spec.train.steps) return RunState::Finished;
  if (learning_since() > 0) return RunState::Learning;
  return run.steps < run.spec.train.schedule.warmup ? RunState::WarmingUp : RunState::Training;
}

int32_t Run::learning_since() const { return impl_->plateau.decided() ? impl_->plateau.learning_since() : 0; }
std::optional<NonFiniteReport> Run::non_finite() const { return impl_->broken; }
double Run::last_loss() const {
  return impl_->losses.empty() ? kUnknown : static_cast<double>(impl_->losses.back());
}
double Run::plateau_level() const { return impl_->level; }
double Run::last_validation_loss() const { return impl_->validation; }
const std::shared_ptr<History>& Run::history() const { return impl_->history; }
const Task& Run::task() const { return *impl_->task; }
Store& Run::store() { return impl_->network->store; }
Program& Run::program() {
  Network& network = *impl_->network;
  return network.newest ? *network.newest : *network.program;
}

std::unique_ptr<Run> Run::fork(const RunSpec& changed) const {
  const Impl& from = *impl_;
  if (from.broken)
    fail("fork", "the weights are not finite since step {}: expected a fork from step 0", from.broken->step);
  const RunSpec target = with_vocabulary(changed, from.task.get());
  require_same_data(from.spec, target);
  auto made = std::make_unique<Impl>(target, from.task, *from.backend);
  static_cast<RunPast&>(*made) = from;
  made->steps = from.steps;
  for (Edit& edit : edits_between(from.spec, target, from.steps + 1)) {  // recorded for a replay
    made->edits.push_back(std::move(edit));
    ++made->revision;
  }
  // See Note [changes between two steps]; a copy, because the source trains on.
  made->base = from.base ? from.base : std::make_shared<const Store>(from.network->store.clone());
  made->base_spec = from.base ? from.base_spec : from.spec;
  made->rebuild();
  made->history = made->new_history();
  made->history->add_event({from.steps, RunEvent::Kind::Forked, "forked"});
  made->plateau = from.plateau;
  made->plateau.begin_anew();
  // A changed network cannot use another's memory: it begins with an empty one, here and in a replay.
  if (!made->any_structural_since(from.edits.size())) made->memory = from.memory;
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
