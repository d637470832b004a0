// The boundaries that exceptions do not cross. Each thread, each frame and each callback out of C code has one
// boundary: whatever the work inside throws becomes a line that says what was being done, and the thread lives on.
// An Error already says so itself; an exception from the allocator, the file system or a library does not.
#pragma once

#include <exception>
#include <future>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace normscope {

/// The exception in flight as one line: an Error's own, else "[doing] what happened". Called in a catch block.
std::string describe_exception(std::string_view doing) noexcept;

/// The exception in flight for another thread to throw again: an Error as it is, for its type may matter; any
/// other as an Error with that line.
std::exception_ptr exception_for_others(std::string_view doing) noexcept;

/// Runs the job; empty when it went well, else the line.
template <typename Job>
std::string guarded(std::string_view doing, Job&& job) noexcept {
  try {
    std::forward<Job>(job)();
    return {};
  } catch (...) {
    return describe_exception(doing);
  }
}

[[noreturn]] void fail_to_start(std::string_view purpose, const std::system_error& error);

/// A thread that is joined when it goes. Throws Error with the purpose where the system gives no more threads.
template <typename Job>
std::jthread start_thread(std::string_view purpose, Job&& job) {
  try {
    return std::jthread(std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

/// The same for a result that is waited for: std::async on a thread of its own.
template <typename Job>
auto start_task(std::string_view purpose, Job&& job) {
  try {
    return std::async(std::launch::async, std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

}  // namespace normscope
