// The file of the running program; empty where the system does not say, as in a bare chroot.
#pragma once

#include <string>

namespace normscope {

std::string program_path();

}  // namespace normscope
