// Names that tell runs from one another: a name says placement, start and warm-up, and runs may differ in anything.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace normscope {

struct NamedSettings {
  std::string name;                                             ///< "Pre-LN, no warm-up"
  std::vector<std::pair<std::string, std::string>> settings{};  ///< key and value, as field_values()
};
/// The names. Those that several runs have say behind their first part in what these differ:
/// "Pre-LN, learning rate 0.001, no warm-up". Runs that differ in no setting keep one name.
std::vector<std::string> told_apart(const std::vector<NamedSettings>& runs);

}  // namespace normscope
