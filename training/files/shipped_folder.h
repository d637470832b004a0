// Shipped folders hold files that come with the program, such as lessons.
#pragma once

#include <string>

namespace normscope {

/// The folder of this name beside the program, where it is installed, in the sources whose build/
/// holds the program or in an add-on there, or under share/normscope of /usr/local or /usr; the environment variable overrides them all.
std::string shipped_folder(const std::string& name, const char* variable);

}  // namespace normscope
