// The one exception of the library. Recording, sealing, loading and configuring throw it; replay never does. Its text
// is a single line that names the place, the fault and what was expected:
//   [linear L03.ffn.w1] input (1024,128) does not match weight (512,256): expected input.cols == weight.rows
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace normscope {

// A Message is an English sentence, usable as any string, that also keeps its format and the arguments filled into it.
// A window shows the sentence in another language by translating the format (app/words/words.h).

struct Message : std::string {
  Message() = default;
  /// A name, a number or a phrase without arguments: "a UTF-8 text file".
  template <typename Text>
  requires(std::convertible_to<Text, std::string_view> &&
           !std::derived_from<std::remove_cvref_t<Text>, Message>) Message(Text&& text)
      : std::string(std::string_view(text)) {}
  /// The format has to be a literal, as only a view of it is kept. An argument that is a Message keeps its own format.
  template <typename First, typename... Rest>
  Message(fmt::format_string<First, Rest...> form, First&& first, Rest&&... rest)
      : Message(fmt::string_view(form), {as_message(first), as_message(rest)...},
                fmt::make_format_args(first, rest...)) {}

  std::string_view format{};      ///< "{} is out of range: expected {} to {}"; empty: no arguments
  std::vector<Message> places{};  ///< the arguments, in the order in which the format shows them

 private:
  Message(fmt::string_view form, std::initializer_list<const Message*> given, const fmt::format_args& all);

  template <typename T>
  static const Message* as_message(const T& value) {
    if constexpr (std::derived_from<T, Message>)
      return &value;
    else
      return nullptr;
  }
};

/// The parts of a text of fail(), "[where] message"; of another text, the whole of it and an empty `where`.
const Message& without_where(const Message& message);
const Message& where_of(const Message& message);
/// A space replaces each control character. A text or argument of more than `most` bytes is cut there, and "..." added.
Message on_one_line(Message message, size_t most);

struct Error : std::runtime_error {
  explicit Error(Message said) : std::runtime_error(said), message(std::move(said)) {}
  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : Error(Message(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  Message message;  ///< what() with its format
};

/// Says that the device cannot go on: it has too little memory, or it is lost with everything on it. Run::recover_on
/// (training/run/run.h) then continues a run on another backend, from the data that the host has.
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

/// Says that an allocation failed, before any work on that memory began.
struct MemoryError : Error {
  using Error::Error;
};

}  // namespace normscope
