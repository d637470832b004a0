// What the program asks of the page around it and tells it: see docs/web.md. On the browser's main thread, but for
// hand_over.
#pragma once

#include <string>

namespace normscope::web {

/// True in a page, false under node.
bool in_page();
/// The page's address without its fragment and what was asked of it; and the fragment, without '#'.
std::string address();
std::string fragment();
/// The program's chords are its own, with Command in place of Control on a Mac; all others stay the browser's.
void join_keys();
/// Copying and pasting by the page's own events: a program may not read the clipboard unasked.
void join_clipboard();
/// A file that was written outside of the program's home becomes a download. From any thread.
void hand_over(const std::string& path);
/// The home folder as it is now, without waiting for the next write.
void store_now();
/// Why nothing is kept in this browser; empty: all is.
std::string storage_refusal();
/// The program ends with this line.
void fatal(const std::string& line);

}  // namespace normscope::web
