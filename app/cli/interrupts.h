// What the guards of terminal.h need of a system that is told to end a program: interrupts.cpp has it by signals of POSIX,
// app/windows/interrupts.cpp by events of the console.
#pragma once

namespace normscope::cli {

/// `Answer` is what an interruption does: the system's own, set the flag, or end the program at once with a line.
enum Answer { kDefault, kFlag, kEnd };
int answer() noexcept;
void answer_with(int how);

/// `interrupt` sets the flag, as Ctrl+C does, or takes it back.
void interrupt(bool came = true) noexcept;
bool was_interrupted() noexcept;

const char* end_line() noexcept;
void set_end_line(const char* line) noexcept;
/// `end_now` prints that line and ends the program as interrupted.
[[noreturn]] void end_now();

}  // namespace normscope::cli
