// Interruptions by events of the console: Ctrl+C and Ctrl+Break are SIGINT of other systems, and a
// console that closes, a log-off and a shutdown are SIGHUP.
#include "app/cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>
#include <windows.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace normscope::cli {
namespace {

constexpr DWORD kUnanswered = 1000;  // ms
constexpr UINT kUtf8 = 65001;

std::atomic<int> in_force{kDefault};
std::atomic<bool> interrupt_flag{false}, end_flag{false}, came_before{false};
std::atomic<HANDLE> timer{nullptr};
UINT shown_before = 0;  // the console's code page, which is the shell's too

void CALLBACK on_unanswered(void*, BOOLEAN) {
  if (in_force == kFlag && interrupt_flag) say_unanswered();
}

void stop_timer() {
  if (const HANDLE was = timer.exchange(nullptr)) (void)DeleteTimerQueueTimer(nullptr, was, nullptr);
}

/// Runs on a thread of its own. FALSE: the system ends the program.
BOOL WINAPI on_event(DWORD event) {
  const bool by_hand = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  if (in_force == kDefault) return FALSE;
  if (in_force == kEnd) end_now();
  if (by_hand && came_before.exchange(true)) return FALSE;
  interrupt_flag = true;
  if (!by_hand) end_flag = true;
  stop_timer();
  HANDLE made = nullptr;
  if (CreateTimerQueueTimer(&made, nullptr, on_unanswered, nullptr, kUnanswered, 0, WT_EXECUTEONLYONCE))
    timer = made;
  if (!by_hand) Sleep(INFINITE);  // the program would end with this call; its own end comes first
  return TRUE;
}

void give_console_back() {
  if (shown_before != 0) SetConsoleOutputCP(shown_before);
}

/// Makes the console show what the program prints, and obey the bar's two commands.
void speak_utf8() {
  DWORD mode = 0;
  const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
  if (GetConsoleMode(console, &mode)) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  const UINT shown = GetConsoleOutputCP();
  if (shown == 0 || shown == kUtf8 || !SetConsoleOutputCP(kUtf8)) return;
  shown_before = shown;
  std::atexit(give_console_back);
}

}  // namespace

int answer() noexcept { return in_force; }

void answer_with(int how) {
  static const bool listens = SetConsoleCtrlHandler(on_event, TRUE);
  (void)listens;
  in_force = how;
  came_before = false;
  if (how == kDefault) stop_timer();
}

void interrupt(bool came) noexcept { interrupt_flag = came; }
bool was_interrupted() noexcept { return interrupt_flag; }
bool was_told_to_end() noexcept { return end_flag; }
void withdraw_notice() noexcept { stop_timer(); }

size_t terminal_width() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
  return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

void prepare_streams() {
  // A program without a console may have no streams: what it prints then goes nowhere.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (_get_osfhandle(stream) < 0) {
      std::FILE* const file = stream == STDIN_FILENO ? stdin : stream == STDOUT_FILENO ? stdout : stderr;
      (void)!std::freopen("NUL", stream == STDIN_FILENO ? "rb" : "wb", file);
    }
  speak_utf8();
}

}  // namespace normscope::cli
