// What printing and the guards of terminal.h, which each system has in its own way, know of each other.
#pragma once

namespace normscope::cli {

/// `interrupt` sets the flag of InterruptGuard, as Ctrl+C does.
void interrupt() noexcept;

/// `print_lost_reader` says whether something was printed into a closed pipe.
bool print_lost_reader() noexcept;

}  // namespace normscope::cli
