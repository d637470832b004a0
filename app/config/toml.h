// toml++ as everything here includes it: the same switches in every file.
// toml++ 3.3 asserts (with NDEBUG, on some compilers: assumes) that input such as "[.a]" does not come, and
// refuses it properly in the next lines. Where it is compiled into our files (header only), neither is
// wanted.
#pragma once

#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
