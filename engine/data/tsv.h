// Two columns from a tab-separated file: pairs of sentences, or labels and texts.
//
// Promises: every fault is reported in one line with file and line number (missing, empty, too large, a line
// too long, not UTF-8, not exactly one tab, an empty column); a byte order mark and CR LF are accepted.
// Called by the tasks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normscope {

struct TsvRow {
  std::string first, second;
};

inline constexpr size_t kTsvMaxLine = 65'536, kTsvMaxRows = 20'000'000;

/// `columns` says what a row is: "source<TAB>target". Throws Error.
std::vector<TsvRow> read_tsv(const std::string& path, std::string_view columns);
/// The same from memory; `name` begins the messages.
std::vector<TsvRow> parse_tsv(std::string_view text, const std::string& name, std::string_view columns);

/// The lines of a UTF-8 text file, without line ends; a last empty one is none. Throws Error as read_tsv.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace normscope
