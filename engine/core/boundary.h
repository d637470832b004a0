// Where exceptions stop: each thread, each frame and each callback out of C code has such a boundary. Whatever the
// work inside throws becomes a line that says what was being done, and the thread lives on. An Error's text already
// says so; an exception from the allocator, the file system or a library does not.
#pragma once

#include <exception>
#include <future>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/core/error.h"

namespace normscope {

/// Writes the exception in flight as one line: an Error's own, else "[doing] what happened". Call it in a catch block.
Message describe_exception(std::string_view doing) noexcept;

/// The exception in flight for another thread to throw again: an Error as it is, for
/// its type may matter; any other exception as an Error with that line.
std::exception_ptr exception_for_others(std::string_view doing) noexcept;

/// Runs the job and returns that line; empty when nothing was thrown.
template <typename Job>
Message guarded(std::string_view doing, Job&& job) noexcept {
  try {
    std::forward<Job>(job)();
    return {};
  } catch (...) {
    return describe_exception(doing);
  }
}

[[noreturn]] void fail_to_start(std::string_view purpose, const std::system_error& error);

/// Starts a thread that its destructor joins. Throws Error with the purpose where the system gives no more threads.
template <typename Job>
std::jthread start_thread(std::string_view purpose, Job&& job) {
  try {
    return std::jthread(std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

/// Does the same for a result: std::async on a thread of its own.
template <typename Job>
auto start_task(std::string_view purpose, Job&& job) {
  try {
    return std::async(std::launch::async, std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

}  // namespace normscope
