// Writes a file so that a reader sees the old one or the new one, never half of either. It writes every
// file that the program writes as a whole; LineFile writes logs that grow.
//
// Promises: bytes go to a temporary file in the same folder, under an unused name that nobody can guess. commit()
// flushes them to the disk and renames it over the target. Without commit(), or after an error, the target is
// untouched and the temporary file is gone. A replaced file keeps its mode; a new file has 0600 or the umask's
// (Access). Links, devices and pipes: see output_path.h. The next AtomicFile in a folder removes temporary files that
// a killed process left there.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "engine/core/message.h"
#include "training/io/output_path.h"

namespace normscope {

class AtomicFile {
 public:
  // Begins the error messages ("safetensors"). Throws Error if nothing can be written there. The first write
  // opens a device or pipe.
  AtomicFile(const std::string& path, std::string what, Access access = Access::Shared);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);  // throws Error, for example when the disk is full
  void commit();

 private:
  void open_temporary(Access access);
  void close_and_remove() noexcept;
  [[noreturn]] void give_up(int reason);

  Message where_;
  OutputPath path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
};

// Does all of it in one call.
void write_file(const std::string& path, std::string_view bytes, std::string what,
                Access access = Access::Shared);

// Has `listener` called with the path of every file that is complete from now on, in the
// thread that wrote it: a page hands exports to the browser. One listener, set before there are threads that write.
void listen_to_written_files(std::function<void(const std::string& path)> listener);

// Removes what killed processes of this user left in a folder: files named as AtomicFile
// names its own, a minute old, that no process holds. AtomicFile does so once for each folder and process.
void remove_stale_temporaries(const std::string& folder);

}  // namespace normscope
