#include "addons/tape-screen/app/step_worker.h"

#include <algorithm>
#include <limits>

#include "app/words/words.h"
#include "engine/core/boundary.h"

namespace normscope::tape_screen {
namespace {

constexpr int kRepeats = 3;          // replays of a pass; its time is their median
constexpr double kRoofBudget = 0.1;  // seconds that each roof is measured for

bool changes_nothing(const ProgramChange& change) {
  return std::ranges::all_of(change.all,
                             [](const InstructionChange& one) { return one.op == OpKind::Probe; });
}

void copy_inputs(StepPlayer& from, Program& to) {
  for (const ValueInfo& value : from.data().values) {
    if (value.role != Role::Input) continue;
    if (value.dtype == DType::I32) {
      const std::span<const int32_t> batch = from.program().tokens(value.name);
      std::ranges::copy(batch, to.tokens(value.name).begin());
    } else {
      const std::span<const float> batch = from.program().floats(value.name);
      std::ranges::copy(batch, to.floats(value.name).begin());
    }
  }
}

}  // namespace

StepProgram::StepProgram(const RunSpec& spec, const BatchShape& shape, bool reuse_gradients, Backend& backend)
    : store_(backend) {
  RunSpec step = spec;
  step.train.reuse_gradients = reuse_gradients;
  program_.emplace(training_program(store_, step, shape));
}

StepWorker::StepWorker(std::function<void()> on_change, bool times)
    : on_change_(std::move(on_change)), times_(times), thread_(start_thread("tape", [this] { loop(); })) {}

StepWorker::~StepWorker() {
  const std::lock_guard lock(mutex_);
  quit_ = true;
  wake_.notify_all();
}

void StepWorker::take(std::shared_ptr<PlayedStep> step) {
  const std::lock_guard lock(mutex_);
  todo_.step = std::move(step);
  todo_.check.reset();
  wake_.notify_all();
}

void StepWorker::show(size_t instruction, int64_t sequence) {
  const std::lock_guard lock(mutex_);
  todo_.at = At{instruction, sequence};
  todo_.check.reset();
  wake_.notify_all();
}

void StepWorker::check(std::optional<Element> element) {
  const std::lock_guard lock(mutex_);
  todo_.check = element;
  wake_.notify_all();
}

std::shared_ptr<const TapeState> StepWorker::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool StepWorker::busy() const {
  const std::lock_guard lock(mutex_);
  return todo_.any() || asked_;
}

/// Whether a newer request makes the work under way useless.
bool StepWorker::newer() const {
  const std::lock_guard lock(mutex_);
  return quit_ || todo_.any();
}

void StepWorker::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return !todo_.any() && !working_; });
}

void StepWorker::publish() {
  auto state = std::make_shared<const TapeState>(made_);
  {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }
  if (on_change_) on_change_();
}

void StepWorker::loop() {
  while (true) {
    Todo todo;
    {
      std::unique_lock lock(mutex_);
      working_ = asked_ = false;
      const auto has_work = [this] { return todo_.any() || wants_pass(); };
      if (!has_work()) idle_.notify_all();
      wake_.wait(lock, [&] { return quit_ || has_work(); });
      if (quit_) break;
      working_ = true;
      todo = std::exchange(todo_, {});
      asked_ = todo.any();
    }
    const bool other_step = todo.step != nullptr;
    made_.error = guarded("playing a step", [&] { carry_out(todo); });
    if (!made_.error.empty() && other_step) leave_step();
    if (!made_.error.empty() && passes_left_ > 0) {
      passes_left_ = 0;
      seconds_.clear();
    }
    publish();
  }
  timing_.reset();  // ends before the step's backend does
}

void StepWorker::carry_out(Todo& todo) {
  const bool asked = todo.any();
  if (todo.step) begin(std::move(todo.step));
  if (!step_) return;
  if (todo.at) at_ = *todo.at;
  if (todo.at || todo.step || !made_.shown || made_.shown->step != step_->ticket) look();
  if (todo.check && made_.shown)
    if (auto checked = checked_of(*step_->player, *made_.shown, *todo.check, [this] { return newer(); }))
      made_.checked = std::make_shared<const ElementCheck>(*std::move(checked));
  if (!asked) time_pass();
}

/// Forgets a step that cannot be shown, so that no earlier one is shown instead.
void StepWorker::leave_step() {
  timing_.reset();
  step_.reset();
  made_.facts.reset();
  made_.shown.reset();
  made_.checked.reset();
}

void StepWorker::begin(std::shared_ptr<PlayedStep> step) {
  timing_.reset();
  step_.reset();  // frees the memory before the next step's maps are made
  StepPlayer& player = *step->player;
  auto facts = std::make_shared<StepFacts>();
  facts->number = step->ticket;
  facts->letter = step->letter;
  facts->step = step->step;
  facts->spec = step->spec;
  facts->program = player.data();
  facts->program.store = nullptr;
  plan(*step, *facts);
  note_change(*step, *facts);
  facts->timed = !seconds_.empty() && passes_left_ == 0;
  facts->fold =
      fold(player.data(), facts->timed ? std::span<const double>(seconds_) : std::span<const double>());
  if (facts->timed && roof_) facts->roof = *roof_;
  measure_gradients(facts->fold, player);
  facts->loss = player.program().loss();
  facts->broken = player.seek_not_finite();
  if (facts->broken) facts->broken_tensor = player.name(facts->broken->tensor);
  made_.facts = std::move(facts);
  made_.shown.reset();
  made_.checked.reset();
  step_ = std::move(step);
}

/// Keeps maps and times of the previous step if specification and shape are the same.
void StepWorker::plan(const PlayedStep& step, StepFacts& facts) {
  const bool known = planned_ && *planned_ == *step.spec && planned_shape_ == step.shape;
  if (!known) {
    planned_.reset();
    seconds_.clear();
    passes_left_ = times_ ? kPasses : 0;
    const auto map_of = [&](bool reuse) {
      const StepProgram program(*step.spec, step.shape, reuse, *step.backend);
      return std::make_shared<const MemoryMap>(memory_map(program.data()));
    };
    readable_ = map_of(false);
    shared_ = map_of(true);
    planned_ = *step.spec;
    planned_shape_ = step.shape;
  }
  facts.readable = readable_;
  facts.shared = shared_;
}

/// Compares a fork with its origin, and any other run with itself before its last change. Runs that replaced others
/// have no earlier form.
void StepWorker::note_change(const PlayedStep& step, StepFacts& facts) {
  const RunSpec& now = *step.spec;
  if (std::exchange(generation_, step.generation) != step.generation) known_.clear();
  const auto [at, fresh] = known_.try_emplace(step.letter, KnownStep{now, {}, {}});
  KnownStep& known = at->second;
  const auto change_from = [&](const RunSpec& before) {
    const StepProgram old(before, step.shape, false, *step.backend),
        own(now, step.shape, false, *step.backend);
    return change_of(old.data(), own.data());
  };
  try {
    if (step.source_spec) {
      known.before = *step.source_spec;
      known.from = tr("run {run}", {{"run", step.source}});
    } else if (!fresh && !(known.last == now) && !changes_nothing(change_from(known.last))) {
      known.before = known.last;
      known.from = tr("run {run} before the change", {{"run", step.letter}});
    }
    known.last = now;
    if (!known.before) return;
    facts.change = change_from(*known.before);
    if (!changes_nothing(facts.change)) facts.change_from = known.from;
  } catch (const Error&) {  // a model that does not read this batch has nothing in common with it
    known.before.reset();
    known.last = now;
  }
}

void StepWorker::look() {
  StepPlayer& player = *step_->player;
  const size_t instruction = std::min(at_.instruction, player.size() - 1);
  player.seek(instruction + 1);
  InstructionView shown = shown_of(player, instruction, at_.sequence);
  shown.step = step_->ticket;
  made_.shown = std::make_shared<const InstructionView>(std::move(shown));
  made_.checked.reset();
}

/// Makes the run's program with parameters of its own, so that it cannot change the player's tensors.
void StepWorker::prepare_timing() {
  const MachinePeak machine = measure_machine_peak(1, kRoofBudget);
  const Roofline before = roof_.value_or(Roofline{});  // training during the measurement can only lower it
  roof_ = Roofline{std::max(before.flops, 1e9 * machine.gflops),
                   std::max(before.bytes, 1e9 * machine.bandwidth_gbs)};
  timing_ = std::make_unique<StepProgram>(*step_->spec, step_->shape, step_->spec->train.reuse_gradients,
                                          *step_->backend);
  copy_inputs(*step_->player, timing_->program());
}

void StepWorker::time_pass() {
  if (!timing_) prepare_timing();
  StepInputs inputs = step_->player->inputs();
  inputs.lr = 0;
  const std::vector<InstructionProfile> rows = profile(timing_->program(), inputs, kRepeats);
  if (rows.size() != step_->player->size())
    fail("tape", "{} times for {} instructions: expected one each", rows.size(), step_->player->size());
  if (seconds_.empty()) seconds_.resize(rows.size(), std::numeric_limits<double>::max());
  for (size_t i = 0; i < rows.size(); ++i) seconds_[i] = std::min(seconds_[i], rows[i].seconds);
  if (--passes_left_ > 0) return;
  timing_.reset();
  auto facts = std::make_shared<StepFacts>(*made_.facts);
  Fold timed = fold(step_->player->data(), seconds_);
  for (size_t i = 0; i < timed.lines.size(); ++i) timed.lines[i].gradient = facts->fold.lines[i].gradient;
  facts->fold = std::move(timed);
  facts->timed = true;
  facts->roof = *roof_;
  made_.facts = std::move(facts);
}

}  // namespace normscope::tape_screen
