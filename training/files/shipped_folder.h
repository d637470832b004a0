// Where files that come with the program lie: lessons, claims.
#pragma once

#include <string>

namespace normscope {

/// The folder of this name beside the program, or where it is installed, or in the sources, or under share/normscope of
/// /usr/local or /usr; the variable of the environment overrides them all.
std::string shipped_folder(const std::string& name, const char* variable);

}  // namespace normscope
