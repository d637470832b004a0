// See followed_file.h.
#include "addons/recorded/training/followed_file.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "addons/recorded/training/log_reader.h"
#include "engine/core/boundary.h"

namespace normscope::records {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(400);  // between two looks at a file that may grow

}  // namespace

/// What the thread and the screen share.
struct FollowedFile::Reading {
  explicit Reading(std::string file) : path(std::move(file)), log(path) {}

  /// Looks at the file once; true when something is new. Throws nothing. A failed look keeps what was read
  /// before, beside the error.
  bool look() {
    FollowedNow next;
    bool news = false;
    try {
      if (read ? saved : is_saved_run(path)) {  // a saved run does not grow
        saved = true;
        news = !read;
        if (news) next.file = read_recorded(path);
      } else {
        news = log.poll(&stopped) || !read || failed;
        if (news) next.file = log.file();
        if (news && next.file.runs.empty() && next.file.broken > 0 && !next.file.faults.empty())
          next.error = path + ": " + next.file.faults.front();
      }
      read = true;
      failed = false;
    } catch (...) {
      next.file = known->file;
      next.error = describe_exception("reading " + path);
      news = !failed || next.error != known->error;
      failed = true;
    }
    if (!news) return false;
    const std::lock_guard lock(mutex);
    next.version = known->version + 1;
    known = std::make_shared<const FollowedNow>(std::move(next));
    return true;
  }

  void follow(const std::function<void()>& wake) {
    std::unique_lock lock(mutex);
    while (!stopped) {
      lock.unlock();
      if (look()) wake();
      lock.lock();
      changed.wait_for(lock, kBetween, [this] { return stopped.load(); });
    }
  }

  const std::string path;
  LogFollower log;  // used by the reading thread only
  // Used by the reading thread only: it was read once; it is a saved run; the newest look failed.
  bool read = false, saved = false, failed = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stopped{false};  // the reader of a long log checks it between two parts
  std::shared_ptr<const FollowedNow> known = std::make_shared<const FollowedNow>();
  std::jthread thread;
};

FollowedFile::FollowedFile(std::string path, std::function<void()> wake)
    : reading_(std::make_shared<Reading>(std::move(path))) {
  if (wake)
    reading_->thread = start_thread(
        "compare", [reading = reading_.get(), wake = std::move(wake)] { reading->follow(wake); });
}

FollowedFile::~FollowedFile() {
  {
    const std::lock_guard lock(reading_->mutex);
    reading_->stopped = true;
  }
  reading_->changed.notify_all();
  if (reading_->thread.joinable()) reading_->thread.join();
}

const std::string& FollowedFile::path() const { return reading_->path; }

std::shared_ptr<const FollowedNow> FollowedFile::now() {
  if (!reading_->thread.joinable()) reading_->look();
  const std::lock_guard lock(reading_->mutex);
  return reading_->known;
}

}  // namespace normscope::records
