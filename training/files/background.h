// Puts one request at a time to another thread; only the newest request counts, and an older answer is
// dropped. It is meant for reading from disk and other slow work: the thread that draws never waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace normscope {

template <typename Answer>
class Background {
 public:
  using Work = std::function<Answer()>;

  // Runs `work`, which throws nothing, and calls `wake` when the answer is there. Without `wake` (no window
  // sleeps) the question is answered in find().
  void ask(const std::string& key, Work work, const std::function<void()>& wake) {
    if (key == answered_ || key == asked_) return;
    next_ = {key, std::move(work), wake};
    poll();
  }
  // Allows the same question to be asked anew.
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
