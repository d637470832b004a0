// The Lab's outside: command queue, trainer thread, published views. What the thread does is LabTrainer.
#include "engine/train/lab.h"

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

#include "engine/core/error.h"
#include "engine/train/lab_trainer.h"

namespace normscope {
namespace {

using Clock = LabTrainer::Clock;
using Command = std::function<void(LabTrainer&)>;

constexpr auto kViewInterval = std::chrono::microseconds(16'000);
constexpr auto kAskAgain = std::chrono::milliseconds(100);

}  // namespace

struct Lab::Impl {
  explicit Impl(LabOptions given) : options(std::move(given)), view(std::make_shared<const LabView>()) {}

  void send(Command command);
  void loop();
  bool take_commands(const LabTrainer& trainer, std::deque<Command>& taken);
  void autosave(LabTrainer& trainer, bool last = false);
  void say_autosave_error(LabTrainer& trainer);
  void wait_for_autosave();
  bool save_due() const { return unsaved && Clock::now() >= next_save; }
  void carry_out(LabTrainer& trainer, std::deque<Command>& taken);
  void publish(const LabTrainer& trainer, bool busy_with_command = false);
  template <typename Done>
  void wait(Done done);

  LabOptions options;
  std::mutex mutex;
  std::condition_variable wake;     // of the trainer: a command, or the end
  std::condition_variable changed;  // of those who wait for a view or for rest
  std::deque<Command> commands;
  bool quitting = false;
  bool idle = false;  // the trainer sleeps and the view shows its last state
  std::shared_ptr<const LabView> view;
  std::function<void()> callback;
  uint64_t version = 0;       // trainer thread only
  Clock::time_point shown{};  // trainer thread only
  bool unsaved = false;       // trainer thread only, as next_save
  Clock::time_point next_save{};
  std::string companion;  // under the mutex, as companion_changed
  bool companion_changed = false;
  int64_t generation = 0;  // trainer thread only: of the autosave, as `whole`
  bool whole = true;       // the next image refers to no file of an earlier one
  std::unique_ptr<Autosaver> autosaver;
  std::thread thread;
};

void Lab::Impl::send(Command command) {
  {
    const std::lock_guard lock(mutex);
    commands.push_back(std::move(command));
    idle = false;
  }
  wake.notify_one();
}

void Lab::Impl::publish(const LabTrainer& trainer, bool busy_with_command) {
  auto next = std::make_shared<LabView>(trainer.view());
  next->version = ++version;
  next->busy = next->busy || busy_with_command;
  shown = Clock::now();
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex);
    view = std::move(next);
    call = callback;
  }
  changed.notify_all();
  if (call) call();
}

// Sleeps until there is something to do: a command, a step whose time has come, or the end (false).
bool Lab::Impl::take_commands(const LabTrainer& trainer, std::deque<Command>& taken) {
  std::unique_lock lock(mutex);
  const auto called = [this] { return quitting || !commands.empty() || companion_changed; };
  if (!trainer.has_work()) {
    idle = commands.empty();
    if (idle) changed.notify_all();
    if (autosaver && autosaver->busy())  // what it has to say is asked for when it is done
      wake.wait_until(lock, Clock::now() + kAskAgain, called);
    else if (unsaved)
      wake.wait_until(lock, next_save, called);
    else
      wake.wait(lock, called);
  } else if (trainer.next_step_at() > Clock::now()) {
    wake.wait_until(lock, trainer.next_step_at(), called);
  }
  idle = false;
  taken.swap(commands);
  if (std::exchange(companion_changed, false)) unsaved = !options.autosave.empty();
  return !quitting;
}

void Lab::Impl::carry_out(LabTrainer& trainer, std::deque<Command>& taken) {
  if (taken.empty()) return;
  trainer.message.clear();
  publish(trainer, true);  // building a network or reading a text may take a while
  for (Command& command : taken) {
    try {
      try {
        command(trainer);
      } catch (const DeviceError& error) {  // the command is carried out elsewhere
        if (!trainer.fall_back(error.what())) throw;
        command(trainer);
      }
    } catch (const std::exception& error) {
      trainer.message = error.what();
    }
  }
  taken.clear();
  unsaved = !options.autosave.empty();
  publish(trainer);
}

void Lab::Impl::wait_for_autosave() {
  const std::chrono::duration<double> interval(options.autosave_every);
  next_save = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
}

// A failure (a full disk) is said once; the state before stays and the next try comes in its time.
void Lab::Impl::say_autosave_error(LabTrainer& trainer) {
  const std::string error = autosaver->take_error();
  if (error.empty()) return;
  unsaved = whole = true;
  if (trainer.message == error) return;
  trainer.message = error;
  publish(trainer);
}

// Here the state is copied, which takes milliseconds; a thread of its own writes it.
void Lab::Impl::autosave(LabTrainer& trainer, bool last) {
  if (autosaver->busy() && !last) return void(next_save = Clock::now() + kAskAgain);
  unsaved = false;
  wait_for_autosave();
  if (trainer.empty()) return;
  if (last) {  // after the one before is on the disk
    autosaver.reset();
    autosaver = std::make_unique<Autosaver>(options.autosave);
  }
  SessionImage image = trainer.image(++generation, whole);
  whole = false;
  {
    const std::lock_guard lock(mutex);
    image.companion = companion;
  }
  autosaver->give(std::move(image));
}

void Lab::Impl::loop() {
  LabTrainer trainer(options);
  std::deque<Command> taken;
  if (!options.autosave.empty()) {
    autosaver = std::make_unique<Autosaver>(options.autosave);
    generation = session_generation(options.autosave);
  }
  wait_for_autosave();
  while (take_commands(trainer, taken)) {
    carry_out(trainer, taken);
    if (autosaver && !autosaver->busy()) say_autosave_error(trainer);
    if (save_due()) autosave(trainer);
    if (!trainer.has_work() || trainer.next_step_at() > Clock::now()) continue;
    try {
      trainer.work();
      unsaved = !options.autosave.empty();
    } catch (const std::exception& error) {
      trainer.pause();
      trainer.message = error.what();
    }
    if (!trainer.has_work() || Clock::now() - shown >= kViewInterval) publish(trainer);
  }
  if (unsaved) autosave(trainer, true);
  autosaver.reset();  // when it is on the disk
  const std::lock_guard lock(mutex);
  idle = true;
  changed.notify_all();
}

template <typename Done>
void Lab::Impl::wait(Done done) {
  std::unique_lock lock(mutex);
  changed.wait(lock,
               [&] { return quitting || (idle && commands.empty()) || (commands.empty() && done(*view)); });
}

Lab::Lab(LabOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  if (!impl_->options.finished) impl_->options.finished = std::make_shared<RunCache>();
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

Lab::~Lab() {
  quit();
  impl_->thread.join();
}

void Lab::start(std::vector<RunSpec> runs, bool play, std::vector<std::vector<Edit>> edits) {
  impl_->send([runs = std::move(runs), play, edits = std::move(edits)](LabTrainer& trainer) {
    trainer.start(runs, play, edits);
  });
}
void Lab::open(std::vector<RunSpec> runs, std::vector<std::vector<Edit>> edits) {
  impl_->send(
      [runs = std::move(runs), edits = std::move(edits)](LabTrainer& trainer) { trainer.open(runs, edits); });
}
const std::shared_ptr<RunCache>& Lab::finished_runs() const { return impl_->options.finished; }
void Lab::save(std::string folder) {
  impl_->send([impl = impl_.get(), folder = std::move(folder)](LabTrainer& trainer) {
    std::string companion;
    {
      const std::lock_guard lock(impl->mutex);
      companion = impl->companion;
    }
    trainer.save(folder, std::move(companion));
    impl->whole = true;  // see LabTrainer::save
  });
}
void Lab::restore(std::string folder, bool play) {
  impl_->send([folder = std::move(folder), play](LabTrainer& trainer) { trainer.restore(folder, play); });
}
void Lab::play() {
  impl_->send([](LabTrainer& trainer) { trainer.play_to(std::numeric_limits<int32_t>::max()); });
}
void Lab::play_to(int32_t step) {
  impl_->send([step](LabTrainer& trainer) { trainer.play_to(step); });
}
void Lab::pause() {
  impl_->send([](LabTrainer& trainer) { trainer.pause(); });
}
void Lab::step_once() {
  impl_->send([](LabTrainer& trainer) { trainer.step_once(); });
}
void Lab::reset(bool new_seed) {
  impl_->send([new_seed](LabTrainer& trainer) { trainer.reset(new_seed); });
}
void Lab::exchange_reset(bool back) {
  impl_->send([back](LabTrainer& trainer) { trainer.exchange_reset(back); });
}
void Lab::set_budget(int32_t steps) {
  impl_->send([steps](LabTrainer& trainer) { trainer.set_budget(steps); });
}
void Lab::set_backend(BackendChoice choice) {
  impl_->send([choice](LabTrainer& trainer) { trainer.set_backend(choice); });
}
void Lab::set_steps_per_second(double limit) {
  impl_->send([limit](LabTrainer& trainer) { trainer.set_steps_per_second(limit); });
}
void Lab::edit(int32_t run, std::string key, std::string value) {
  impl_->send([run, key = std::move(key), value = std::move(value)](LabTrainer& trainer) {
    trainer.edit(run, key, value);
  });
}
void Lab::set_spec(int32_t run, RunSpec spec) {
  impl_->send([run, spec = std::move(spec)](LabTrainer& trainer) { trainer.set_spec(run, spec); });
}
void Lab::fork(ForkRequest request) {
  impl_->send([request = std::move(request)](LabTrainer& trainer) { trainer.fork(request); });
}
void Lab::fork_from(int32_t run, int32_t step, std::optional<RunSpec> spec) {
  impl_->send(
      [run, step, spec = std::move(spec)](LabTrainer& trainer) { trainer.fork_from(run, step, spec); });
}
void Lab::ablate(int32_t run, std::vector<std::string> left_out) {
  impl_->send([run, names = std::move(left_out)](LabTrainer& trainer) { trainer.ablate(run, names); });
}
void Lab::measure_batch() {
  impl_->send([](LabTrainer& trainer) { trainer.measure_batch(); });
}
void Lab::keep(std::string companion) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->companion == companion) return;
    impl_->companion = std::move(companion);
    impl_->companion_changed = true;
  }
  impl_->wake.notify_one();
}
void Lab::check_luck() {
  impl_->send([](LabTrainer& trainer) { trainer.check_luck(); });
}
void Lab::cancel_luck() {
  impl_->send([](LabTrainer& trainer) { trainer.cancel_luck(); });
}
void Lab::remove_fork() {
  impl_->send([](LabTrainer& trainer) { trainer.remove_fork(); });
}
void Lab::restore_fork() {
  impl_->send([](LabTrainer& trainer) { trainer.restore_fork(); });
}
void Lab::load_text(std::string path) {
  impl_->send([path = std::move(path)](LabTrainer& trainer) { trainer.load_text(path); });
}

void Lab::quit() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->quitting = true;
  }
  impl_->wake.notify_one();
  impl_->changed.notify_all();
}

std::shared_ptr<const LabView> Lab::view() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->view;
}

void Lab::on_change(std::function<void()> callback) {
  const std::lock_guard lock(impl_->mutex);
  impl_->callback = std::move(callback);
}

void Lab::wait_until(int32_t step) {
  impl_->wait([step](const LabView& view) { return view.playing && !view.busy && view.step >= step; });
}

void Lab::wait_idle() {
  impl_->wait([](const LabView&) { return false; });
}

}  // namespace normscope
