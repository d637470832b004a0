// Runs another program, such as ffmpeg, and feeds it through its standard input. Its output goes into a file without a
// name, so that no file is left behind, however either program ends. normscope film calls it.
#pragma once

#include <sys/types.h>

#include <memory>

#include "engine/io/output_file.h"

namespace normscope::cli {

class FedProgram {
 public:
  /// The path of the output file in the fed program, which may seek in it.
  static constexpr const char* kMade = "/dev/fd/3";

  /// Starts the program `words[0]`, found on PATH, with the other words as arguments. Throws Error.
  explicit FedProgram(const std::vector<std::string>& words);
  /// Ends a program that was not finished.
  ~FedProgram();
  FedProgram(const FedProgram&) = delete;
  FedProgram& operator=(const FedProgram&) = delete;

  /// Writes all bytes, in order, and blocks while the pipe is full. Returns false after an interrupt
  /// (InterruptGuard), or when the program no longer reads: finish() then reports the cause. No SIGPIPE arrives here:
  /// see prepare_streams().
  bool feed(const void* bytes, size_t size);
  /// Closes the input and waits for the program's end. An interrupt meanwhile kills the program. Throws Error with the
  /// last line of its standard error unless its exit code is 0.
  void finish();
  /// Copies the output, after finish(). Throws Error, also for an empty output.
  void copy_to(AtomicFile& file);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Nameless = std::unique_ptr<std::FILE, Close>;

  void start(std::vector<char*> arguments, int input);
  void close_input();
  /// The program's wait status.
  int wait_for_end();
  std::string last_line();

  std::string name_;
  Nameless made_, said_;
  int input_ = -1;
  pid_t child_ = -1;
};

}  // namespace normscope::cli
