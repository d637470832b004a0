// Slow work on a thread of its own, where only the newest request counts. NewestJob runs a job that publishes its
// progress, such as measuring a lesson or training a sweep; Background answers a request, such as reading a folder. The
// thread that draws never waits for either.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/core/boundary.h"

namespace normscope {

template <typename Job, typename State>
class NewestJob {
 public:
  /// `work` is called on the thread and throws nothing. publish() calls `on_change` (a window's wakes its event loop)
  /// and passes on its exceptions. Throws Error where the thread cannot be started.
  NewestJob(std::string_view purpose, std::function<void(const Job&)> work, std::function<void()> on_change)
      : work_(std::move(work)),
        on_change_(std::move(on_change)),
        thread_(start_thread(purpose, [this] { loop(); })) {}
  ~NewestJob() {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
      next_.reset();
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  /// Replaces a waiting job and the job under way, which has to stop and publishes nothing more. Until the new job
  /// publishes, state() is the former state as changed by `begin`.
  template <typename Begin>
  void start(Job job, Begin&& begin) {
    {
      const std::lock_guard lock(mutex_);
      auto state = std::make_shared<State>(*state_);
      begin(*state);
      state_ = std::move(state);
      next_ = std::move(job);
      stopping_ = true;
      superseded_ = busy_;
    }
    wake_.notify_one();
  }

  /// Asks the job under way to stop; the job itself publishes how it ended. A waiting job is never begun: then, and
  /// where there is no job, `end(state, waiting)` makes the state that is shown; `waiting` is that job or nullptr.
  template <typename End>
  void stop(End&& end) {
    const std::lock_guard lock(mutex_);
    if (next_ || !busy_ || superseded_) {  // a replaced job says nothing more
      auto state = std::make_shared<State>(*state_);
      end(*state, next_ ? &*next_ : nullptr);
      state_ = std::move(state);
    }
    next_.reset();
    stopping_ = true;
  }

  std::shared_ptr<const State> state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  void wait() {  ///< until nothing is under way
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !busy_ && !next_; });
  }

  // For the work.
  bool stopping() const { return stopping_; }
  void publish(const State& state) {
    {
      const std::lock_guard lock(mutex_);
      if (superseded_) return;
      state_ = std::make_shared<const State>(state);
    }
    if (on_change_) on_change_();
  }

 private:
  void loop() {
    for (;;) {
      std::optional<Job> job;
      {
        std::unique_lock lock(mutex_);
        busy_ = superseded_ = false;
        idle_.notify_all();
        wake_.wait(lock, [this] { return quit_ || next_; });
        if (quit_) return;
        job = std::exchange(next_, std::nullopt);
        busy_ = true;
        stopping_ = false;
      }
      work_(*job);
    }
  }

  std::function<void(const Job&)> work_;
  std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::shared_ptr<const State> state_ = std::make_shared<const State>();
  std::optional<Job> next_;
  bool busy_ = false, superseded_ = false, quit_ = false;
  std::atomic<bool> stopping_{false};
  std::jthread thread_;
};

// Hands one request at a time to another thread; only the newest request counts, and an older answer is dropped.
template <typename Answer>
class Background {
 public:
  using Work = std::function<Answer()>;

  // Runs `work`, which throws nothing, and calls `wake` when the answer is there. Without `wake` (no window sleeps)
  // find() itself runs `work`.
  void ask(const std::string& key, Work work, const std::function<void()>& wake) {
    if (key == answered_ || key == asked_) return;
    next_ = {key, std::move(work), wake};
    poll();
  }
  // Forgets question and answer, so that the same question can be asked anew.
  void forget() {
    answered_.reset();
    next_.reset();
    asked_.reset();
  }
  // The answer to `key`, once it is there; it waits only for a question without `wake`.
  const Answer* find(const std::string& key) {
    poll();
    return answered_ == key ? &answer_ : nullptr;
  }

 private:
  struct Question {
    std::string key;
    Work work;
    std::function<void()> wake;
  };

  void poll() {
    if (running_.valid()) {
      const bool late = running_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
      if (late && !*there_) return;
      answer_ = running_.get();
      answered_ = std::exchange(asked_, {});
      running_ = {};
    }
    if (!next_) return;
    asked_ = next_->key;
    there_ = std::make_shared<std::atomic<bool>>(false);
    running_ =
        std::async(next_->wake ? std::launch::async : std::launch::deferred, [work = std::move(next_->work),
                                                                              wake = next_->wake,
                                                                              there = there_] {
          Answer answer = work();
          *there = true;
          if (wake) wake();
          return answer;
        }).share();
    next_.reset();
  }

  std::shared_future<Answer> running_;
  std::shared_ptr<std::atomic<bool>> there_;     // set before `wake`, so that the woken thread finds the
                                                 // answer
  std::optional<std::string> asked_, answered_;  // keys of the running question and of the answer
  std::optional<Question> next_;
  Answer answer_{};
};

}  // namespace normscope
