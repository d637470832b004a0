// A run on another backend: moved with its weights while the old backend works, or else resumed from the newest
// snapshot on the host. See run.h.
#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/run/run_impl.h"

namespace normscope {
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
  const std::unique_ptr<Impl> made = Impl::standing_at(frame, run.origin, before, {}, run.task, to);
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

}  // namespace normscope
