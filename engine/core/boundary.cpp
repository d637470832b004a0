#include "engine/core/boundary.h"

#include <new>

#include "engine/core/error.h"

namespace normscope {

Message describe_exception(std::string_view doing) noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return error.message;
    } catch (const std::bad_alloc&) {
      return Message("[{}] {}", doing, "there is not enough memory");
    } catch (const std::exception& error) {
      return Message("[{}] {}", doing, error.what());
    } catch (...) {
      return Message("[{}] {}", doing, "failed for an unknown reason");
    }
  } catch (...) {  // no memory even for the line: this one needs none
    return "out of memory";
  }
}

std::exception_ptr exception_for_others(std::string_view doing) noexcept {
  try {
    throw;
  } catch (const Error&) {
    return std::current_exception();
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(MemoryError(describe_exception(doing)));
  } catch (...) {
    return std::make_exception_ptr(Error(describe_exception(doing)));
  }
}

void fail_to_start(std::string_view purpose, const std::system_error& error) {
  fail(purpose, "a thread cannot be started ({}): the limit on processes (ulimit -u) or memory is reached",
       error.code().message());
}

}  // namespace normscope
