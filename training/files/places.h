// Where a user's files lie: the home folder, and the program's own folders as the XDG standard places them.
#pragma once

#include <string>

namespace normscope {

/// "~/text.txt" with the home folder in its place, as a shell would have done it.
std::string with_home(const std::string& path);

/// A base folder of the standard: what the variable says where that is absolute, else the one below the home folder; empty
/// when there is no home either.
std::string xdg_folder(const char* variable, const char* below_home);

/// Ours in it: $XDG_CONFIG_HOME/normscope, $XDG_STATE_HOME/normscope, $XDG_CACHE_HOME/normscope and
/// $XDG_DATA_HOME/normscope. Empty when there is no home: then nothing is remembered.
std::string config_folder();
std::string state_folder();
std::string cache_folder();
std::string data_folder();

}  // namespace normscope
