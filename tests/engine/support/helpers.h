// The helpers are what many test files ask for: the words of an error, whether a text contains some, a variance, equal
// bits.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"

namespace normscope::test {

/// `error_of` is the message of the Error that `act` throws; "no error" when it throws none.
template <typename Act>
std::string error_of(Act&& act) {
  try {
    std::forward<Act>(act)();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// `variance` is the variance of all elements about their mean, divided by their number.
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
