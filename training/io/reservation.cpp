#include "training/io/reservation.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace normscope {
namespace {

constexpr std::time_t kSilence = 120;  // seconds; a step of the largest model that a study trains takes less
constexpr auto kRenewal = std::chrono::seconds(10);

bool same_as(const struct stat& held, const char* path) {
  struct stat named {};
  return stat(path, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Reservation::Reservation(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  constexpr int kTries = 8;
  for (int i = 0; i < kTries && !lock(); ++i) {
  }
  renew();
}

bool Reservation::lock() {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat held {};
  if (file_ < 0 || fstat(file_, &held) != 0 || !S_ISREG(held.st_mode)) return true;
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) {
    if (same_as(held, path_.c_str())) return true;
    close(std::exchange(file_, -1));  // it was removed by whoever had it, since it was opened
    return false;
  }
  ours_ = errno != EWOULDBLOCK || held.st_mtime < std::time(nullptr) - kSilence;
  close(std::exchange(file_, -1));
  return true;
}

void Reservation::renew() {
  const auto now = std::chrono::steady_clock::now();
  if (file_ < 0 || now - renewed_ < kRenewal) return;
  renewed_ = now;
  std::error_code ignored;  // then others wait no longer than without a sign of life
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now(), ignored);
}

Reservation::~Reservation() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // first, so that nobody locks a file that is about to go
  close(file_);
}

}  // namespace normscope
