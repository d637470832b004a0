// JSON as TOML and back: what codec.h makes of a struct stands in a TOML file. TOML has no null.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "training/io/toml.h"

namespace normscope {

/// A text in quotes.
std::string toml_string(std::string_view text);
/// The lines of a table, KEY = VALUE: an object within becomes an inline table. Members that are null are left out.
std::string toml_lines(const nlohmann::json& table);
nlohmann::json json_of(const toml::node& node);

}  // namespace normscope
