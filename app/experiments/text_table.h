// Rows of words as a table for a terminal. Called by the tables of the zoo and of a sweep.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace normscope::experiments {

/// Terminal columns of a UTF-8 text without wide characters.
size_t columns_of(const std::string& text);

/// Columns two blanks apart, each as wide as its widest word; `left`: of a column, whether its words begin at one
/// line (others end at one). A row of one word is a heading and widens nothing. A line a row.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::function<bool(size_t)>& left);

}  // namespace normscope::experiments
