// The part of POSIX's <sys/stat.h> that the sources use: a file's identity, which the C library leaves out, and two
// kinds of file that there are not. See platforms/windows/README.md.
#pragma once

#include_next <sys/stat.h>

#include <cstdint>
#include <ctime>

using uid_t = int;
using gid_t = int;

struct normscope_stat {
  uint64_t st_dev = 0, st_ino = 0;
  mode_t st_mode = 0;
  uid_t st_uid = 0;
  gid_t st_gid = 0;
  int64_t st_size = 0;
  std::time_t st_mtime = 0;
};

#undef stat
#undef fstat
#define stat normscope_stat
#define fstat normscope_fstat

int normscope_stat(const char* path, struct normscope_stat* to);
int normscope_stat(const wchar_t* path, struct normscope_stat* to);
int normscope_fstat(int file, struct normscope_stat* to);
int mkdir(const char* path, int mode);

// The folder decides about rights: %APPDATA% and the like belong to one person.
inline int chmod(const wchar_t*, int) { return 0; }
inline int fchmod(int, int) { return 0; }
inline int fchown(int, uid_t, gid_t) { return 0; }

#define S_ISSOCK(mode) false
