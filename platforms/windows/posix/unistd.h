// The part of POSIX's <unistd.h> that the sources use and mingw-w64 lacks. See platforms/windows/README.md.
#pragma once

#include_next <unistd.h>

#include <cstddef>
#include <cstdint>

enum : int { _SC_PHYS_PAGES = 1, _SC_PAGE_SIZE, _SC_PAGESIZE = _SC_PAGE_SIZE, _SC_LEVEL2_CACHE_SIZE };
#define _SC_LEVEL2_CACHE_SIZE _SC_LEVEL2_CACHE_SIZE

extern "C" char* mkdtemp(char* path);
int64_t sysconf(int name);
int fsync(int file);
int64_t pread(int file, void* to, size_t count, int64_t offset);
int access(const wchar_t* path, int mode);
int unlink(const wchar_t* path);
inline int geteuid() { return 0; }  // a file's owner is not asked for
