// The command line. main() calls run() and returns its result; nothing else does.
#pragma once

namespace normscope::cli {

/// Parses, runs one command, prints an error as one line "normscope: ..." on stderr. Never throws.
int run(int argc, const char* const* argv) noexcept;

}  // namespace normscope::cli
