// A log or a saved run that somebody opened, read on a thread of its own: what is known of it at once, and what it
// gains while it is written. Called by the Compare screen; what is read from here grows by itself (histories are
// shared), and `version` says when to look again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "training/records/recorded_run.h"

namespace normscope::records {

/// What is known of a file by now.
struct FollowedNow {
  uint64_t version = 0;  ///< grows with every change
  RecordedFile file{};   ///< no runs before the first step
  std::string error{};   ///< why it cannot be read, one line; empty: it can
};

class FollowedFile {
 public:
  /// `wake` is rung from the thread when something is new; without one (no window sleeps) there is no thread, and
  /// now() reads.
  FollowedFile(std::string path, std::function<void()> wake);
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  const std::string& path() const;
  /// Never null; version 0 before it was read.
  std::shared_ptr<const FollowedNow> now();

 private:
  struct Reading;
  std::shared_ptr<Reading> reading_;
};

}  // namespace normscope::records
