// The helpers are what many test files ask for: the words of an error, whether a text contains some, a text with other
// words, a variance, equal bits.
#pragma once

#include "catch.hpp"
#include "engine/core/error.h"

namespace normscope::test {

/// The message of the Error that `act` throws; `otherwise` when it throws none.
template <typename Act>
Message error_of(Act&& act, const char* otherwise = "no error") {
  try {
    std::forward<Act>(act)();
  } catch (const Error& error) {
    return error.message;
  }
  return otherwise;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Changes the first occurrence of `from`, which must be there, to `to`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

/// The variance of all elements about their mean, divided by their number.
template <typename T>
double variance(const std::vector<T>& x) {
  double mean = 0, sum = 0;
  for (T v : x) mean += static_cast<double>(v) / static_cast<double>(x.size());
  for (T v : x) sum += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return sum / static_cast<double>(x.size());
}

template <typename T = float>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace normscope::test
