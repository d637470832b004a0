// What a sanitizer watches takes ten to fifty times as long: a test that repeats, or needs steps that take their time,
// does less of it there.
#pragma once

namespace normscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace normscope::test
