// Names between UTF-8, in which the program has every text, and the system's UTF-16; and the system's last error as
// errno.
#pragma once

#include <string>
#include <string_view>

namespace normscope::windows {

std::wstring wide(std::string_view text);
std::string narrow(std::wstring_view text);

/// The same for the name of a file, with the prefix that lets it be longer than 260 characters.
std::wstring wide_path(std::wstring_view path);

/// Sets errno for the system's last error and returns -1.
int fail_with_last_error();

}  // namespace normscope::windows
