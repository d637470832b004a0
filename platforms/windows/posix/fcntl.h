// The part of POSIX's <fcntl.h> that the sources use and mingw-w64 lacks. See platforms/windows/README.md.
#pragma once

#include_next <fcntl.h>

#include <io.h>

#define O_CLOEXEC O_NOINHERIT
#define O_DIRECTORY 0x01000000  // a bit that the C library has no use for
#define O_NOFOLLOW 0            // links need a right that hardly anybody has
#define O_NONBLOCK 0
#define O_NOCTTY 0

enum : int { F_DUPFD_CLOEXEC = 1 };
inline int fcntl(int file, int, int) { return _dup(file); }

/// Stands in front of the C library's: bytes and no text, names in UTF-8, and a file that is open can be renamed
/// and removed.
int open(const wchar_t* path, int flags, int mode = 0);
