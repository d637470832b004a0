// The order of a step: edits, batch, inputs, replay, record, verdicts. Further down, copies and moves of a run: to one
// of its earlier steps, to another backend (with its weights while the old backend works, or else from the newest
// snapshot on the host), to a record and back, or to a player of its next step.
#include "training/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/machine.h"
#include "engine/model/transformer.h"
#include "engine/tape/backend.h"
#include "training/data/content_hash.h"
#include "training/measure/look.h"
#include "training/measure/step/step_player.h"
#include "training/measure/verdict.h"
#include "training/run/checkpoint.h"
#include "training/run/critical_rate.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"
#include "training/spec/schedule.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

/// A number that is not known yet.
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

RunSpec with_vocabulary(RunSpec spec, const Task* task) {
  if (!task) fail("run", "there is no data: expected a task");
  fit_to_data(spec, *task);
  return spec;
}

// The cross-entropy of the best constant prediction of targets smoothed by e: the entropy of (1-e) p + e/V.
double smoothed_entropy(std::span<const double> p, double e) {
  double sum = 0;
  for (double probability : p) {
    const double q = (1 - e) * probability + e / static_cast<double>(p.size());
    if (q > 0) sum -= q * std::log(q);
  }
  return sum;
}

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

/// Throws where a run of `from` cannot learn on with the data of `to`.
void require_same_data(const RunSpec& from, const RunSpec& to) {
  DataSpec a = from.data, b = to.data;
  a.context = b.context = 0;
  if (!(a == b)) fail("run", "another data set cannot be learned on from here: expected a run from step 0");
}

/// Finds the numbers of a saved history in this layout, by name; nothing where a name is unknown here, or out of order.
std::vector<int32_t> places_of(const std::vector<StatInfo>& saved, const std::vector<StatInfo>& layout) {
  std::vector<int32_t> places;
  size_t place = 0;
  for (const StatInfo& stat : saved) {
    while (place < layout.size() && layout[place].name != stat.name) ++place;
    if (place == layout.size()) return {};
    places.push_back(static_cast<int32_t>(place++));
  }
  return places;
}

/// Fills a history that has no step yet. Of a version that measured less it keeps the frames, in which the other
/// numbers are unknown. It leaves frames out whose numbers are others, or so few that the frames would be larger here
/// than any history.
void fill(History& history, const History& saved) {
  const size_t width = history.layout().size();
  const std::vector<int32_t> places = places_of(saved.layout(), history.layout());
  const FrameBlock frames = saved.frames(std::numeric_limits<int32_t>::max(), saved.bytes() + 1);
  if (places.size() == width)
    history.restore_frames(frames);
  else if (!places.empty() &&
           (frames.steps.size() + 4 * frames.gone.size()) * width * sizeof(float) <= kHistoryBudget)
    history.restore_frames(spread(frames, places, width));
  history.take_over(saved);
}

/// What the losses up to `step` have said: it holds for a copy that goes on from there, too.
void take_verdicts(History& to, const History& from, int32_t step) {
  using Kind = RunEvent::Kind;
  for (RunEvent& event : from.events())
    if (event.step <= step &&
        (event.kind == Kind::LeftPlateau || event.kind == Kind::BeganBelow || event.kind == Kind::Returned ||
         event.kind == Kind::Stuck || event.kind == Kind::Unstuck))
      to.add_event(std::move(event));
}

constexpr int32_t kSnapshotInterval = 50;  // steps; keyframes come more often where their bytes allow it

void copy_blocks(const Store& from, Store& to) {
  if (from.size() != to.size())
    fail("run", "{} numbers do not fit a network of {}: expected the same specification", from.size(),
         to.size());
  std::vector<float> all(from.size());
  for (const Store::Block block : kTrainedBlocks) {
    from.backend().download(from.block(block), 0, all);
    to.backend().upload(to.block(block), 0, all);
  }
}

}  // namespace

/// Holds the numbers of a step in the order of the history, each section under its name. All are unknown
/// (NaN) until they are filled.
class Frame {
 public:
  explicit Frame(Network& network) : replayed_(network.program->data().stats.size()) {
    layout_ = network.program->data().stats;
    if (network.measured)
      layout_.insert(layout_.end(), network.measured->layout().begin(), network.measured->layout().end());
    measured_ = layout_.size() - replayed_;
    layout_.insert(layout_.end(), network.updates->layout().begin(), network.updates->layout().end());
    updated_ = layout_.size();
    layout_.insert(layout_.end(), network.tokens->layout().begin(), network.tokens->layout().end());
    layout_.push_back({kCriticalStat, 0});
    numbers_.assign(layout_.size(), kNotKnown);
  }
  const std::vector<StatInfo>& layout() const { return layout_; }
  const std::vector<double>& numbers() const { return numbers_; }

  std::span<double> replayed() { return std::span(numbers_).first(replayed_); }  ///< the program's stats
  /// The numbers of the measured sequence at the weights that the step begins with; empty without sub-layers.
  std::span<double> measured() { return std::span(numbers_).subspan(replayed_, measured_); }
  /// The numbers of what the step did to the weights.
  std::span<double> updates() {
    const size_t first = replayed_ + measured_;
    return std::span(numbers_).subspan(first, updated_ - first);
  }
  /// The numbers of what the step's batch tells apart.
  std::span<double> tokens() { return std::span(numbers_).subspan(updated_, numbers_.size() - 1 - updated_); }
  /// Makes the numbers of these three unknown.
  void forget() {
    for (const std::span<double> numbers : {measured(), updates(), tokens()})
      std::ranges::fill(numbers, kNotKnown);
    known = knows_tokens = false;
  }
  bool known = false;         ///< the first two hold a step's numbers
  bool knows_tokens = false;  ///< the third does
  double& critical_rate() { return numbers_.back(); }

 private:
  std::vector<StatInfo> layout_;
  size_t replayed_, measured_, updated_;
  std::vector<double> numbers_;
};

struct Run::Impl : RunIdentity {
  Impl(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend);

  // Edits.
  void apply_due_edits() {
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

  /// Whether edit number `edit` or a later one is structural.
  bool any_structural_since(size_t edit) const {
    return any_structural({edits.begin() + static_cast<std::ptrdiff_t>(edit), edits.end()});
  }

  /// Applies an edit to the spec and the records, not to the network.
  void apply(const Edit& edit) {
    const std::string before = get_field(spec, edit.key);
    set_field(spec, edit.key, edit.value);
    edits.push_back(edit);
    ++revision;
    if (noting(edit)) note_edit(edit, before);
  }

  /// Builds the network of the present spec.
  void rebuild() {
    drop_programs();
    network = build_network(spec, *task, *backend, steps + 1, base.get(), base ? &base_spec : nullptr);
  }

  void note_edit(const Edit& edit, const std::string& before) { history->add_event(event_of(edit, before)); }

  /// Whether the history records the edit: not while steps are repeated.
  bool noting(const Edit& edit) const { return history && edit.step > silent_until && edits.size() > noted; }

  std::string value_before(size_t edit) const {
    RunSpec then = origin;
    for (size_t i = 0; i < edit; ++i) set_field(then, edits[i].key, edits[i].value);
    return get_field(then, edits[edit].key);
  }

  // Joins two changes of a field without a step in between; they vanish when the value is back.
  bool edit_again(const std::string& key, const std::string& value) {
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

  // A step.

  /// The program for the shape of the step's batch, filled with that batch.
  Program& program_with_batch(int64_t step) {
    const auto number = static_cast<uint64_t>(step);
    const int32_t B = spec.train.batch, T = spec.model.sequence;
    const BatchShape shape = batch_shape(step);
    Program& program = network->program_for(shape, spec);
    task->fill(spec.seed, number, Split::Train, B, T, inputs_of(program, shape));
    memory.fill(program, network->values.memories, task->goes_on(number, Split::Train, B, T));
    return program;
  }

  BatchShape batch_shape(int64_t step) const {
    return task->shape(spec.seed, static_cast<uint64_t>(step), Split::Train, spec.train.batch,
                       spec.model.sequence);
  }

  StepInputs inputs(int64_t step) const {
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

  /// The curve of a schedule with a target; null without a loss yet, or where the first is not above the target.
  const LossWarmup* loss_warmup() const {
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

  double rate(int64_t step) const {
    const Schedule& schedule = spec.train.schedule;
    if (schedule.target <= 0) return learning_rate(schedule, step);
    return learning_rate(schedule, loss_warmup(), std::span(losses).first(static_cast<size_t>(step) - 1));
  }

  int32_t warmup_steps()
      const;  ///< in which no run counts as stuck; more than `steps` while a warm-up goes on

  // The step after which the moments were zero: the start, or a change to an optimizer whose moments
  // have another meaning.
  int64_t moments_begin() const {
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

  /// Throws DeviceError when the device is lost.
  void require_backend() const {
    if (!backend->error().empty()) backend->wait();  // throws DeviceError with the reason
  }

  /// A run at the step of `frame`, or at step 0, with the edits of `past` that are applied there. It has no history and
  /// no losses yet, and does not take weights from a keyframe without blocks. Throws Error for a keyframe of another
  /// network.
  static std::unique_ptr<Impl> standing_at(const Keyframe* frame, RunIdentity past,
                                           std::shared_ptr<const Task> task, Backend& backend) {
    auto run = std::make_unique<Impl>(past.spec(), std::move(task), backend);
    fit_to_data(past.origin, *run->task);
    past.data = run->data;
    if (past.weights.empty()) past.weights = run->weights;
    run->steps = frame ? frame->step : 0;
    past.go_on(backend, run->steps);
    static_cast<RunIdentity&>(*run) = std::move(past);
    run->rebuild();
    if (frame) {
      if (!frame->blocks[0].empty()) restore(*frame, run->network->store);
      run->plateau.restore(frame->plateau);
      run->memory.restore(frame->memory);
    }
    run->refresh_level();
    return run;
  }

  /// A run at the end of `record`, with everything in it except its history.
  static std::unique_ptr<Impl> standing_at(const RunRecord& record, std::shared_ptr<const Task> task,
                                           Backend& backend) {
    auto run = standing_at(record.end.get(), record, std::move(task), backend);
    run->keyframes.take_over(record.frames);
    if (record.base) run->rest_on(*record.base);
    run->losses = record.losses;
    run->broken = record.broken;
    run->measured_every = record.measured_every;
    const Series validation = record.history->validation();
    if (!validation.values.empty()) run->validation = static_cast<double>(validation.values.back());
    return run;
  }

  /// Takes these weights for those that the last step left, before the edits that came since.
  void rest_on(const Keyframe& frame) {
    base_spec = origin;
    for (size_t i = 0; i < frame.edits; ++i) set_field(base_spec, edits[i].key, edits[i].value);
    std::shared_ptr<Network> made = build_network(base_spec, *task, *backend, steps + 1);
    restore(frame, made->store);
    base = std::shared_ptr<const Store>(made, &made->store);
  }

  /// A keyframe of the present state.
  std::shared_ptr<const Keyframe> keyframe() const {
    return take_keyframe(steps, edits.size(), network->store, plateau.state(), memory.state());
  }

  const Keyframe* newest_snapshot() const {
    const Keyframe* frame = keyframes.before(steps);
    return snapshot && (!frame || snapshot->step > frame->step) ? snapshot.get() : frame;
  }

  // Makes sure that the host has a recent state: a device may be lost in any step.
  void keep_snapshot() {
    if (backend->on_host()) return;
    const Keyframe* frame = newest_snapshot();
    if (frame && steps - frame->step < kSnapshotInterval) return;
    snapshot = keyframe();
  }

  void take_network(Backend& to, std::shared_ptr<Network> made) {
    drop_programs();
    network = std::move(made);
    backend = &to;
  }

  /// Drops the programs over the network, which is about to be replaced.
  void drop_programs() {
    validator.reset();
    critical.reset();
    critical_left_out = false;
    line_writer.reset();
    frame.reset();
  }

  void record(Program& program, int64_t step, double rate) {
    const double loss = program.loss();
    losses.push_back(static_cast<float>(loss));
    if (step <= silent_until) return;
    std::ranges::copy(program.stats(), frame->replayed().begin());
    history->append(static_cast<int32_t>(step), loss, rate, frame->numbers());
  }

  // Measures every few steps on a device, where every tensor is a copy that waits, and repeats the numbers
  // in between. The last step is always measured.
  void measure_live(int64_t step) {
    const int32_t every = live_interval(*backend, live_every);
    if (!frame) frame.emplace(*network);
    begin_critical(step);
    looks_at_update = false;
    if (step <= silent_until) return;
    measured_every = std::lcm(measured_every, live ? every : 0);
    if (!live) return frame->forget();
    if (frame->known && every > 1 && step % every != 1 && step != spec.train.steps) return;
    if (network->measured) network->measured->measure(frame->measured());
    network->updates->before();
    looks_at_update = frame->known = true;
  }

  /// Measures the update of the step just replayed if measure_live() measured its start.
  void measure_update(Program& program, const StepInputs& inputs) {
    if (looks_at_update) network->updates->after(program, inputs, frame->updates());
  }

  /// Measures the batch of the step just replayed at every fourth step, as that costs more, and at the last; between
  /// them the numbers are repeated, by a run that goes on from a file or a keyframe too.
  void measure_tokens(Program& program, int64_t step) {
    constexpr int64_t kEvery = 4;
    if (!looks_at_update) return;
    const bool due = (step - 1) % kEvery == 0 || step == spec.train.steps;
    if (!due && (frame->knows_tokens || repeat_tokens(step))) return;
    network->tokens->measure(program, frame->tokens());
    frame->knows_tokens = true;
  }
  /// Takes the numbers of the step before from the history, if it has them.
  bool repeat_tokens(int64_t step) {
    std::vector<float> before;
    int32_t found = 0;
    if (!history->frame(static_cast<int32_t>(step - 1), before, found) || found != step - 1 ||
        before.size() != frame->numbers().size())
      return false;
    const std::span<double> tokens = frame->tokens();
    std::copy_n(before.end() - 1 - std::ssize(tokens), tokens.size(), tokens.begin());
    frame->knows_tokens = std::ranges::any_of(tokens, [](double number) { return std::isfinite(number); });
    return frame->knows_tokens;
  }

  // Holds at the first step and at every n-th after it, but not at steps that are silently repeated.
  bool critical_due(int64_t step) const {
    const int32_t every = spec.train.critical_every;
    return live && every > 0 && !critical_left_out && step > silent_until && (step - 1) % every == 0;
  }

  void begin_critical(int64_t step) {
    settle_critical();  // a scheduled edit may have switched it off
    if (!critical_due(step) && rates_asked.empty()) return;
    try_critical([&] {
      if (!critical)
        critical = std::make_unique<CriticalRate>(network->store, spec.model, spec.train.reuse_gradients);
      critical->before(network->store);
    });
  }

  /// The critical rate of the step just replayed; NaN where it is not due.
  double critical_rate(Program& program, int64_t step) {
    if (!critical || !critical_due(step)) return kNotKnown;
    const BatchShape shape = batch_shape(step);
    double rate = kNotKnown;
    try_critical([&] { rate = critical->after(network->store, program, shape, inputs(step)); });
    return rate;
  }

  // Lets a run whose measurement finds no memory train on without it, to the same bits, and says so once.
  // A lost device is reported by require_backend().
  void try_critical(const std::function<void()>& measure) {
    const Message error = guarded("critical rate", measure);
    if (error.empty() || !backend->error().empty()) return;
    critical.reset();
    critical_left_out = true;
    notice = Message("the critical rate is left out: {}", error);
  }

  /// Finds the losses for step_along() after the step, if rates were requested.
  void try_along(Program& program, int64_t step) {
    if (!critical || rates_asked.empty()) return;
    const StepInputs in = inputs(step);
    std::vector<double> multiples(rates_asked.begin(), rates_asked.end());
    for (double& multiple : multiples) multiple /= static_cast<double>(in.lr);
    const BatchShape shape = batch_shape(step);
    try_critical([&] { losses_along = critical->along(network->store, program, shape, in, multiples); });
  }

  // Frees the memory when the measurement is switched off; switched on again, it may find some.
  void settle_critical() {
    if (live && spec.train.critical_every > 0) return;
    critical.reset();
    critical_left_out = false;
  }

  std::shared_ptr<History> new_history() const {
    return std::make_shared<History>(Frame(*network).layout(), frames_budget);
  }

  void recognise(int32_t step, double loss) {
    auto kind = plateau.update(step, loss, level, warmup_steps(), losses);
    if (!kind || step <= silent_until) return;
    std::string text = "leaves the plateau";
    if (*kind == RunEvent::Kind::LeftPlateau && plateau.began_below(level)) {
      kind = RunEvent::Kind::BeganBelow;
      text = "began below the plateau";
    }
    if (*kind == RunEvent::Kind::Returned) text = "back on the plateau";
    if (*kind == RunEvent::Kind::Stuck) text = stuck_words(plateau.mean(), level, task->unit());
    history->add_event({step, *kind, std::move(text)});
  }

  void check_finite(const Program& program, int32_t step) {
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

  int32_t learning_since() const { return plateau.decided() ? plateau.learning_since() : 0; }

  Verdict verdict() const {
    if (broken) return {Verdict::NotFinite, broken->step, broken->tensor};
    Verdict told;  // a history that was cut may lack an event of long ago, so the recogniser comes first
    if (learning_since() > 0)
      told = {Verdict::Learns, learning_since()};
    else if (plateau.stuck())
      told = {Verdict::Stuck};
    else if (const Verdict seen = verdict_of(*history); seen == Verdict::Returned)
      told = seen;
    const bool ended = steps >= spec.train.steps && steps > warmup_steps();
    const auto own = std::min(losses.size(), static_cast<size_t>(plateau.state().count));
    return judge(std::move(told), std::span(losses).last(own), {level, guessing_loss(spec.model), ended});
  }

  void refresh_level() {
    level = smoothed_entropy(task->unigram(), static_cast<double>(spec.train.label_smoothing));
  }

  Writer& writer(int32_t line_length) {
    if (!line_writer || line_writer->line_length() != line_length)
      line_writer = std::make_unique<Writer>(network->store, spec.model, *task, spec.seed, line_length);
    return *line_writer;
  }

  /// Loads the weights of train.init_from, if set.
  void start_from_weights() {
    if (spec.train.init_from.empty()) return;
    const int32_t fitted = load_weights(spec.train.init_from, network->store);
    history->add_event({0, RunEvent::Kind::Started,
                        fmt::format("{} of {} tensors from {}", fitted, network->store.parameters().size(),
                                    spec.train.init_from)});
  }

  std::vector<float> losses;
  std::optional<NonFiniteReport> broken;
  RunSpec spec;  ///< with the edits applied so far
  std::shared_ptr<const Task> task;
  Backend* backend;
  uint64_t revision = 0;

  std::shared_ptr<Network> network;
  // Note [changes between two steps]: several structural changes may fall between two steps (drag, look, drag again).
  // Each is built from the weights as the last step left them, not from the change before. So the result follows
  // from the final specification alone, as in a replay of the edits.
  std::shared_ptr<const Store> base;
  RunSpec base_spec;

  SegmentMemory memory;  ///< of the last step's segment; a change of the network empties it: see fork()

  std::unique_ptr<Validator> validator;
  std::unique_ptr<CriticalRate> critical;  ///< exists once it was due; for this network
  bool critical_left_out = false;          ///< there was no room for it; tried anew where there may be room
  Message notice;                          ///< see take_notice()
  std::span<const double> rates_asked;     ///< of step_along(), while it steps
  std::vector<double> losses_along;        ///< at these rates; empty where there was no room
  std::unique_ptr<Writer> line_writer;
  std::string line;
  double validation = 0;

  std::shared_ptr<History> history;
  size_t frames_budget = kHistoryBudget;
  int32_t silent_until = 0;  ///< steps up to here are a replay, which the history does not record
  size_t noted = 0;          ///< edits that the history knows already and that are being made again
  Keyframes keyframes;
  std::shared_ptr<const Keyframe> snapshot;  ///< of a run on a device, see keep_snapshot()
  std::optional<Frame> frame;                ///< of a step; exists from the first step of a network on
  bool live = true;
  int32_t live_every = 1;
  int32_t measured_every = 1;    ///< RunRecord::measured_every; of no step yet all are measured
  bool looks_at_update = false;  ///< of the step that is being made
  Plateau plateau;
  double level = 0;
  mutable std::optional<LossWarmup> curve;  ///< see loss_warmup(); kept, as it takes milliseconds to find
  int32_t steps = 0;
};

const char* to_string(RunState state) {
  constexpr const char* kWords[] = {"training",   "warming up", "learning",         "stuck",
                                    "not finite", "finished",   "too slow to tell", "diverges"};
  return kWords[static_cast<size_t>(state)];
}

static_assert(Plateau::kEnd == kLossWindow);

Message stuck_words(double mean, double level, const std::string& unit) {
  const std::string line = unit + " frequencies";
  return Plateau::at_level(mean, level) ? Message("stuck at {}", line) : Message("stuck above {}", line);
}

Run::Impl::Impl(RunSpec given, std::shared_ptr<const Task> source, Backend& machine)
    : spec(with_vocabulary(std::move(given), source.get())),
      task(std::move(source)),
      backend(&machine),
      validation(kNotKnown) {
  normscope::validate(spec);
  task->require_batch(spec.train.batch, spec.model.sequence);
  static_cast<RunIdentity&>(*this) = identity_of(spec, {}, *task, machine);
}

int32_t Run::Impl::warmup_steps() const {
  const Schedule& schedule = spec.train.schedule;
  if (schedule.target <= 0) return schedule.warmup;
  const LossWarmup* warmup = loss_warmup();
  if (!warmup) return losses.empty() ? 1 : 0;
  const int32_t found = steps_of(*warmup, schedule.target, losses);
  return found > 0 ? found : steps + 1;
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
  run.measure_tokens(program, step);
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
  if (step == run.spec.train.steps && step > run.silent_until && !run.broken)
    run.history->add_event({step, RunEvent::Kind::Finished, "finished"});
}

int32_t Run::steps_done() const { return impl_->steps; }
const RunSpec& Run::spec() const { return impl_->spec; }
const RunIdentity& Run::identity() const { return *impl_; }
const std::vector<float>& Run::losses() const { return impl_->losses; }
const RunSpec& Run::origin() const { return impl_->origin; }
const std::vector<Edit>& Run::edits() const { return impl_->edits; }
const std::vector<Edit>& Run::scheduled() const { return impl_->scheduled; }

int32_t Run::live_interval(const Backend& backend, int32_t every) {
  constexpr int32_t kDeviceInterval = 16;
  return backend.on_host() ? every : std::max(every, kDeviceInterval);
}

int32_t Run::measured_every() const { return impl_->measured_every; }

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

RunState end_state(const Verdict& verdict) {
  if (verdict == Verdict::NotFinite) return RunState::NonFinite;
  if (verdict == Verdict::Stuck) return RunState::Stuck;
  if (verdict == Verdict::TooSlow) return RunState::Slow;
  return verdict == Verdict::Diverges ? RunState::Diverging : RunState::Finished;
}

RunState Run::state() const {
  const Impl& run = *impl_;
  const RunState end = end_state(run.verdict());
  if (end != RunState::Finished || run.steps >= run.spec.train.steps) return end;
  if (learning_since() > 0) return RunState::Learning;
  return run.steps < run.warmup_steps() ? RunState::WarmingUp : RunState::Training;
}

Verdict Run::verdict() const { return impl_->verdict(); }

int32_t Run::warmup_steps() const { return impl_->warmup_steps(); }
int32_t Run::learning_since() const { return impl_->learning_since(); }
std::optional<NonFiniteReport> Run::non_finite() const { return impl_->broken; }
double Run::last_loss() const {
  return impl_->losses.empty() ? kNotKnown : static_cast<double>(impl_->losses.back());
}
double Run::plateau_level() const { return impl_->level; }
double Run::last_validation_loss() const { return impl_->validation; }
const std::shared_ptr<History>& Run::history() const { return impl_->history; }
const Task& Run::task() const { return *impl_->task; }
const std::shared_ptr<const Task>& Run::shared_task() const { return impl_->task; }
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
  made->plateau = from.plateau;
  // A changed network cannot use another's memory, and only its own losses tell whether it learns: both begin anew, here
  // and in a replay.
  if (made->any_structural_since(from.edits.size())) {
    made->plateau.begin_anew();
  } else {
    made->memory = from.memory;
    take_verdicts(*made->history, *from.history, from.steps);
  }
  made->history->add_event({from.steps, RunEvent::Kind::Forked, "forked"});
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
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

void Run::begin_edits() {
  impl_->apply_due_edits();
  impl_->settle_critical();
}

double Run::mean_loss(int32_t window) const {
  const auto& losses = impl_->losses;
  const size_t count = std::min(losses.size(), static_cast<size_t>(std::max(window, 0)));
  if (count == 0) return kNotKnown;
  return std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
         static_cast<double>(count);
}

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

double Run::validation_accuracy() const {
  return impl_->validator ? impl_->validator->accuracy() : kNotKnown;
}

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

std::vector<double> Run::step_along(std::span<const double> rates) {
  Impl& run = *impl_;
  if (rates.empty()) fail("rates", "there are none: expected one at least");
  const int32_t before = run.steps;
  run.losses_along.clear();
  struct RatesGuard {
    Impl& run;
    ~RatesGuard() {
      run.rates_asked = {};
      run.settle_critical();  // a run that does not measure it gives the memory back
    }
  } const guard{run};
  run.rates_asked = rates;
  step();
  if (run.steps == before) fail("step", "the run is not finite: expected one that can make a step");
  if (!(run.inputs(run.steps).lr > 0)) fail("step", "it has no update: expected a learning rate above 0");
  if (run.losses_along.empty()) fail("step", "no other rate was tried: {}", take_notice());
  return std::move(run.losses_along);
}

RunRecord Run::record(bool whole) const {
  RunRecord record{*impl_, impl_->losses, impl_->broken};
  if (!whole) return record;
  record.measured_every = impl_->measured_every;
  record.history = impl_->history->copy();
  record.end = impl_->keyframe();
  record.parameters = impl_->network->store.parameters();
  return record;
}

std::unique_ptr<Run> Run::resume(const RunRecord& from, std::shared_ptr<const Task> task, Backend& backend) {
  if (!from.whole() || from.end->blocks[0].empty())
    fail("run", "only the losses of this run were kept: expected its weights too");
  auto made = Impl::standing_at(from, std::move(task), backend);
  made->history = from.history->copy();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

void Run::save(const std::string& path, size_t frame_bytes) const {
  write_checkpoint(record(), path, frame_bytes);
}

RunSpec Run::saved_spec(const std::string& path) {
  return read_checkpoint(SafetensorsFile::load(path)).spec();
}

std::unique_ptr<Run> Run::load(const std::string& path, std::shared_ptr<const Task> task, Backend& backend,
                               Word word) {
  const SafetensorsFile file = SafetensorsFile::load(path);
  RunRecord saved = read_checkpoint(file);
  if (word == Word::OfItsKey)
    saved.go_on(backend, 0);
  else
    saved.start = StartingPoint{content_hash(path), saved.end->step};
  const std::string hash = task ? fmt::format("{:016x}", task->hash()) : "";
  if (saved.data.hash != hash)
    fail("checkpoint", "{} was trained on other data (hash {}): expected the data at hand (hash {})",
         file.path(), saved.data.hash, hash);
  RunSpec sized = saved.spec();
  if (task) fit_to_data(sized, *task);
  require_bytes(file.path(), std::max(most_bytes(saved), estimated_bytes(sized)));
  auto made = Impl::standing_at(saved, std::move(task), backend);
  read_weights(file, made->network->store);
  made->history = made->new_history();
  fill(*made->history, *saved.history);
  made->history->add_event({made->steps, RunEvent::Kind::Resumed, "resumed"});
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

// Leaves out edits with a step beyond `step`, which had not been made then. Edits at or before a keyframe are in
// its weights and count only for the specification; later edits are replayed.
std::unique_ptr<Run> Run::at(int32_t step) const {
  const Impl& from = *impl_;
  if (step < 0 || step > from.steps)
    fail("fork", "step {} was not trained: expected 0 to {}", step, from.steps);
  const Keyframe* frame = from.keyframes.before(step);
  const int32_t start = frame ? frame->step : 0;
  if (const std::string& file = from.origin.train.init_from; !frame && content_hash(file) != from.weights)
    fail("fork", "{} has changed since the run began: expected the weights of then, or a later step", file);
  RunIdentity past = from;
  past.edits.clear();
  past.scheduled.clear();
  for (const Edit& edit : from.edits)
    if (edit.step <= step) (edit.step <= start ? past.edits : past.scheduled).push_back(edit);
  auto run =
      std::unique_ptr<Run>(new Run(Impl::standing_at(frame, std::move(past), from.task, *from.backend)));
  Impl& made = *run->impl_;
  made.history = made.new_history();
  take_verdicts(*made.history, *from.history, step);
  made.silent_until = step;
  made.losses.assign(from.losses.begin(), from.losses.begin() + start);
  if (!frame) made.start_from_weights();
  made.history->add_event({step, RunEvent::Kind::Forked, "forked"});
  return run;
}

RunRecord Run::record_to_go_on() const {
  RunRecord made = record();
  made.frames = impl_->keyframes.all();
  if (!impl_->base) return made;
  const auto is_new = [&](const Edit& edit) { return edit.step > impl_->steps; };
  const auto before = std::ranges::find_if(impl_->edits, is_new) - impl_->edits.begin();
  made.base =
      take_keyframe(impl_->steps, static_cast<size_t>(before), *impl_->base, impl_->plateau.state(), {});
  return made;
}

std::vector<int32_t> Run::keyframes() const { return impl_->keyframes.steps(); }
void Run::limit_bytes(size_t frames, size_t keyframes) {
  impl_->frames_budget = frames;
  impl_->history->set_budget(frames);
  impl_->keyframes.set_budget(keyframes);
}

void Run::move_to(Backend& to) {
  Impl& run = *impl_;
  if (run.backend == &to) return;
  run.require_backend();
  const auto copied = [&](const RunSpec& spec, const Store& store) {
    std::shared_ptr<Network> made = build_network(spec, *run.task, to, run.steps + 1);
    copy_blocks(store, made->store);
    return made;
  };
  std::shared_ptr<Network> network = copied(run.spec, run.network->store);
  std::shared_ptr<Network> base = run.base ? copied(run.base_spec, *run.base) : nullptr;
  run.require_backend();
  if (!to.error().empty()) to.wait();
  run.base = base ? std::shared_ptr<const Store>(base, &base->store) : nullptr;
  run.take_network(to, std::move(network));
  run.go_on(to, run.steps);
}

// Makes edits after the snapshot again at their steps, including live edits of the next step. The history
// has recorded them already.
void Run::recover_on(Backend& to, const std::string& why) {
  Impl& run = *impl_;
  const Keyframe* frame = run.broken ? nullptr : run.newest_snapshot();
  const int32_t start = frame ? frame->step : 0, until = std::max(run.steps, run.silent_until);
  std::vector<Edit> before, after;
  for (const Edit& edit : run.edits) (run.broken || edit.step <= start ? before : after).push_back(edit);
  const std::unique_ptr<Impl> made = Impl::standing_at(frame, {run.origin, before, {}}, run.task, to);
  if (const std::string& from = made->spec.train.init_from; !frame && !from.empty())
    load_weights(from, made->network->store);

  run.base.reset();
  run.take_network(to, made->network);
  run.spec = made->spec;
  ++run.revision;
  run.history->add_event({run.steps, RunEvent::Kind::Resumed,
                          fmt::format("goes on on the {} from step {}: {}", to.name(), start, why)});
  if (run.broken) return;  // the run stays where it is
  run.go_on(to, start);
  run.noted = std::max(run.noted, run.edits.size());
  run.edits = std::move(before);
  after.insert(after.end(), run.scheduled.begin(), run.scheduled.end());
  run.scheduled = std::move(after);
  run.steps = start;
  run.silent_until = until;
  run.losses.resize(static_cast<size_t>(start));
  run.plateau = made->plateau;
  run.memory = std::move(made->memory);
  run.refresh_level();
}

bool Run::catching_up() const { return impl_->steps < impl_->silent_until; }

std::unique_ptr<StepPlayer> Run::play_next() const { return play_next(impl_->network->store.backend()); }

std::unique_ptr<StepPlayer> Run::play_next(Backend& on) const {
  const Impl& run = *impl_;
  const RunSpec& spec = run.spec;
  const int32_t step = run.steps + 1;
  const auto number = static_cast<uint64_t>(step);
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  const BatchShape shape = run.task->shape(spec.seed, number, Split::Train, B, T);
  std::vector<LayerMemory> layers;
  const auto record = [&](Tape& tape) {
    ModelValues values = record_model(tape, spec.model, step_options(spec, shape));
    layers = std::move(values.memories);
    return values.loss;
  };
  auto player = std::make_unique<StepPlayer>(
      run.network->store.clone(on), record,
      SealOptions{.update = update_op(spec.train.optimizer), .clip = true}, run.inputs(step));
  run.task->fill(spec.seed, number, Split::Train, B, T, inputs_of(player->program(), shape));
  SegmentMemory memory = run.memory;
  memory.fill(player->program(), layers, run.task->goes_on(number, Split::Train, B, T));
  return player;
}

}  // namespace normscope
