// See run.h. The order of a step: edits, batch, inputs, replay, record, verdicts.
#include "training/run/run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/tape/backend.h"
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

Message stuck_words(double mean, double level, const std::string& unit) {
  const std::string line = unit + " frequencies";
  return Plateau::at_level(mean, level) ? Message("stuck at {}", line) : Message("stuck above {}", line);
}

Run::Impl::Impl(RunSpec given, std::shared_ptr<const Task> source, Backend& machine)
    : spec(with_vocabulary(std::move(given), source.get())),
      task(std::move(source)),
      backend(&machine),
      validation(kUnknown) {
  normscope::validate(spec);
  task->require_batch(spec.train.batch, spec.model.sequence);
  origin = spec;
  data = identity_of(spec.data, *task);
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

const LossWarmup* Run::Impl::loss_warmup() const {
  if (losses.empty()) return nullptr;
  const double gap = static_cast<double>(losses.front()) - static_cast<double>(spec.train.schedule.target);
  if (!(gap > 0)) return nullptr;
  const bool orthogonal = rule_of(spec.train.optimizer).orthogonal;
  double directions = 0;
  for (const ParameterInfo& parameter : network->store.parameters()) {
    const Shape& shape = parameter.shape;
    if (shape.rank != 2) continue;
    directions += static_cast<double>(orthogonal ? std::min(shape[0], shape[1]) : shape[0] * shape[1]);
  }
  if (!curve || !curve->is_for(gap, directions)) curve.emplace(gap, directions);
  return &*curve;
}

double Run::Impl::rate(int64_t step) const {
  const Schedule& schedule = spec.train.schedule;
  if (schedule.target <= 0) return learning_rate(schedule, step);
  return learning_rate(schedule, loss_warmup(), std::span(losses).first(static_cast<size_t>(step) - 1));
}

int32_t Run::Impl::warmup_steps() const {
  const Schedule& schedule = spec.train.schedule;
  if (schedule.target <= 0) return schedule.warmup;
  const LossWarmup* warmup = loss_warmup();
  if (!warmup) return losses.empty() ? 1 : 0;
  const int32_t found = steps_of(*warmup, schedule.target, losses);
  return found > 0 ? found : steps + 1;
}

StepInputs Run::Impl::inputs(int64_t step) const {
  const TrainConfig& train = spec.train;
  StepInputs in;
  in.seed = spec.seed;
  in.step = static_cast<uint32_t>(step);
  in.lr = static_cast<float>(rate(step));
  set_update_rule(in, train, step - moments_begin());
  in.clip = train.clip;
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
// in between. The last step is always measured.
void Run::Impl::measure_live(int64_t step) {
  constexpr int64_t kDeviceInterval = 16;
  const int64_t every = backend->on_host() ? live_every : std::max<int64_t>(live_every, kDeviceInterval);
  if (!frame) frame.emplace(*network);
  begin_critical(step);
  looks_at_update = false;
  if (step <= silent_until) return;
  if (!live) return frame->forget();
  if (frame->known && every > 1 && step % every != 1 && step != spec.train.steps) return;
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
  const auto kind = plateau.update(step, loss, level, warmup_steps());
  if (!kind || step <= silent_until) return;
  std::string text = "leaves the plateau";
  if (*kind == RunEvent::Kind::LeftPlateau && plateau.began_below(level)) text = kBeganBelow;
  if (*kind == RunEvent::Kind::Returned) text = "back on the plateau";
  if (*kind == RunEvent::Kind::Stuck) text = stuck_words(plateau.mean(), level, task->unit());
  history->add_event({step, *kind, std::move(text)});
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
const RunIdentity& Run::identity() const { return *impl_; }
const std::vector<float>& Run::losses() const { return impl_->losses; }
const RunSpec& Run::origin() const { return impl_->origin; }
const std::vector<Edit>& Run::edits() const { return impl_->edits; }
const std::vector<Edit>& Run::scheduled() const { return impl_->scheduled; }

void Run::measure_live(bool on, int32_t every) {
  impl_->live = on;
  impl_->live_every = every;
  impl_->settle_critical();
}

Message Run::take_notice() { return std::exchange(impl_->notice, {}); }

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
  return run.steps < run.warmup_steps() ? RunState::WarmingUp : RunState::Training;
}

int32_t Run::warmup_steps() const { return impl_->warmup_steps(); }
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
  static_cast<RunIdentity&>(*made) = from;
  made->losses = from.losses;
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

namespace {

// Whether the keys ask for a new network.
bool any_structural(const std::vector<Edit>& edits) {
  return std::ranges::any_of(edits, [](const Edit& e) { return !is_live(e.key); });
}

// Writes "warm-up 200 → 99".
RunEvent event_of(const Edit& edit, const std::string& before) {
  const Field* field = find_field(edit.key);
  const std::string what = field ? std::string(field->label) : edit.key;
  return {edit.step, RunEvent::Kind::Edited, fmt::format("{} {} → {}", what, before, edit.value)};
}

}  // namespace

void require_same_data(const RunSpec& from, const RunSpec& to) {
  DataSpec a = from.data, b = to.data;
  a.context = b.context = 0;
  if (!(a == b)) fail("run", "another data set cannot be learned on from here: expected a run from step 0");
}

void Run::Impl::note_edit(const Edit& edit, const std::string& before) {
  history->add_event(event_of(edit, before));
}

bool Run::Impl::noting(const Edit& edit) const {
  return history && edit.step > silent_until && edits.size() > noted;
}

std::string Run::Impl::value_before(size_t edit) const {
  RunSpec then = origin;
  for (size_t i = 0; i < edit; ++i) set_field(then, edits[i].key, edits[i].value);
  return get_field(then, edits[edit].key);
}

// Joins two changes of a field without a step in between; they vanish when the value is back.
bool Run::Impl::edit_again(const std::string& key, const std::string& value) {
  size_t i = edits.size();
  while (i > 0 && edits[i - 1].step == steps + 1 && edits[i - 1].key != key) --i;
  if (i == 0 || edits[i - 1].step != steps + 1) return false;
  Edit& edit = edits[i - 1];
  const std::string before = value_before(i - 1);
  const bool told = noting(edit);
  if (told) history->take_back(event_of(edit, before));
  set_field(spec, key, value);
  ++revision;
  if (value == before) {
    edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(i - 1));
    noted = std::min(noted, edits.size());
  } else {
    edit.value = value;
    if (told) note_edit(edit, before);
  }
  return true;
}

bool Run::Impl::any_structural_since(size_t edit) const {
  return any_structural({edits.begin() + static_cast<std::ptrdiff_t>(edit), edits.end()});
}

void Run::Impl::apply(const Edit& edit) {
  const std::string before = get_field(spec, edit.key);
  set_field(spec, edit.key, edit.value);
  edits.push_back(edit);
  ++revision;
  if (noting(edit)) note_edit(edit, before);
}

void Run::Impl::apply_due_edits() {
  std::vector<Edit> due;
  while (!scheduled.empty() && scheduled.front().step <= steps + 1) {
    due.push_back(scheduled.front());
    scheduled.erase(scheduled.begin());
  }
  if (due.empty()) return;
  const RunSpec before = spec;
  for (const Edit& edit : due) apply(edit);
  validate(spec);
  if (any_structural(due)) {
    require_same_data(before, spec);
    task->require_batch(spec.train.batch, spec.model.sequence);
    if (!base) {
      base = std::shared_ptr<const Store>(network, &network->store);
      base_spec = before;
    }
    rebuild();
    memory.forget();
    plateau.begin_anew();
  }
  if (any_structural(due) && edits.size() > noted) {
    auto longer = new_history();
    longer->take_over(*history);
    history = std::move(longer);
  }
  refresh_level();
}

void Run::edit(const std::string& key, const std::string& value) {
  if (!is_live(key)) fail(key, "is part of the network: expected a fork or a restart to change it");
  RunSpec changed = impl_->spec;
  set_field(changed, key, value);
  validate(changed);
  if (get_field(changed, key) == get_field(impl_->spec, key)) return;
  if (!impl_->edit_again(key, get_field(changed, key)))
    impl_->apply({impl_->steps + 1, key, get_field(changed, key)});
  impl_->refresh_level();
  impl_->settle_critical();
}

void Run::schedule_edits(std::vector<Edit> edits) {
  RunSpec trial = impl_->spec;
  edits = portable_edits(trial, std::move(edits));
  std::ranges::stable_sort(edits, {}, &Edit::step);
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].step <= impl_->steps)
      fail("edit", "{} lies in the past: expected a step after {}", to_string(edits[i]), impl_->steps);
    set_field(trial, edits[i].key, edits[i].value);
    if (i + 1 < edits.size() && edits[i + 1].step == edits[i].step) continue;  // made together
    validate(trial);
    require_same_data(impl_->spec, trial);
    impl_->task->require_batch(trial.train.batch, trial.model.sequence);
  }
  ++impl_->revision;
  auto& scheduled = impl_->scheduled;
  scheduled.insert(scheduled.end(), edits.begin(), edits.end());
  std::ranges::stable_sort(scheduled, {}, &Edit::step);
}

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

// Holds at the first step and at every n-th after it, but not at steps that are silently repeated.
bool Run::Impl::critical_due(int64_t step) const {
  const int32_t every = spec.train.critical_every;
  return live && every > 0 && !critical_left_out && step > silent_until && (step - 1) % every == 0;
}

// Frees the memory when the measurement is switched off; switched on again, it may find some.
void Run::Impl::settle_critical() {
  if (live && spec.train.critical_every > 0) return;
  critical.reset();
  critical_left_out = false;
}

// Lets a run whose measurement finds no memory train on without it, to the same bits, and says so once.
// A lost device is reported by require_backend().
void Run::Impl::try_critical(const std::function<void()>& measure) {
  const Message error = guarded("critical rate", measure);
  if (error.empty() || !backend->error().empty()) return;
  critical.reset();
  critical_left_out = true;
  notice = Message("the critical rate is left out: {}", error);
}

void Run::Impl::begin_critical(int64_t step) {
  settle_critical();  // a scheduled edit may have switched it off
  if (!critical_due(step) && rates_asked.empty()) return;
  try_critical([&] {
    if (!critical)
      critical = std::make_unique<CriticalRate>(network->store, spec.model, spec.train.reuse_gradients);
    critical->before(network->store);
  });
}

BatchShape Run::Impl::batch_shape(int64_t step) const {
  return task->shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch,
                     spec.model.sequence);
}

double Run::Impl::critical_rate(Program& program, int64_t step) {
  if (!critical || !critical_due(step)) return kUnknown;
  const BatchShape shape = batch_shape(step);
  double rate = kUnknown;
  try_critical([&] { rate = critical->after(network->store, program, shape, inputs(step)); });
  return rate;
}

void Run::Impl::try_along(Program& program, int64_t step) {
  if (!critical || rates_asked.empty()) return;
  const StepInputs in = inputs(step);
  std::vector<double> multiples(rates_asked.begin(), rates_asked.end());
  for (double& multiple : multiples) multiple /= static_cast<double>(in.lr);
  const BatchShape shape = batch_shape(step);
  try_critical([&] { losses_along = critical->along(network->store, program, shape, in, multiples); });
}

std::vector<double> Run::step_along(std::span<const double> rates) {
  Impl& run = *impl_;
  if (rates.empty()) fail("rates", "there are none: expected one at least");
  const int32_t before = run.steps;
  run.losses_along.clear();
  struct Asked {
    Impl& run;
    ~Asked() {
      run.rates_asked = {};
      run.settle_critical();  // a run that does not measure it gives the memory back
    }
  } const asked{run};
  run.rates_asked = rates;
  step();
  if (run.steps == before) fail("step", "the run is not finite: expected one that can make a step");
  if (!(run.inputs(run.steps).lr > 0)) fail("step", "it has no update: expected a learning rate above 0");
  if (run.losses_along.empty()) fail("step", "no other rate was tried: {}", take_notice());
  return std::move(run.losses_along);
}

}  // namespace normscope
