// The part of POSIX's <stdlib.h> that the sources use and mingw-w64 lacks. See platforms/windows/README.md.
#pragma once

#include_next <stdlib.h>

extern "C" char* mkdtemp(char* path);
