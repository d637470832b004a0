// normscope.exe of the folder for Windows: what a double click opens and a file is dropped on. It starts the program,
// which is normscope.com beside it, without a console window, and shows in a box why that ended badly. In a terminal
// `normscope` finds normscope.com first, as in every .com before .exe, so that output comes there and the shell waits.
// Files become `open FILE...`; everything else is handed on as it is.
#include <windows.h>

#include <shellapi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "platforms/windows/posix/wide.h"
#include "training/files/windows_quoted.h"

namespace {

constexpr DWORD kInterrupted = 130;  // app/cli/terminal.h
constexpr size_t kLongestWords = 2000;

std::wstring own_path() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

std::vector<std::wstring> arguments() {
  int count = 0;
  LPWSTR* words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::wstring> list;
  for (int i = 1; words && i < count; ++i) list.emplace_back(words[i]);
  LocalFree(words);
  return list;
}

bool is_there(const std::wstring& path) {
  return GetFileAttributesW(path.c_str()) != INVALID_FILE_ATTRIBUTES;
}

/// Reads what the program writes until it ends, and keeps the beginning.
std::string said(HANDLE pipe) {
  std::string text;
  char part[512];
  for (DWORD got = 0; ReadFile(pipe, part, sizeof part, &got, nullptr) && got > 0;)
    if (text.size() < kLongestWords) text.append(part, got);
  return text;
}

void show(const std::string& text) {
  const std::wstring words = normscope::windows::wide(text);
  MessageBoxW(nullptr, words.empty() ? L"normscope ended without a word." : words.c_str(), L"normscope",
              MB_OK | MB_ICONERROR);
}

}  // namespace

int WINAPI wWinMain(HINSTANCE, HINSTANCE, PWSTR, int) {
  std::wstring program = own_path();
  program = program.substr(0, program.rfind(L'\\') + 1) + L"normscope.com";
  std::vector<std::wstring> words = arguments();
  const bool terminal = AttachConsole(ATTACH_PARENT_PROCESS);
  if (words.empty() && !terminal) words = {L"--window"};  // nobody would see it train without one
  if (!words.empty() && std::ranges::all_of(words, is_there)) words.insert(words.begin(), L"open");
  std::wstring line = normscope::windows_quoted(program);
  for (const std::wstring& word : words) line += L" " + normscope::windows_quoted(word);

  SECURITY_ATTRIBUTES handed_on{sizeof handed_on, nullptr, TRUE};
  HANDLE read = nullptr, write = nullptr;
  STARTUPINFOW how{};
  how.cb = sizeof how;
  if (!terminal && CreatePipe(&read, &write, &handed_on, 0)) {
    SetHandleInformation(read, HANDLE_FLAG_INHERIT, 0);
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    how.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    how.hStdError = write;
  }
  PROCESS_INFORMATION started{};
  if (!CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, terminal ? 0 : CREATE_NO_WINDOW,
                      nullptr, nullptr, &how, &started)) {
    show("normscope.com is not beside normscope.exe: unpack the whole folder and start it there.");
    return 1;
  }
  if (write) CloseHandle(write);
  const std::string words_of_end = read ? said(read) : std::string();
  WaitForSingleObject(started.hProcess, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(started.hProcess, &code);
  if (!terminal && code != 0 && code != kInterrupted) show(words_of_end);
  return static_cast<int>(code);
}
