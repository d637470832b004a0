// JSON as TOML and back: what codec.h makes of a struct stands in a TOML file. TOML has no null.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "training/io/toml.h"

namespace normscope {

/// A text in quotes.
std::string toml_string(std::string_view text);
/// On one line: an object becomes an inline table, without its members that are null.
std::string toml_of(const nlohmann::json& value);
nlohmann::json json_of(const toml::node& node);

}  // namespace normscope
