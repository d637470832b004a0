// POSIX's <dlfcn.h>, as far as the sources use it. See platforms/windows/README.md.
#pragma once

enum : int { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 0 };

void* dlopen(const char* path, int flags);
void* dlsym(void* library, const char* name);
int dlclose(void* library);
const char* dlerror();
