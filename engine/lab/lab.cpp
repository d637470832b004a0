// The Lab's outside: command queue, trainer thread, published views. What the thread does is LabTrainer.
#include "engine/lab/lab.h"

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/lab/lab_trainer.h"
#include "engine/spec/backend_choice.h"

namespace normscope {
namespace {

using Clock = LabTrainer::Clock;
struct Command {
  const char* name;  ///< for messages: what could not be done
  std::function<void(LabTrainer&)> carry_out;
  bool to_disk = false;  ///< carried out at the end too
};

constexpr auto kViewInterval = std::chrono::microseconds(16'000);
constexpr auto kAskAgain = std::chrono::milliseconds(100);

}  // namespace

struct Lab::Impl {
  explicit Impl(LabOptions given) : options(std::move(given)), view(std::make_shared<const LabView>()) {}

  void send(const char* name, std::function<void(LabTrainer&)> command, bool to_disk = false);
  bool leaving();
  void run();
  void loop(LabTrainer& trainer, std::deque<Command>& taken);
  bool take_commands(const LabTrainer& trainer, std::deque<Command>& taken);
  void autosave(LabTrainer& trainer, bool last = false);
  void say_autosave_error(LabTrainer& trainer, const std::string& error);
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
  std::string sidecar;  // under the mutex, as sidecar_changed
  bool sidecar_changed = false;
  int64_t generation = 0;  // trainer thread only: of the autosave, as `whole`
  bool whole = true;       // the next image refers to no file of an earlier one
  std::unique_ptr<Autosaver> autosaver;
  std::promise<void> made;  // the trainer
  std::jthread thread;
};

void Lab::Impl::send(const char* name, std::function<void(LabTrainer&)> command, bool to_disk) {
  {
    const std::lock_guard lock(mutex);
    commands.push_back({name, std::move(command), to_disk});
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
  const auto called = [this] { return quitting || !commands.empty() || sidecar_changed; };
  if (!trainer.has_work()) {
    idle = commands.empty();
    if (idle) changed.notify_all();
    if (autosaver && autosaver->busy())  // its result is collected when it is done
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
  if (std::exchange(sidecar_changed, false)) unsaved = !options.autosave.empty();
  return !quitting;
}

// A hand can ask for networks faster than they are built. What still waits at the end is for nobody to see,
// and the window would stand for minutes until it is done: only what goes to the disk is carried out.
bool Lab::Impl::leaving() {
  const std::lock_guard lock(mutex);
  return quitting;
}

void Lab::Impl::carry_out(LabTrainer& trainer, std::deque<Command>& taken) {
  if (taken.empty()) return;
  trainer.message.clear();
  publish(trainer, true);  // building a network or reading a text may take a while
  for (Command& command : taken) {
    if (!command.to_disk && leaving()) continue;
    try {
      try {
        command.carry_out(trainer);
      } catch (const DeviceError& error) {  // the command is carried out elsewhere
        if (!trainer.fall_back(error.what())) throw;
        command.carry_out(trainer);
      }
    } catch (...) {
      trainer.message = describe_exception(command.name);
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
void Lab::Impl::say_autosave_error(LabTrainer& trainer, const std::string& error) {
  if (error.empty()) return;
  unsaved = whole = true;
  if (trainer.message == error) return;
  trainer.message = error;
  publish(trainer);
}

// Here the state is copied, which takes milliseconds; a thread of its own writes it.
void Lab::Impl::autosave(LabTrainer& trainer, bool last) {
  if (autosaver && autosaver->busy() && !last) return void(next_save = Clock::now() + kAskAgain);
  wait_for_autosave();
  if (trainer.empty()) return void(unsaved = false);
  if (last) autosaver.reset();  // after the one before is on the disk
  if (!autosaver) autosaver = std::make_unique<Autosaver>(options.autosave);
  // An image that is not completed has promised files that nobody writes.
  const bool all = std::exchange(whole, true);
  SessionImage image = trainer.image(++generation, all);
  whole = unsaved = false;
  {
    const std::lock_guard lock(mutex);
    image.sidecar = sidecar;
  }
  autosaver->give(std::move(image));
}

// The thread's boundary: whatever leaves a round pauses the training and is said; the next command finds the
// thread at its place.
void Lab::Impl::run() {
  std::unique_ptr<LabTrainer> trainer;
  try {
    trainer = std::make_unique<LabTrainer>(options);
  } catch (...) {
    return made.set_exception(exception_for_others("lab"));
  }
  made.set_value();
  std::deque<Command> taken;
  const auto say = [&](const std::string& error) {
    trainer->pause();
    trainer->message = error;
    publish(*trainer);
  };
  std::string error = guarded("lab", [&] {
    trainer->open_device();
    if (!options.autosave.empty()) generation = session_generation(options.autosave);
  });
  if (!error.empty()) (void)guarded("lab", [&] { say(error); });
  wait_for_autosave();
  while (take_commands(*trainer, taken)) {
    error = guarded("training", [&] { loop(*trainer, taken); });
    if (error.empty()) continue;
    taken.clear();
    (void)guarded("training", [&] { say(error); });
  }
  (void)guarded("lab", [&] { carry_out(*trainer, taken); });
  if (unsaved) (void)guarded("autosave", [&] { autosave(*trainer, true); });
  autosaver.reset();  // when it is on the disk
  const std::lock_guard lock(mutex);
  idle = true;
  changed.notify_all();
}

// One round: the commands that came, then a portion of work.
void Lab::Impl::loop(LabTrainer& trainer, std::deque<Command>& taken) {
  carry_out(trainer, taken);
  if (autosaver && !autosaver->busy()) say_autosave_error(trainer, autosaver->take_error());
  if (save_due()) say_autosave_error(trainer, guarded("autosave", [&] { autosave(trainer); }));
  if (!trainer.has_work() || trainer.next_step_at() > Clock::now()) return;
  trainer.work();
  unsaved = !options.autosave.empty();
  if (!trainer.has_work() || Clock::now() - shown >= kViewInterval) publish(trainer);
}

template <typename Done>
void Lab::Impl::wait(Done done) {
  std::unique_lock lock(mutex);
  changed.wait(lock,
               [&] { return quitting || (idle && commands.empty()) || (commands.empty() && done(*view)); });
}

Lab::Lab(LabOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  if (!impl_->options.finished) impl_->options.finished = std::make_shared<RunCache>();
  impl_->thread = start_thread("lab", [impl = impl_.get()] { impl->run(); });
  impl_->made.get_future().get();  // the CPU's threads stand, or why not
}

Lab::~Lab() {
  quit();
  impl_->thread.join();
}

void Lab::start(std::vector<RunSpec> runs, bool play, std::vector<std::vector<Edit>> edits,
                std::string letters) {
  impl_->send("starting the runs",
              [runs = std::move(runs), play, edits = std::move(edits), letters = std::move(letters)](
                  LabTrainer& trainer) { trainer.start(runs, play, edits, letters); });
}
void Lab::open(std::vector<RunSpec> runs, std::vector<std::vector<Edit>> edits, std::string letters) {
  impl_->send("opening the runs",
              [runs = std::move(runs), edits = std::move(edits),
               letters = std::move(letters)](LabTrainer& trainer) { trainer.open(runs, edits, letters); });
}
const std::shared_ptr<RunCache>& Lab::finished_runs() const { return impl_->options.finished; }
void Lab::save(std::string folder) {
  impl_->send(
      "saving the session",
      [impl = impl_.get(), folder = std::move(folder)](LabTrainer& trainer) {
        std::string sidecar;
        {
          const std::lock_guard lock(impl->mutex);
          sidecar = impl->sidecar;
        }
        trainer.save(folder, std::move(sidecar));
        impl->whole = true;  // see LabTrainer::save
      },
      true);
}
void Lab::restore(std::string folder, bool play) {
  impl_->send("restoring the session",
              [folder = std::move(folder), play](LabTrainer& trainer) { trainer.restore(folder, play); });
}
void Lab::play() {
  impl_->send("playing", [](LabTrainer& trainer) { trainer.play_to(std::numeric_limits<int32_t>::max()); });
}
void Lab::play_to(int32_t step) {
  impl_->send("playing", [step](LabTrainer& trainer) { trainer.play_to(step); });
}
void Lab::pause() {
  impl_->send("pausing", [](LabTrainer& trainer) { trainer.pause(); });
}
void Lab::step_once() {
  impl_->send("taking a step", [](LabTrainer& trainer) { trainer.step_once(); });
}
void Lab::reset(bool new_seed) {
  impl_->send("starting again", [new_seed](LabTrainer& trainer) { trainer.reset(new_seed); });
}
void Lab::exchange_reset(bool back) {
  impl_->send("exchanging the runs of a reset",
              [back](LabTrainer& trainer) { trainer.exchange_reset(back); });
}
void Lab::set_budget(int32_t steps) {
  impl_->send("setting the budget", [steps](LabTrainer& trainer) { trainer.set_budget(steps); });
}
void Lab::set_backend(BackendChoice choice) {
  impl_->send("moving the runs", [choice](LabTrainer& trainer) { trainer.set_backend(choice); });
}
void Lab::set_steps_per_second(double limit) {
  impl_->send("setting the speed", [limit](LabTrainer& trainer) { trainer.set_steps_per_second(limit); });
}
void Lab::edit(int32_t run, std::string key, std::string value) {
  impl_->send("editing a run", [run, key = std::move(key), value = std::move(value)](LabTrainer& trainer) {
    trainer.edit(run, key, value);
  });
}
void Lab::set_spec(int32_t run, RunSpec spec) {
  impl_->send("changing a run",
              [run, spec = std::move(spec)](LabTrainer& trainer) { trainer.set_spec(run, spec); });
}
void Lab::fork(ForkRequest request) {
  impl_->send("forking", [request = std::move(request)](LabTrainer& trainer) { trainer.fork(request); });
}
void Lab::fork_from(int32_t run, int32_t step, std::optional<RunSpec> spec) {
  impl_->send("forking", [run, step, spec = std::move(spec)](LabTrainer& trainer) {
    trainer.fork_from(run, step, spec);
  });
}
void Lab::ablate(int32_t run, std::vector<std::string> left_out) {
  impl_->send("leaving sub-layers out",
              [run, names = std::move(left_out)](LabTrainer& trainer) { trainer.ablate(run, names); });
}
void Lab::measure_batch() {
  impl_->send("measuring the batch", [](LabTrainer& trainer) { trainer.measure_batch(); });
}
void Lab::keep(std::string sidecar) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->sidecar == sidecar) return;
    impl_->sidecar = std::move(sidecar);
    impl_->sidecar_changed = true;
  }
  impl_->wake.notify_one();
}
void Lab::check_seeds() {
  impl_->send("reruns with other seeds", [](LabTrainer& trainer) { trainer.check_seeds(); });
}
void Lab::cancel_seeds() {
  impl_->send("reruns with other seeds", [](LabTrainer& trainer) { trainer.cancel_seeds(); });
}
void Lab::remove_fork() {
  impl_->send("removing run D", [](LabTrainer& trainer) { trainer.remove_fork(); });
}
void Lab::restore_fork() {
  impl_->send("bringing run D back", [](LabTrainer& trainer) { trainer.restore_fork(); });
}
void Lab::load_text(std::string path) {
  impl_->send("loading the text", [path = std::move(path)](LabTrainer& trainer) { trainer.load_text(path); });
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
