// Places are where a user's files are: the home folder, and the program's own folders as the XDG standard places them.
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

/// The place of the one before a path's last name; npos: there is none.
inline size_t last_separator(std::string_view path, std::string_view separators = kSeparators) {
  return path.find_last_of(separators);
}

/// Replaces the ~ of "~/text.txt" by the home folder, as a shell would.
std::string with_home(const std::string& path);

/// A base folder of the standard: the variable's value where that is absolute, else the folder below
/// the home folder; empty when there is no home either.
std::string xdg_folder(const char* variable, const char* below_home);

/// These are ours: $XDG_CONFIG_HOME/normscope, $XDG_STATE_HOME/normscope, $XDG_CACHE_HOME/normscope and
/// $XDG_DATA_HOME/normscope; on Windows, unless those are set, %APPDATA%\normscope, and state, cache and data in
/// %LOCALAPPDATA%\normscope. Empty when there is no home: then nothing is remembered.
std::string config_folder();
std::string state_folder();
std::string cache_folder();
std::string data_folder();

/// A folder of files that come with the program, such as lessons: the one of this name beside the program, where it
/// is installed, in the sources whose build/ holds the program or in an add-on there, or under share/normscope of
/// /usr/local or /usr; the environment variable overrides them all.
std::string shipped_folder(const std::string& name, const char* variable);

}  // namespace normscope
