// `Error` is the one exception of the library. Recording, sealing, loading and configuring throw it; replay never
// does. Its text is a single line that says where, what is wrong and what was expected:
//   [linear L03.ffn.w1] input (1024,128) does not match weight (512,256): expected input.cols == weight.rows
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace normscope {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says that the device cannot go on: it has too little memory, or it is lost with everything on it. A
/// Run goes on elsewhere from what the host has (training/run/run.h, recover_on).
struct DeviceError : Error {
  using Error::Error;
};

/// Throws Error with the text "[where] message".
template <typename... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  throw Error("[" + std::string(where) + "] " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace normscope
