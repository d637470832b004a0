// Questions of the engine that Windows answers by another name than POSIX. Called where engine/core and engine/cpu ask
// Linux something of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace normscope::windows {

/// How many cores this process may run on, whatever threads each of them has.
int usable_cores();

std::string processor_name();

/// The file of the running program.
std::string program_path();

/// Takes addresses alone, and nullptr says that there are none; commit_pages() gives them memory, which is
/// zero, or says that there is none left, and decommit_pages() takes it back.
void* reserve_pages(size_t bytes);
bool commit_pages(void* at, size_t bytes);
void decommit_pages(void* at, size_t bytes);
void release_pages(void* at);

void* allocate_aligned(size_t unit, size_t bytes);
void free_aligned(void* at);

/// These wait for a number to differ from `before`, and wake who waits: WaitOnAddress.
void wait_on(const void* address, uint32_t before) noexcept;
void wake_waiters(void* address) noexcept;

}  // namespace normscope::windows
