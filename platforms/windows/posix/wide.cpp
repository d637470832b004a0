#include "platforms/windows/posix/wide.h"

#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <codecvt>
#include <locale>

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

// libstdc++ reads the text of a path by this facet, which knows the locale "C" alone: here it knows UTF-8. The members
// of the library stand in a file of their own, which is not linked where they are.
namespace std {
namespace {

const codecvt_utf8_utf16<wchar_t>& utf8() {
  static const codecvt_utf8_utf16<wchar_t> one;
  return one;
}

}  // namespace

using Facet = codecvt<wchar_t, char, mbstate_t>;

Facet::result Facet::do_out(state_type& state, const intern_type* from, const intern_type* end,
                            const intern_type*& next, extern_type* to, extern_type* to_end,
                            extern_type*& to_next) const {
  return utf8().out(state, from, end, next, to, to_end, to_next);
}

Facet::result Facet::do_in(state_type& state, const extern_type* from, const extern_type* end,
                           const extern_type*& next, intern_type* to, intern_type* to_end,
                           intern_type*& to_next) const {
  return utf8().in(state, from, end, next, to, to_end, to_next);
}

int Facet::do_encoding() const noexcept { return 0; }

int Facet::do_length(state_type& state, const extern_type* from, const extern_type* end, size_t most) const {
  return utf8().length(state, from, end, most);
}

int Facet::do_max_length() const noexcept { return utf8().max_length(); }

}  // namespace std
