// Files for the sources, which ask for them as POSIX does (platforms/windows/posix).
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "platforms/windows/posix/wide.h"

namespace normscope::windows {
namespace {

constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr int kPatience = 20;  // times 10 ms: a virus scanner may hold a file that was just written

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(_get_osfhandle(file)); }

/// Lets the C library write bytes as they are, also where it opens a file by itself, and gives the home folder
/// the name that the sources know.
[[maybe_unused]] const bool prepared = [] {
  _fmode = _O_BINARY;
  for (const int stream : {0, 1, 2})
    if (_get_osfhandle(stream) >= 0) _setmode(stream, _O_BINARY);
  const char *home = std::getenv("HOME"), *profile = std::getenv("USERPROFILE");
  if ((!home || !*home) && profile) _putenv_s("HOME", profile);
  return true;
}();

DWORD disposition_of(int flags) {
  if (flags & O_CREAT) return flags & O_EXCL ? CREATE_NEW : flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
  return flags & O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
}

DWORD access_of(int flags) {
  if (flags & O_DIRECTORY) return FILE_READ_ATTRIBUTES;
  if ((flags & (O_WRONLY | O_RDWR)) == O_RDWR) return GENERIC_READ | GENERIC_WRITE | DELETE;
  return flags & O_WRONLY ? GENERIC_WRITE | FILE_READ_ATTRIBUTES | DELETE : GENERIC_READ;
}

/// Asks for the right to rename only as long as the system grants it: a device has none.
HANDLE open_handle(const std::wstring& path, int flags) {
  const DWORD attributes = flags & O_DIRECTORY ? FILE_FLAG_BACKUP_SEMANTICS : FILE_ATTRIBUTE_NORMAL;
  for (const DWORD rights : {access_of(flags), access_of(flags) & ~static_cast<DWORD>(DELETE)}) {
    const HANDLE handle =
        CreateFileW(path.c_str(), rights, kShared, nullptr, disposition_of(flags), attributes, nullptr);
    if (handle != INVALID_HANDLE_VALUE || GetLastError() != ERROR_ACCESS_DENIED) return handle;
  }
  return INVALID_HANDLE_VALUE;
}

int64_t seconds_of(const FILETIME& time) {
  constexpr int64_t kTicks = 10'000'000, kFrom1601 = 11'644'473'600;
  return static_cast<int64_t>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) / kTicks - kFrom1601;
}

int look(HANDLE handle, struct normscope_stat* to) {
  *to = {};
  const DWORD type = GetFileType(handle);
  if (type == FILE_TYPE_CHAR || type == FILE_TYPE_PIPE) {
    to->st_mode = type == FILE_TYPE_CHAR ? S_IFCHR : S_IFIFO;
    return 0;
  }
  BY_HANDLE_FILE_INFORMATION info{};
  if (!GetFileInformationByHandle(handle, &info)) return fail_with_last_error();
  const bool folder = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
  to->st_dev = info.dwVolumeSerialNumber;
  to->st_ino = uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  to->st_mode = static_cast<mode_t>((folder ? S_IFDIR : S_IFREG) | 0666);
  to->st_size = static_cast<int64_t>(uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow);
  to->st_mtime = seconds_of(info.ftLastWriteTime);
  return 0;
}

/// The file that is locked in a folder's place.
std::wstring lock_file_of(HANDLE folder) {
  std::wstring name(32768, L'\0'), place(MAX_PATH + 1, L'\0');
  name.resize(GetFinalPathNameByHandleW(folder, name.data(), static_cast<DWORD>(name.size()), 0));
  place.resize(GetTempPathW(static_cast<DWORD>(place.size()), place.data()));
  uint64_t hash = 14695981039346656037u;
  for (const wchar_t letter : name) hash = (hash ^ letter) * 1099511628211u;
  wchar_t number[17];
  swprintf(number, std::size(number), L"%016llx", static_cast<unsigned long long>(hash));
  return place + L"normscope-" + number + L".lock";
}

/// Says so of an open file.
bool is_folder(HANDLE handle) {
  BY_HANDLE_FILE_INFORMATION info{};
  return GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, &info) &&
         (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
}

/// Replaces a file that others have open, as POSIX does, where the system can (Windows 10 of 2018).
bool rename_over(const std::wstring& from, const std::wstring& to) {
  struct Request {
    DWORD flags;
    HANDLE root;
    DWORD bytes;
    wchar_t name[1];
  };
  constexpr DWORD kReplace = 1, kAsPosix = 2;
  constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  std::wstring whole(32768, L'\0');
  whole.resize(GetFullPathNameW(to.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr));
  const HANDLE handle =
      CreateFileW(from.c_str(), DELETE, kShared, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const size_t bytes = whole.size() * sizeof(wchar_t);
  std::string memory(sizeof(Request) + bytes + sizeof(wchar_t), '\0');
  auto* request = reinterpret_cast<Request*>(memory.data());
  request->flags = kReplace | kAsPosix;
  request->bytes = static_cast<DWORD>(bytes);
  std::memcpy(request->name, whole.data(), bytes);
  const bool done =
      SetFileInformationByHandle(handle, kRenameInfoEx, request, static_cast<DWORD>(memory.size()));
  CloseHandle(handle);
  return done;
}

/// Tries again while another program holds a file.
template <typename Try>
int patiently(Try attempt) {
  for (int i = 0;; ++i) {
    if (attempt()) return 0;
    const DWORD error = GetLastError();
    if ((error != ERROR_SHARING_VIOLATION && error != ERROR_ACCESS_DENIED) || i == kPatience)
      return fail_with_last_error();
    Sleep(10);
  }
}

}  // namespace
}  // namespace normscope::windows

using namespace normscope::windows;

int open(const wchar_t* path, int flags, int) {
  const HANDLE handle = open_handle(wide_path(path), flags);
  if (handle == INVALID_HANDLE_VALUE) return fail_with_last_error();
  const int kept = flags & (O_APPEND | O_NOINHERIT);
  const int file = _open_osfhandle(reinterpret_cast<intptr_t>(handle), kept | _O_BINARY);
  if (file < 0) CloseHandle(handle);
  return file;
}

extern "C" int open(const char* path, int flags, ...) { return open(wide(path).c_str(), flags, 0); }

int access(const wchar_t* path, int mode) {
  const DWORD attributes = GetFileAttributesW(wide_path(path).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return fail_with_last_error();
  const bool folder = attributes & FILE_ATTRIBUTE_DIRECTORY;
  if ((mode & W_OK) == 0 || folder || (attributes & FILE_ATTRIBUTE_READONLY) == 0) return 0;
  errno = EACCES;
  return -1;
}

extern "C" int access(const char* path, int mode) { return access(wide(path).c_str(), mode); }

int unlink(const wchar_t* path) {
  const std::wstring name = wide_path(path);
  return DeleteFileW(name.c_str()) ? 0 : fail_with_last_error();
}

extern "C" int unlink(const char* path) { return unlink(wide(path).c_str()); }

extern "C" int rename(const char* from, const char* to) {
  const std::wstring source = wide_path(wide(from)), target = wide_path(wide(to));
  return patiently([&] {
    return rename_over(source, target) ||
           MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
  });
}

extern "C" int isatty(int file) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(file), &mode) ? 1 : 0;
}

int normscope_stat(const wchar_t* path, struct normscope_stat* to) {
  const HANDLE handle = CreateFileW(wide_path(path).c_str(), FILE_READ_ATTRIBUTES, kShared, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return fail_with_last_error();
  const int result = look(handle, to);
  CloseHandle(handle);
  return result;
}

int normscope_stat(const char* path, struct normscope_stat* to) {
  return normscope_stat(wide(path).c_str(), to);
}

int normscope_fstat(int file, struct normscope_stat* to) { return look(handle_of(file), to); }

int mkdir(const char* path, int) {
  return CreateDirectoryW(wide_path(wide(path)).c_str(), nullptr) ? 0 : fail_with_last_error();
}

int fsync(int file) {
  return FlushFileBuffers(handle_of(file)) || is_folder(handle_of(file)) ? 0 : fail_with_last_error();
}

int64_t pread(int file, void* to, size_t count, int64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD got = 0;
  if (ReadFile(handle_of(file), to, static_cast<DWORD>(count), &got, &place)) return got;
  return GetLastError() == ERROR_HANDLE_EOF ? 0 : fail_with_last_error();
}

int flock(int file, int how) {
  if (is_folder(handle_of(file))) {
    const int lock = open(lock_file_of(handle_of(file)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC);
    if (lock < 0) return -1;
    const int moved = _dup2(lock, file);
    close(lock);
    if (moved != 0) return -1;
  }
  OVERLAPPED place{};
  place.OffsetHigh = 0x4000'0000;
  const DWORD flags =
      (how & LOCK_EX ? LOCKFILE_EXCLUSIVE_LOCK : 0u) | (how & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0u);
  return LockFileEx(handle_of(file), flags, 0, 1, 0, &place) ? 0 : fail_with_last_error();
}

void* mmap(void*, size_t bytes, int, int, int file, int64_t offset) {
  const HANDLE mapping = CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
  void* at = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, static_cast<DWORD>(offset >> 32),
                                     static_cast<DWORD>(offset), bytes)
                     : nullptr;
  if (!at) (void)fail_with_last_error();
  if (mapping) CloseHandle(mapping);
  return at ? at : MAP_FAILED;
}

int munmap(void* at, size_t) { return UnmapViewOfFile(at) ? 0 : fail_with_last_error(); }

extern "C" char* mkdtemp(char* path) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  const size_t size = std::strlen(path);
  std::random_device random;
  for (int i = 0; i < 100 && size >= 6; ++i) {
    for (size_t at = size - 6; at < size; ++at) path[at] = kLetters[random() % (sizeof kLetters - 1)];
    if (mkdir(path, 0700) == 0) return path;
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}
