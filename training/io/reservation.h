// Says to other processes, on this machine or on one that shares the folder, that this one is at work on something.
#pragma once

#include <chrono>
#include <string>

namespace normscope {

/// A locked file beside what is worked on. The lock ends with the process, however that ends, so nothing has to be
/// cleared away after a crash. Where a folder can be neither written nor locked everybody may work, as without it.
class Reservation {
 public:
  /// Asks for `path`; empty: nobody else can want it.
  explicit Reservation(std::string path);
  ~Reservation();  ///< removes the file
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  /// Whether the work is ours: nobody else has it, or whoever has it has given no sign of life for two minutes.
  bool ours() const { return ours_; }
  /// Gives a sign of life, at most every ten seconds. It costs next to nothing in between.
  void renew();

 private:
  bool lock();  ///< false: to be tried again

  std::string path_;
  int file_ = -1;
  bool ours_ = true;
  std::chrono::steady_clock::time_point renewed_{};
};

}  // namespace normscope
