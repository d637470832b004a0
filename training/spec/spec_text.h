// These turn text into values and back for the fields of a RunSpec. No other code parses what a user wrote in a
// setting. Called by the field table and by set_field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/io/text.h"

namespace normscope {

struct Field;

/// These parse the whole text or nothing: false for trailing letters, an empty text, NaN and overflow.
bool parse_integer(std::string_view text, int64_t& value);
bool parse_real(std::string_view text, float& value);
bool parse_flag(std::string_view text, bool& value);
/// Reads "100, 200": whole numbers >= 1, ascending; an empty text is an empty list.
bool parse_steps(std::string_view text, std::vector<int32_t>& steps);
std::string steps_text(const std::vector<int32_t>& steps);
/// The shortest decimal text that reads back as the same float.
std::string real_text(float value);

/// Lists the names of all kinds of a table, in its order.
template <typename Kind, size_t N>
std::vector<std::string_view> names_of(const Kind (&kinds)[N]) {
  std::vector<std::string_view> names;
  for (const Kind kind : kinds) names.push_back(to_string(kind));
  return names;
}
/// Finds the kind of that name. Throws Error listing the names: "[schedule] 'sine' is unknown: expected constant, ...".
template <typename Kind, size_t N>
Kind choice_from(std::string_view place, const Kind (&kinds)[N], std::string_view name) {
  for (const Kind kind : kinds)
    if (name == to_string(kind)) return kind;
  fail(place, "'{}' is unknown: expected {}", name, one_of(names_of(kinds)));
}

/// Throws Error when the text is no value of the field: "[key] 'abc' is not a whole number: expected 0 to 100000".
void check_value(const Field& field, std::string_view text);

struct NamedSettings {
  std::string name;                                             ///< "Pre-LN, no warm-up"
  std::vector<std::pair<std::string, std::string>> settings{};  ///< key and value, as field_values()
};
/// Names that tell runs apart. A name has little more than placement, initialisation and warm-up, and runs may differ
/// in any setting. A name of several runs gets the settings in which these differ after its first part: "Pre-LN,
/// learning rate 0.001, no warm-up". Runs that differ in no setting keep one name.
std::vector<std::string> told_apart(const std::vector<NamedSettings>& runs);

}  // namespace normscope
