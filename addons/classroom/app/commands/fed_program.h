// A fed program is another program that reads from this one through its standard input. Its output goes into a file
// without a name, so that nothing is left behind, however either program ends. normscope film calls it.
#pragma once

#include <sys/types.h>

#include <memory>

#include "training/io/output_file.h"

namespace normscope::cli {

class FedProgram {
 public:
  /// The name under which the program finds the file for its output; it can seek there.
  static constexpr const char* kMade = "/dev/fd/3";

  /// Looks for the first word on PATH. Throws Error where it cannot be started.
  explicit FedProgram(const std::vector<std::string>& words);
  /// Ends a program that was not finished.
  ~FedProgram();
  FedProgram(const FedProgram&) = delete;
  FedProgram& operator=(const FedProgram&) = delete;

  /// Writes all bytes, in order, and waits while the program has enough. It returns false when the program reads
  /// no more, which finish() explains, or when InterruptGuard was told to stop. A program that went away is not a
  /// signal here: see prepare_streams().
  bool feed(const void* bytes, size_t size);
  /// Closes the input and waits for the program's end. Unless the program succeeds, it throws an Error with
  /// the last line that the program said. It ends the program when InterruptGuard is told to stop meanwhile.
  void finish();
  /// Copies the output, after finish(). Throws Error.
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
