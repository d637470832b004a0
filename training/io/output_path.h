// Where a named output goes; it is checked before the program writes any file.
//
// A symbolic link to a regular file is followed, so that the link stays and its target is replaced; a link that leads
// nowhere, and a folder, are refused. Devices, pipes and the open streams (/dev/stdout, /dev/fd/N) are written
// directly. Called by AtomicFile and LineFile.
#pragma once

#include <string>

#include "engine/core/message.h"

namespace normscope {

// Who may read a new file or folder. Own (0600, 0700) is for what holds a person's text; Shared is
// whatever the umask leaves. A file that is replaced keeps its mode.
enum class Access { Shared, Own };

struct OutputPath {
  std::string target;   // with the links followed
  bool exists = false;  // it exists and is a regular file
  bool direct = false;  // a device, a pipe or a stream: written as it is
  int stream = -1;      // the number of an open stream
};

// Throws Error, beginning with `where`, for what cannot be an output.
OutputPath output_path(const std::string& path, const Message& where);

// Opens a device, pipe or stream for writing. Throws Error. A pipe waits here for its reader.
int open_direct(const OutputPath& path, const Message& where);

// Whether two paths name the same regular file, or would once they are written.
bool same_file(const std::string& a, const std::string& b);

// Makes a folder and those above it. Throws Error.
void make_folder(const std::string& folder, Access access, const Message& where);

}  // namespace normscope
