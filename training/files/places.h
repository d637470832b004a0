// The folders of a user's files: the home folder, and the program's own folders by the XDG standard.
#pragma once

#include <string>
#include <string_view>

namespace normscope {

/// The separators of a path: on Windows either slash.
#ifdef _WIN32
inline constexpr std::string_view kSeparators = "/\\";
#else
inline constexpr std::string_view kSeparators = "/";
#endif

/// The index of the last separator in a path; npos: there is none.
inline size_t last_separator(std::string_view path, std::string_view separators = kSeparators) {
  return path.find_last_of(separators);
}

/// Replaces the ~ of "~/text.txt" by the home folder, as a shell would.
std::string with_home(const std::string& path);

/// A base folder of the standard: the variable's value where that is absolute, else the folder below
/// the home folder; empty when there is no home either.
std::string xdg_folder(const char* variable, const char* below_home);

/// The program's own folders: $XDG_CONFIG_HOME/normscope, $XDG_STATE_HOME/normscope, $XDG_CACHE_HOME/normscope and
/// $XDG_DATA_HOME/normscope; on Windows, unless those are set, %APPDATA%\normscope, and state, cache and data in
/// %LOCALAPPDATA%\normscope. Empty when there is no home: then nothing is remembered.
std::string config_folder();
std::string state_folder();
std::string cache_folder();
std::string data_folder();

/// A folder of files that come with the program, such as lessons: the first folder of this name next to the program, in
/// its installation, in the sources that it was built from or in one of their add-ons, or under share/normscope of
/// /usr/local or /usr. The environment variable overrides them all.
std::string shipped_folder(const std::string& name, const char* variable);

}  // namespace normscope
