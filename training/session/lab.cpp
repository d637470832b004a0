// Lab has the command queue, the trainer thread and the published views; LabTrainer does the work of the thread.
#include "training/session/lab.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "engine/core/boundary.h"
#include "training/session/lab_trainer.h"

namespace normscope {
namespace {

using session::Command;
using Clock = LabTrainer::Clock;
constexpr auto kViewInterval = std::chrono::microseconds(16'000);
constexpr auto kAskAgain = std::chrono::milliseconds(100);

/// Holds for a command that changes nothing of the session: it clears no message, and nothing is saved.
bool is_quiet(const Command& c) {
  return std::holds_alternative<session::PlayStep>(c) || std::holds_alternative<session::Inquire>(c) ||
         std::holds_alternative<session::Suppose>(c);
}

}  // namespace

struct Lab::Impl {
  struct PostedCommand {
    Command command;
    session::Ticket ticket;
    session::Hand hand;
  };
  explicit Impl(LabOptions given) : options(std::move(given)), view(std::make_shared<const LabView>()) {}

  // Whether the Lab ends. Commands that still wait then are dropped unless they save: a user can ask for
  // networks faster than they are built, nobody would see them, and the window would wait for minutes.
  bool leaving() {
    const std::lock_guard lock(mutex);
    return quitting;
  }

  // The thread's boundary for exceptions: an exception of a round pauses the training and is shown, and the thread goes
  // on to serve commands.
  void run() {
    std::unique_ptr<LabTrainer> trainer;
    try {
      trainer = std::make_unique<LabTrainer>(options);
      trainer->called = [this] {
        const std::lock_guard lock(mutex);
        return quitting || !commands.empty();
      };
      trainer->wake = [this] {
        { const std::lock_guard lock(mutex); }  // the Lab's thread sleeps, or has not looked yet
        wake.notify_one();
      };
    } catch (...) {
      return made.set_exception(exception_for_others("lab"));
    }
    made.set_value();
    std::deque<PostedCommand> taken;
    const auto say = [&](const Message& error) {
      trainer->pause();
      trainer->message = error;
      publish(*trainer);
    };
    Message error = guarded("lab", [&] {
      trainer->open_device();
      if (!options.autosave.empty()) generation = session_generation(options.autosave);
    });
    if (!error.empty()) (void)guarded("lab", [&] { say(error); });
    wait_for_autosave();
    while (take_commands(*trainer, taken)) {
      error = guarded("training", [&] { loop(*trainer, taken); });
      if (error.empty()) continue;
      (void)guarded("training", [&] {
        refuse_rest(*trainer, taken, error);
        say(error);
      });
      if (!taken.empty()) trainer->answered = taken.back().ticket;
      taken.clear();
    }
    error = guarded("lab", [&] { answer_all(*trainer, taken); });
    (void)guarded("autosave", [&] { refuse_rest(*trainer, taken, error); });
    if (unsaved) (void)guarded("autosave", [&] { autosave(*trainer, true); });
    autosaver.reset();  // ends when the image is on the disk
    const std::lock_guard lock(mutex);
    idle = true;
    changed.notify_all();
  }

  // One round: the commands that came, then a portion of work.
  void loop(LabTrainer& trainer, std::deque<PostedCommand>& taken) {
    answer_all(trainer, taken);
    if (autosaver && !autosaver->busy()) say_autosave_error(trainer, autosaver->take_error());
    if (save_due()) say_autosave_error(trainer, guarded("autosave", [&] { autosave(trainer); }));
    if (trainer.checks_seeds() && Clock::now() - shown >= kAskAgain) publish(trainer);
    if (!trainer.has_work() || trainer.next_step_at() > Clock::now()) return;
    const bool quiet = trainer.only_looks();
    trainer.work();
    if (!quiet) unsaved = !options.autosave.empty();
    if (!trainer.has_work() || Clock::now() - shown >= kViewInterval) publish(trainer);
  }

  // Sleeps until there is something to do: a command, a step whose time has come, or the end (false).
  bool take_commands(LabTrainer& trainer, std::deque<PostedCommand>& taken) {
    std::unique_lock lock(mutex);
    const auto called = [&] { return quitting || !commands.empty() || window_changed || trainer.arrived(); };
    if (!trainer.has_work()) {
      idle = commands.empty() && !trainer.waits();
      if (idle) changed.notify_all();
      const bool saves = autosaver && autosaver->busy();  // the result is collected when it is there
      if (saves || trainer.checks_seeds())
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
    if (std::exchange(window_changed, false)) {
      trainer.keep(window);
      unsaved = !options.autosave.empty();
    }
    return !quitting;
  }

  // Copies the state, which takes milliseconds; a thread of its own writes it.
  void autosave(LabTrainer& trainer, bool last = false) {
    if (autosaver && autosaver->busy() && !last) return void(next_save = Clock::now() + kAskAgain);
    const size_t bytes = trainer.weight_bytes();
    wait_for_autosave(bytes);
    if (trainer.empty() || bytes > options.autosave_bytes) {
      if (!trainer.empty() && trainer.note_too_large()) publish(trainer);
      return void(unsaved = false);
    }
    if (last) autosaver.reset();  // waits for the image before
    if (!autosaver) autosaver = std::make_unique<Autosaver>(options.autosave);
    // The next image is whole unless this one is completed, because this one promises files that may not exist.
    const bool all = std::exchange(whole, true);
    SessionImage image = trainer.image(++generation, all);
    whole = unsaved = false;
    autosaver->give(std::move(image));
  }

  // Tells a failure (a full disk) once; the former state stays, and the next try comes in its time.
  void say_autosave_error(LabTrainer& trainer, const Message& error) {
    if (error.empty()) return;
    unsaved = whole = true;
    if (trainer.message == error) return;
    trainer.message = error;
    publish(trainer);
  }

  // To spare the disk, large models, such as opened ones, are saved less often.
  void wait_for_autosave(size_t bytes = 0) {
    constexpr double kBytesASecond = 50e6;
    const std::chrono::duration<double> interval(
        std::max(options.autosave_every, static_cast<double>(bytes) / kBytesASecond));
    next_save = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
  }

  bool save_due() const { return unsaved && Clock::now() >= next_save; }

  void answer(LabTrainer& trainer, const PostedCommand& posted) {
    try {
      try {
        trainer.carry_out(posted.command, posted.ticket, posted.hand);
      } catch (const DeviceError& error) {  // the command is carried out on the CPU
        if (!trainer.fall_back(error.message)) throw;
        trainer.carry_out(posted.command, posted.ticket, posted.hand);
      }
      if (std::holds_alternative<session::SaveSession>(posted.command)) whole = true;  // saving says why
    } catch (...) {
      trainer.message =
          describe_exception(std::visit([](const auto& c) { return c.doing(); }, posted.command));
      if (is_quiet(posted.command)) step_refusal = trainer.message;
      trainer.refuse(posted.ticket, trainer.message);
    }
  }

  void answer_all(LabTrainer& trainer, std::deque<PostedCommand>& taken) {
    if (taken.empty()) return;
    const bool quiet =
        std::ranges::all_of(taken, [](const PostedCommand& posted) { return is_quiet(posted.command); });
    if (!quiet || trainer.message == step_refusal) trainer.message.clear();
    step_refusal.clear();
    for (const PostedCommand& posted : taken) {
      // The view shows earlier results meanwhile, because building a network or reading a text may take a while.
      if (!quiet && (posted.ticket == taken.front().ticket || Clock::now() - shown >= kViewInterval))
        publish(trainer, true);
      if (std::holds_alternative<session::SaveSession>(posted.command) || !leaving())
        answer(trainer, posted);
      else
        trainer.refuse(posted.ticket, "the session ended before");
      trainer.answered = posted.ticket;
    }
    taken.clear();
    if (!quiet) unsaved = !options.autosave.empty();
    publish(trainer);
  }

  // Refuses the commands that a failed round left unanswered: they were not carried out.
  void refuse_rest(LabTrainer& trainer, const std::deque<PostedCommand>& taken, const Message& why) {
    for (const PostedCommand& posted : taken) {
      if (posted.ticket <= trainer.answered) continue;
      trainer.refuse(posted.ticket, why);
      trainer.answered = posted.ticket;
    }
  }

  void publish(const LabTrainer& trainer, bool busy_with_command = false) {
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

  template <typename Done>
  void wait(Done done) {
    std::unique_lock lock(mutex);
    changed.wait(lock,
                 [&] { return quitting || (idle && commands.empty()) || (commands.empty() && done(*view)); });
  }

  LabOptions options;
  std::mutex mutex;
  std::condition_variable wake;     // wakes the trainer for a command or the end
  std::condition_variable changed;  // wakes threads that wait for a view or for rest
  std::deque<PostedCommand> commands;
  session::Ticket posted = 0;
  bool quitting = false;
  bool idle = false;  // the trainer sleeps and the view shows its last state
  std::shared_ptr<const LabView> view;
  std::function<void()> callback;
  uint64_t version = 0;       // trainer thread only
  Clock::time_point shown{};  // trainer thread only
  bool unsaved = false;       // trainer thread only, as next_save
  Clock::time_point next_save{};
  Message step_refusal;  // trainer thread only: the message of a quiet command
  std::string window;    // under the mutex, as window_changed
  bool window_changed = false;
  int64_t generation = 0;  // trainer thread only, as `whole`: the autosave's
  bool whole = true;       // the next image refers to no file of an earlier one
  std::unique_ptr<Autosaver> autosaver;
  std::promise<void> made;  // set when the trainer is made
  std::jthread thread;
};

int32_t seeds_there(const LabView& view) {
  if (view.runs.empty() || std::ranges::any_of(view.runs, &RunView::stale)) return 0;
  const auto seeds = [](const RunView& run) { return run.spread ? run.spread->seeds + 1 : 1; };
  return seeds(*std::ranges::min_element(view.runs, {}, seeds));
}

Lab::Lab(LabOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  if (!impl_->options.trainer) impl_->options.trainer = std::make_shared<Trainer>(impl_->options.threads);
  impl_->thread = start_thread("lab", [impl = impl_.get()] { impl->run(); });
  impl_->made.get_future().get();  // waits for the threads of the CPU, or throws why there are none
}

Lab::~Lab() {
  quit();
  impl_->thread.join();
}

session::Ticket Lab::post(session::Command command, session::Hand hand) {
  session::Ticket ticket = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    ticket = ++impl_->posted;
    impl_->commands.push_back({std::move(command), ticket, hand});
    impl_->idle = false;
  }
  impl_->wake.notify_one();
  return ticket;
}

session::Ticket Lab::posted() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->posted;
}

void Lab::keep(std::string window) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->window == window) return;
    impl_->window = std::move(window);
    impl_->window_changed = true;
  }
  impl_->wake.notify_one();
}

const std::shared_ptr<Trainer>& Lab::trainer() const { return impl_->options.trainer; }

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
