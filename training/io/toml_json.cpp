#include "training/io/toml_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace normscope {

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
