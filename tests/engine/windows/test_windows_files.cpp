// Files as platforms/windows has them for the sources: what POSIX promises and the C library of Windows does not.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>

#include "catch.hpp"
#include "engine/core/machine.h"
#include "folder.h"
#include "platforms/windows/posix/system.h"
#include "platforms/windows/posix/wide.h"
#include "skip.h"

using namespace normscope;

TEST_CASE("A file is written byte by byte, renamed while it is open, and replaces one that is open") {
  const test::Folder folder;
  const std::string old_name = folder.write("old.txt", "old"), new_name = folder.file("new.txt");
  const int writer = open(new_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  REQUIRE(writer >= 0);
  CHECK(open(new_name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600) == -1);
  CHECK(errno == EEXIST);
  REQUIRE(write(writer, "a\r\nb\n", 5) == 5);
  CHECK(fsync(writer) == 0);
  CHECK(rename(new_name.c_str(), old_name.c_str()) == 0);
  close(writer);
  CHECK(test::read_all(old_name) == "a\r\nb\n");
  CHECK_FALSE(std::filesystem::exists(new_name));
}

TEST_CASE("A file that another has open is replaced as well") {
  if (GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version"))
    SKIP_CASE("Wine 8 does not rename with POSIX's meaning, as Windows does since 2018");
  const test::Folder folder;
  const std::string old_name = folder.write("old.txt", "old"), new_name = folder.write("new.txt", "new");
  const int reader = open(old_name.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(rename(new_name.c_str(), old_name.c_str()) == 0);
  CHECK(test::read_all(old_name) == "new");
  close(reader);
}

TEST_CASE("Names are UTF-8, with letters beyond every code page, and longer than 260 characters") {
  const test::Folder folder;
  const std::string name = "\u00e4\u03b3\u6f22\U0001F600";
  CHECK(windows::narrow(windows::wide(name)) == name);
  std::string path = folder.file(name);
  CHECK(mkdir(path.c_str(), 0700) == 0);
  for (int i = 0; i < 3; ++i) {
    path += "/" + std::string(100, static_cast<char>('a' + i));
    REQUIRE(mkdir(path.c_str(), 0700) == 0);
  }
  path += "/file.txt";
  REQUIRE(path.size() > 300);
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(file >= 0);
  CHECK(write(file, "x", 1) == 1);
  close(file);
  struct stat status {};
  CHECK(stat(path.c_str(), &status) == 0);
  CHECK(status.st_size == 1);
  CHECK(S_ISREG(status.st_mode));
  CHECK(unlink(path.c_str()) == 0);
  CHECK(stat(path.c_str(), &status) == -1);
  CHECK(errno == ENOENT);
}

TEST_CASE("A lock keeps a second one out and nobody from reading; a folder has one as well") {
  const test::Folder folder;
  const std::string path = folder.write("lock", "read me");
  const int one = open(path.c_str(), O_RDWR), other = open(path.c_str(), O_RDWR);
  CHECK(flock(one, LOCK_EX | LOCK_NB) == 0);
  CHECK(flock(other, LOCK_EX | LOCK_NB) == -1);
  char text[8] = {};
  CHECK(pread(other, text, 7, 0) == 7);
  CHECK(std::string(text) == "read me");
  CHECK(pread(other, text, 7, 100) == 0);
  close(one);
  CHECK(flock(other, LOCK_EX | LOCK_NB) == 0);
  close(other);

  const std::string place = folder.path.string();
  const int shared = open(place.c_str(), O_RDONLY | O_DIRECTORY),
            too = open(place.c_str(), O_RDONLY | O_DIRECTORY),
            alone = open(place.c_str(), O_RDONLY | O_DIRECTORY);
  CHECK(flock(shared, LOCK_SH) == 0);
  CHECK(flock(too, LOCK_SH) == 0);
  CHECK(flock(alone, LOCK_EX | LOCK_NB) == -1);
  close(shared);
  close(too);
  close(alone);
  const int later = open(place.c_str(), O_RDONLY | O_DIRECTORY);
  CHECK(flock(later, LOCK_EX | LOCK_NB) == 0);
  close(later);
}

TEST_CASE("A file's identity outlives its name, and another file under the name has another") {
  const test::Folder folder;
  const std::string path = folder.write("a", "1"), elsewhere = folder.file("b");
  struct stat before {
  }, moved{}, after{};
  REQUIRE(stat(path.c_str(), &before) == 0);
  REQUIRE(rename(path.c_str(), elsewhere.c_str()) == 0);
  folder.write("a", "2");
  REQUIRE(stat(path.c_str(), &after) == 0);
  REQUIRE(stat(elsewhere.c_str(), &moved) == 0);
  CHECK(moved.st_ino == before.st_ino);
  CHECK(after.st_ino != before.st_ino);
  REQUIRE(stat(folder.path.c_str(), &after) == 0);
  CHECK(S_ISDIR(after.st_mode));
}

TEST_CASE("A file is mapped; the program knows its own file, and a temporary folder is made") {
  const test::Folder folder;
  const std::string path = folder.write("mapped", std::string(70'000, 'm') + "end");
  const int file = open(path.c_str(), O_RDONLY);
  const void* at = mmap(nullptr, 70'003, PROT_READ, MAP_PRIVATE, file, 0);
  REQUIRE(at != MAP_FAILED);
  CHECK(std::memcmp(static_cast<const char*>(at) + 70'000, "end", 3) == 0);
  CHECK(munmap(const_cast<void*>(at), 70'003) == 0);
  close(file);
  CHECK(std::filesystem::is_regular_file(program_path()));
  std::string made = folder.file("XXXXXX");
  REQUIRE(mkdtemp(made.data()) != nullptr);
  CHECK(std::filesystem::is_directory(made));
  CHECK(sysconf(_SC_PAGESIZE) >= 4096);
  CHECK(sysconf(_SC_PHYS_PAGES) > 0);
}
