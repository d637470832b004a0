#include "engine/windows/wide.h"

#include <windows.h>

#include <algorithm>
#include <cerrno>

namespace normscope::windows {
namespace {

constexpr size_t kLongest = 240;  // the system's 260, less a name of 8.3 in a folder

struct Meaning {
  DWORD error;
  int number;
};

constexpr Meaning kMeanings[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                                 {ERROR_PATH_NOT_FOUND, ENOENT},
                                 {ERROR_INVALID_NAME, ENOENT},
                                 {ERROR_BAD_NETPATH, ENOENT},
                                 {ERROR_ACCESS_DENIED, EACCES},
                                 {ERROR_SHARING_VIOLATION, EACCES},
                                 {ERROR_FILE_EXISTS, EEXIST},
                                 {ERROR_ALREADY_EXISTS, EEXIST},
                                 {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                                 {ERROR_DISK_FULL, ENOSPC},
                                 {ERROR_HANDLE_DISK_FULL, ENOSPC},
                                 {ERROR_LOCK_VIOLATION, EWOULDBLOCK},
                                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                                 {ERROR_INVALID_HANDLE, EBADF},
                                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}};

}  // namespace

std::wstring wide(std::string_view text) {
  std::wstring to(text.size(), L'\0');  // UTF-16 has no more units than UTF-8 has bytes
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), to.data(),
                                       static_cast<int>(to.size()));
  to.resize(static_cast<size_t>(std::max(size, 0)));
  return to;
}

std::string narrow(std::wstring_view text) {
  std::string to(3 * text.size(), '\0');
  const int size = WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), to.data(),
                                       static_cast<int>(to.size()), nullptr, nullptr);
  to.resize(static_cast<size_t>(std::max(size, 0)));
  return to;
}

std::wstring wide_path(std::wstring_view path) {
  if (path == L"/dev/null") return L"NUL";
  std::wstring own(path);
  if (own.size() < kLongest || own.starts_with(L"\\\\")) return own;
  std::wstring whole(32768, L'\0');
  const DWORD size = GetFullPathNameW(own.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr);
  if (size == 0 || size >= whole.size()) return own;
  whole.resize(size);
  return L"\\\\?\\" + whole;
}

int fail_with_last_error() {
  const DWORD error = GetLastError();
  const auto* known = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                   [&](const Meaning& meaning) { return meaning.error == error; });
  errno = known == std::end(kMeanings) ? EIO : known->number;
  return -1;
}

}  // namespace normscope::windows
