// See toml.h.
#include "training/io/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"

namespace normscope {
namespace {

constexpr size_t kLongestMessage = 300;

[[noreturn]] void refuse(const std::string& name, size_t line, const Message& what) {
  throw Error("{}:{}: {}", name, line, on_one_line(what, kLongestMessage));
}

/// The end of a string that begins at `at` with a quote: of one line, or of several after three
/// quotes.
size_t end_of_string(std::string_view text, size_t at, size_t& line) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool long_one = text.substr(at, 3) == three;
  for (at += long_one ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\n') {
      if (!long_one) return at;  // not closed: the parser says so
      ++line;
    }
    if (text[at] == '\\' && quote == '"' && text.substr(at + 1, 1) != "\n")
      ++at;
    else if (long_one ? text.substr(at, 3) == three : text[at] == quote)
      return at + (long_one ? 3 : 1);
  }
  return text.size();
}

// Counts what the parser would build, in one pass over the text.
void check_size(std::string_view text, const std::string& name) {
  size_t line = 1, tables = 0;
  int dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at, line);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots > kTomlDots)
      refuse(name, line, Message("a key of more than {} parts: expected fewer", kTomlDots));
    if ((c == '.' && dots == 1) || c == '[' || c == '{') ++tables;
    if (tables > kTomlTables)
      refuse(name, line, Message("more than {} tables and lists: expected fewer", kTomlTables));
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
    if (c == '\n') ++line;
    ++at;
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  check_size(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    refuse(name, error.source().begin.line, Message("not valid TOML: {}", error.description()));
  }
}

Message what_it_is(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return Message("'{}' is text", *node.value<std::string>());
    case toml::node_type::integer:
      return Message("{} is a whole number", *node.value<int64_t>());
    case toml::node_type::floating_point:
      return Message("{} is a decimal number", *node.value<double>());
    case toml::node_type::boolean:
      return *node.value<bool>() ? "true is a flag" : "false is a flag";
    case toml::node_type::array:
      return "a list stands here";
    case toml::node_type::table:
      return "a table stands here";
    default:
      return "a date or time stands here";
  }
}

using Json = nlohmann::json;

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

namespace {

std::string key_of(const std::string& key) {
  const auto is_bare = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
  return !key.empty() && std::ranges::all_of(key, is_bare) ? key : toml_string(key);
}

std::string value_of(const Json& value) {
  if (value.is_string()) return toml_string(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string out;
  for (const auto& [key, item] : value.items()) {
    if (item.is_null()) continue;
    out += out.empty() ? "" : ", ";
    if (value.is_object()) out += key_of(key) + " = ";
    out += value_of(item);
  }
  return value.is_object() ? "{ " + out + " }" : "[" + out + "]";
}

}  // namespace

std::string toml_lines(const Json& table) {
  std::string lines;
  for (const auto& [key, value] : table.items())
    if (!value.is_null()) lines += fmt::format("{} = {}\n", key_of(key), value_of(value));
  return lines;
}

Json json_of(const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, item] : *table) object[std::string(key.str())] = json_of(item);
    return object;
  }
  if (const toml::array* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& item : *array) list.push_back(json_of(item));
    return list;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<int64_t>()) return *whole;
  if (const auto real = node.value_exact<double>()) return *real;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  return what_it_is(node);  // a date
}

}  // namespace normscope
