// These functions ask things of the page around the program and tell it things: see docs/web.md. They run on the
// browser's main thread, but for hand_over.
#pragma once

#include <string>

namespace normscope::web {

/// True in a page, false under node.
bool in_page();
/// The page's address without its query and fragment; `fragment` is the fragment without '#'.
std::string address();
std::string fragment();
/// Keeps the program's chords from the browser, with Command in place of Control on a Mac; all others stay
/// the browser's.
void join_keys();
/// Copies and pastes by the page's own events: a program may not read the clipboard unasked.
void join_clipboard();
/// Turns a file outside of the program's home into a download. Any thread may call it.
void hand_over(const std::string& path);
/// Stores the home folder as it is now, without waiting for the next write.
void store_now();
/// Why this browser keeps nothing; empty: it keeps everything.
std::string storage_refusal();
/// Tells the page that the program ends, with this line.
void fatal(const std::string& line);

}  // namespace normscope::web
