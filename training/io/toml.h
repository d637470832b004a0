// This includes toml++ with the same switches in every file. toml++ 3.3 asserts (with NDEBUG, on some compilers:
// assumes) that input such as "[.a]" does not come, and refuses it properly in the next lines. Where it is compiled
// into our files (header only), neither is wanted.
#pragma once

#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/core/message.h"

namespace normscope {

/// The only call of the library's parser. `name` stands for the file. Throws Error as "NAME:LINE: not
/// valid TOML: ...". It refuses excessive nesting too: the library recurses over dotted keys when it frees them, and
/// looks through all tables for each.
toml::table parse_toml(std::string_view text, const std::string& name);

/// What stands in a file where something else was expected: "'warm' is text".
Message what_it_is(const toml::node& node);

inline constexpr int kTomlDots = 16;           ///< in one key
inline constexpr size_t kTomlTables = 20'000;  ///< headers and dotted keys

// ---- JSON as TOML and back: what codec.h makes of a struct stands in a TOML file; TOML has no null

/// A text in quotes.
std::string toml_string(std::string_view text);
/// The lines of a table, KEY = VALUE: an object within becomes an inline table. Members that are null are left out.
std::string toml_lines(const nlohmann::json& table);
nlohmann::json json_of(const toml::node& node);

}  // namespace normscope
