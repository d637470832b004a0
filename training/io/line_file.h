// Grows by whole lines and can be read meanwhile: the training log, the log of frames. It is no
// AtomicFile, since such a file matters most when the program did not finish.
//
// Promises: it is opened once, and only whole lines are appended. The first line that cannot be written (a full disk)
// is the last one tried: its written part is removed, and error() says why. Writing never throws. Links, devices and
// pipes: see output_path.h.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/message.h"
#include "training/io/output_path.h"

namespace normscope {

class LineFile {
 public:
  LineFile() = default;  // writes nothing
  // Begins anew, or goes on after the existing lines (`go_on`). Throws Error.
  LineFile(const std::string& path, std::string what, bool go_on = false);
  ~LineFile();
  LineFile(LineFile&&) noexcept;
  LineFile& operator=(LineFile&&) noexcept;

  explicit operator bool() const { return file_ >= 0; }
  void line(std::string_view text);  // without its line break
  // Empty while all is well; after an error no more lines are written.
  const Message& error() const { return error_; }

 private:
  Message where_, error_;
  int file_ = -1;
};

}  // namespace normscope
