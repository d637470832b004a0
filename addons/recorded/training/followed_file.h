// `FollowedFile` reads a log or a saved run on a thread of its own: what is known at once, and what the file gains
// while it is written. Called by the Compare screen. What was read grows by itself (histories are shared), and
// `version` says when to look again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "addons/recorded/training/recorded_run.h"

namespace normscope::records {

/// What is known of a file so far.
struct FollowedNow {
  uint64_t version = 0;  ///< grows with every change
  RecordedFile file{};   ///< no runs before the first step
  std::string error{};   ///< why it cannot be read, one line; empty: it can
};

class FollowedFile {
 public:
  /// The thread calls `wake` when something is new. Without `wake` (no window sleeps) there is no thread, and now()
  /// reads.
  FollowedFile(std::string path, std::function<void()> wake);
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  const std::string& path() const;
  /// Never null; version 0 before the first reading.
  std::shared_ptr<const FollowedNow> now();

 private:
  struct Reading;
  std::shared_ptr<Reading> reading_;
};

}  // namespace normscope::records
