// The part of POSIX's <locale.h> that the sources use and mingw-w64 lacks: the locale "C", which the program never
// leaves. See platforms/windows/README.md.
#pragma once

#include_next <locale.h>

#ifdef __cplusplus
#include <cstdlib>

extern "C++" {

using locale_t = const void*;
enum : int { LC_ALL_MASK = 0 };

inline locale_t newlocale(int, const char*, locale_t) { return nullptr; }
inline float strtof_l(const char* text, char** end, locale_t) { return std::strtof(text, end); }
inline double strtod_l(const char* text, char** end, locale_t) { return std::strtod(text, end); }

}  // extern "C++"
#endif
