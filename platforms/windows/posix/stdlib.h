// What the sources use of POSIX's <stdlib.h> beyond what mingw-w64 has. See platforms/windows/README.md.
#pragma once

#include_next <stdlib.h>

extern "C" char* mkdtemp(char* path);
