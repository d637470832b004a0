// POSIX's <sys/mman.h>, as far as the sources use it: a file's bytes, to be read. See platforms/windows/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

enum : int { PROT_READ = 1, MAP_PRIVATE = 2 };
#define MAP_FAILED (reinterpret_cast<void*>(intptr_t{-1}))

void* mmap(void* at, size_t bytes, int protection, int flags, int file, int64_t offset);
int munmap(void* at, size_t bytes);
