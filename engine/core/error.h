// The one exception of the library. Recording, sealing, loading and configuring throw it; replay never
// does. Its text is a single line that says where, what is wrong and what was expected:
//   [linear L03.ffn.w1] input (1024,128) does not match weight (512,256): expected input.cols == weight.rows
#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/core/message.h"

namespace normscope {

struct Error : std::runtime_error {
  explicit Error(Message said) : std::runtime_error(said), message(std::move(said)) {}
  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : Error(Message(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  Message message;  ///< what() with its format
};

/// Says that the device cannot go on: it has too little memory, or it is lost with everything on it. A
/// Run goes on elsewhere from what the host has (training/run/run.h, recover_on).
struct DeviceError : Error {
  using Error::Error;
};

/// Throws Error with the text "[where] message".
[[noreturn]] inline void fail(const Message& where, const Message& message) {
  throw Error("[{}] {}", where, message);
}
template <typename First, typename... Rest>
[[noreturn]] void fail(const Message& where, fmt::format_string<First, Rest...> format, First&& first,
                       Rest&&... rest) {
  fail(where, Message(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

}  // namespace normscope
