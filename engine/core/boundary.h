// The boundaries of exceptions: each thread, each frame and each callback out of C code has one. There an exception
// becomes a line that names the task, and the thread lives on. The text of an Error already names its task; an
// exception from the allocator, the file system or a library does not.
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

/// Describes the exception in flight in one line: the text of an Error, else "[doing] text". Call it in a catch block.
Message describe_exception(std::string_view doing) noexcept;

/// Wraps the exception in flight so that another thread can throw it: an Error unchanged, for its type may matter,
/// bad_alloc as MemoryError, any other exception as Error, with the line of describe_exception().
std::exception_ptr exception_for_others(std::string_view doing) noexcept;

/// Runs the job and returns the line of describe_exception(); empty when nothing was thrown.
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

/// Starts a thread that its destructor joins. Throws Error with the purpose where the system refuses another thread.
template <typename Job>
std::jthread start_thread(std::string_view purpose, Job&& job) {
  try {
    return std::jthread(std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

/// Starts a thread of its own for a job with a result (std::async); throws as start_thread does.
template <typename Job>
auto start_task(std::string_view purpose, Job&& job) {
  try {
    return std::async(std::launch::async, std::forward<Job>(job));
  } catch (const std::system_error& error) {
    fail_to_start(purpose, error);
  }
}

}  // namespace normscope
