// The output of the program: paths that are checked, whole files, and logs that grow.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace normscope {

// The destination of a named output, which is checked before the program writes any file.
//
// A symbolic link to a regular file is followed, so that the link stays and its target is replaced; a link that leads
// nowhere, and a folder, are refused. Devices, pipes and the open streams (/dev/stdout, /dev/fd/N) are written
// directly. Called by AtomicFile and LineFile.

// Who may read a new file or folder. Own (0600, 0700) is for files that may have the user's text in them; Shared is
// whatever the umask leaves. A file that is replaced keeps its mode.
enum class Access { Shared, Own };

struct OutputPath {
  std::string target;   // with the links followed
  bool exists = false;  // it exists and is a regular file
  bool direct = false;  // a device, a pipe or a stream: written as it is
  int stream = -1;      // the number of an open stream
};

// Throws Error, beginning with `where`, for a path that cannot be an output.
OutputPath output_path(const std::string& path, const Message& where);

// Opens a device, pipe or stream for writing. Throws Error. A pipe waits here for its reader.
int open_direct(const OutputPath& path, const Message& where);

// Whether two paths name the same regular file, or would once written; one that cannot be resolved does not.
bool same_file(const std::string& a, const std::string& b);

// Makes a folder and those above it. Throws Error.
void make_folder(const std::string& folder, Access access, const Message& where);

// Writes a file so that a reader sees the old one or the new one, never half of either. It writes every
// file that the program writes as a whole; LineFile writes logs that grow.
//
// Promises: bytes go to a temporary file in the same folder, under an unused name that nobody can guess. commit()
// flushes them to the disk and renames it over the target. Without commit(), or after an error, the target is
// untouched and the temporary file is gone. A replaced file keeps its mode; a new file has 0600 or the umask's
// (Access). The next AtomicFile in a folder removes temporary files that
// a killed process left there.

class AtomicFile {
 public:
  // `what` begins the error messages ("safetensors"). Throws Error if the path cannot be written. The first write opens
  // a device or pipe.
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

// Writes a whole file by an AtomicFile in one call.
void write_file(const std::string& path, std::string_view bytes, std::string what,
                Access access = Access::Shared);

// Sets the function that is called with the path of every file completed from now on, in the thread that wrote it: a
// web page hands exports to the browser. One listener, set before there are threads that write.
void listen_to_written_files(std::function<void(const std::string& path)> listener);

// Removes what killed processes of this user left in a folder: files named as AtomicFile
// names its own, a minute old, that no process holds. AtomicFile calls this once for each folder and process.
void remove_stale_temporaries(const std::string& folder);

// Grows by whole lines and can be read meanwhile: the training log, the log of frames. It is no
// AtomicFile, since such a file matters most when the program did not finish.
//
// Promises: it is opened once, and only whole lines (or records of another form) are appended. The first that cannot be
// written (a full disk) is the last one tried: its written part is removed, and error() says why. Writing never throws.

class LineFile {
 public:
  LineFile() = default;  // writes nothing
  enum class Start { Anew, NextLine, NextByte };
  // Truncates the file (Anew) or appends to it; NextLine first ends an incomplete line. Throws Error.
  LineFile(const std::string& path, std::string what, Start start = Start::Anew);
  ~LineFile();
  LineFile(LineFile&&) noexcept;
  LineFile& operator=(LineFile&&) noexcept;

  explicit operator bool() const { return file_ >= 0; }
  void line(std::string_view text) { append(std::string(text) + '\n'); }  // without its line break
  void append(std::string_view bytes);
  // Empty while all is well; after an error no more lines are written.
  const Message& error() const { return error_; }

 private:
  Message where_, error_;
  int file_ = -1;
};

}  // namespace normscope
