// What the guards of terminal.h need of a system that is told to end a program: interrupts.cpp has it by signals of POSIX,
// app/windows/interrupts.cpp by events of the console. What both print is in terminal.cpp.
#pragma once

namespace normscope::cli {

/// What an interruption does: the system's own, set the flag, or end the program at once with a line.
enum Answer { kDefault, kFlag, kEnd };
int answer() noexcept;
void answer_with(int how);

/// Sets the flag, as Ctrl+C does, or takes it back.
void interrupt(bool came = true) noexcept;
bool was_interrupted() noexcept;
/// Keeps say_unanswered() from being called for the interruption that came: what follows is its answer.
void withdraw_notice() noexcept;

/// Prints the line of EndsAtOnce and ends the program as interrupted. Like say_unanswered() it takes no lock
/// and allocates nothing, as handlers of signals may not.
[[noreturn]] void end_now() noexcept;
/// Tells that Ctrl+C came, where it waits for what is under way.
void say_unanswered() noexcept;

}  // namespace normscope::cli
