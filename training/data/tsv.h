// The TSV reader reads two columns from a tab-separated file, which are pairs of sentences, or labels and texts. It
// also reads the lines of any text.
//
// Promises: every fault is reported in one line with file and line number (missing, empty, too large, a line too
// long, not UTF-8, not exactly one tab, an empty column); a byte order mark and CR LF are accepted. Called by the
// tasks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

struct TsvRow {
  std::string first, second;
};

inline constexpr size_t kTsvMaxLine = 65'536, kTsvMaxRows = 20'000'000;

/// Reads a file; `columns` says what a row is: "source<TAB>target". Throws Error.
std::vector<TsvRow> read_tsv(const std::string& path, std::string_view columns);
/// Reads the same from memory; `name` begins the messages.
std::vector<TsvRow> parse_tsv(std::string_view text, const std::string& name, std::string_view columns);

/// Calls use(line, number) for every line of a text, numbered from 1, without line ends; a last empty
/// line does not count. Throws Error for a line that is too long or not UTF-8, and for too many lines.
void each_line(std::string_view text, const std::string& name,
               const std::function<void(std::string_view, size_t)>& use);

/// The lines of a UTF-8 text file in this way. Throws Error as read_tsv.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace normscope
