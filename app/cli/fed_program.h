// Another program that is fed through its standard input. What it makes goes into a file without a name, so that
// nothing is left behind, however either of the two ends. Called by normscope film.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "training/io/atomic_file.h"

namespace normscope::cli {

class FedProgram {
 public:
  /// The name under which the program finds the file for what it makes; it can be gone through at will there.
  static constexpr const char* kMade = "/dev/fd/3";

  /// The first of the words is looked for on PATH. Throws Error where it cannot be started.
  explicit FedProgram(const std::vector<std::string>& words);
  /// One that was not finished is ended.
  ~FedProgram();
  FedProgram(const FedProgram&) = delete;
  FedProgram& operator=(const FedProgram&) = delete;

  /// All bytes, in order; waits while the program has enough. False when it reads no more, which finish() explains,
  /// or when InterruptGuard was told to stop. A program that went away is no signal here: prepare_streams().
  bool feed(const void* bytes, size_t size);
  /// No more is to come: waits for the program's end. Throws Error with the last line that it said unless it ended
  /// well; ends it when InterruptGuard is told to stop meanwhile.
  void finish();
  /// Afterwards: what it made. Throws Error.
  void copy_to(AtomicFile& file);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Nameless = std::unique_ptr<std::FILE, Close>;

  void start(std::vector<char*> arguments, int input);
  void close_input();
  /// Its wait status.
  int wait_for_end();
  std::string last_line();

  std::string name_;
  Nameless made_, said_;
  int input_ = -1;
  pid_t child_ = -1;
};

}  // namespace normscope::cli
