// POSIX's <sys/file.h>, as far as the sources use it. See platforms/windows/README.md.
#pragma once

enum : int { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4 };

/// Locks a byte far behind every file's end, as the system's locks keep others from reading what is locked. A
/// folder, which cannot be locked, has a file of its own for that among the temporary ones. The lock ends with the
/// process, however that ends.
int flock(int file, int how);
