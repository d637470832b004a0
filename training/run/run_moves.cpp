// A run elsewhere: at one of its earlier steps, on another backend (moved with its weights while the old backend works,
// or else resumed from the newest snapshot on the host), in a record of it, or played on a
// copy. See run.h.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/model/transformer.h"
#include "engine/tape/backend.h"
#include "training/measure/look.h"
#include "training/measure/step/step_player.h"
#include "training/run/checkpoint.h"
#include "training/run/run_impl.h"
#include "training/spec/spec.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

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

/// Fills a history that has no step yet. Of a version that measured less it keeps the frames, in which the other numbers
/// are unknown. It leaves frames out whose numbers are others, or so few that the frames would be larger here than any
/// history.
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

}  // namespace

std::shared_ptr<const Keyframe> Run::Impl::keyframe() const {
  return take_keyframe(steps, edits.size(), network->store, plateau.state(), memory.state());
}

std::unique_ptr<Run::Impl> Run::Impl::standing_at(const Keyframe* frame, RunIdentity past,
                                                  std::shared_ptr<const Task> task, Backend& backend) {
  auto run = std::make_unique<Impl>(past.spec(), std::move(task), backend);
  run->origin = std::move(past.origin);
  fit_to_data(run->origin, *run->task);
  run->edits = std::move(past.edits);
  run->scheduled = std::move(past.scheduled);
  run->steps = frame ? frame->step : 0;
  run->rebuild();
  if (frame) {
    if (!frame->blocks[0].empty()) restore(*frame, run->network->store);
    run->plateau.restore(frame->plateau);
    run->memory.restore(frame->memory);
  }
  run->refresh_level();
  return run;
}

std::unique_ptr<Run::Impl> Run::Impl::standing_at(const RunRecord& record, std::shared_ptr<const Task> task,
                                                  Backend& backend) {
  auto run = standing_at(record.end.get(), record, std::move(task), backend);
  run->losses = record.losses;
  run->broken = record.broken;
  const Series validation = record.history->validation();
  if (!validation.values.empty()) run->validation = static_cast<double>(validation.values.back());
  return run;
}

RunRecord Run::record(bool whole) const {
  RunRecord record{*impl_, impl_->losses, impl_->broken};
  if (!whole) return record;
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

std::unique_ptr<Run> Run::load(const std::string& path, std::shared_ptr<const Task> task, Backend& backend) {
  const SafetensorsFile file = SafetensorsFile::load(path);
  const RunRecord saved = read_checkpoint(file);
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
  std::vector<Edit> before, after;
  for (const Edit& edit : from.edits)
    if (edit.step <= step) (edit.step <= start ? before : after).push_back(edit);
  auto run = std::unique_ptr<Run>(new Run(Impl::standing_at(
      frame, {from.origin, std::move(before), std::move(after)}, from.task, *from.backend)));
  Impl& made = *run->impl_;
  made.history = made.new_history();
  made.silent_until = step;
  made.losses.assign(from.losses.begin(), from.losses.begin() + start);
  if (!frame) made.start_from_weights();
  made.history->add_event({step, RunEvent::Kind::Forked, "forked"});
  return run;
}

std::vector<int32_t> Run::keyframes() const { return impl_->keyframes.steps(); }
void Run::limit_bytes(size_t frames, size_t keyframes) {
  impl_->frames_budget = frames;
  impl_->history->set_budget(frames);
  impl_->keyframes.set_budget(keyframes);
}
size_t Run::kept_bytes() const { return impl_->history->bytes() + impl_->keyframes.bytes(); }

namespace {

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

void Run::Impl::require_backend() const {
  if (!backend->error().empty()) backend->wait();  // throws DeviceError with the reason
}

const Keyframe* Run::Impl::newest_snapshot() const {
  const Keyframe* frame = keyframes.before(steps);
  return snapshot && (!frame || snapshot->step > frame->step) ? snapshot.get() : frame;
}

// Makes sure that the host has a recent state: a device may be lost in any step.
void Run::Impl::keep_snapshot() {
  if (backend->on_host()) return;
  const Keyframe* frame = newest_snapshot();
  if (frame && steps - frame->step < kSnapshotInterval) return;
  snapshot = keyframe();
}

void Run::Impl::take_network(Backend& to, std::shared_ptr<Network> made) {
  drop_programs();
  network = std::move(made);
  backend = &to;
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
