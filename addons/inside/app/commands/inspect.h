// What normscope inspect says of a text, as tables.
#pragma once

#include "addons/inside/app/inspected.h"

namespace normscope::commands {

void print_inside(const inside::Inspection& inspected);

}  // namespace normscope::commands
