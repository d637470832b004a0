#include "training/io/toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "training/io/text.h"

namespace normscope {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestMessage = 300;

[[noreturn]] void refuse(const std::string& name, size_t line, const Message& what) {
  throw Error("{}:{}: {}", name, line, on_one_line(what, kLongestMessage));
}

/// The end of a string that begins at `at` with a quote: of one line, or of several after three quotes.
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

constexpr size_t kQuoted = 300;                      // bytes that a message quotes
constexpr size_t kLongest = 4096, kMaxItems = 1000;  // of a text, of a list

std::string plain_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<int64_t>()) return std::to_string(*whole);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return {};
}

bool is_list(const toml::node* node) { return node->is_array() && node->as_array()->size() <= kMaxItems; }

void flatten(const toml::table& table, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table())
      flatten(*inner, name + ".", out);
    else
      out.emplace_back(name, plain_text(node));
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

Table::Table(const toml::table& table, std::string file, std::string name)
    : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

void Table::refuse(std::string_view key, const Message& what) const {
  const toml::node* node = key.empty() ? nullptr : table_->get(key);
  const auto line = (node ? node->source() : table_->source()).begin.line;
  const std::string path = name_.empty() ? std::string(key)
                           : key.empty() ? name_
                                         : fmt::format("{}.{}", name_, key);
  throw Error(on_one_line(Message("{}:{}: [{}] {}", file_, line, path.substr(0, kQuoted), what),
                          file_.size() + 2 * kQuoted));
}

const toml::node* Table::take(std::string_view key) {
  known_.emplace_back(key);
  return table_->get(key);
}

const toml::node& Table::need(std::string_view key, const char* what) {
  const toml::node* node = take(key);
  if (!node) refuse(key, Message("is missing: expected {}", what));
  return *node;
}

std::string Table::text(std::string_view key) {
  const toml::node& node = need(key, "a text");
  const auto text = node.value_exact<std::string>();
  if (!text) refuse(key, Message("{}: expected a text", what_it_is(node)));
  if (text->empty()) refuse(key, "is empty: expected a text");
  if (text->size() > kLongest)
    refuse(key, Message("has {} bytes: expected at most {}", text->size(), kLongest));
  return *text;
}

std::string Table::text(std::string_view key, std::string_view absent) {
  if (has(key)) return text(key);
  known_.emplace_back(key);
  return std::string(absent);
}

double Table::number_of(std::string_view key, const toml::node& node) {
  if (!node.is_number()) refuse(key, Message("{}: expected a number", what_it_is(node)));
  const double value =
      node.is_integer() ? static_cast<double>(*node.value<int64_t>()) : *node.value<double>();
  if (!std::isfinite(value)) refuse(key, "is not finite: expected a number");
  return value;
}

double Table::number(std::string_view key) { return number_of(key, need(key, "a number")); }
double Table::number(std::string_view key, double absent) { return maybe(key).value_or(absent); }

std::optional<double> Table::maybe(std::string_view key) {
  const toml::node* node = take(key);
  return node ? std::optional(number_of(key, *node)) : std::nullopt;
}

int32_t Table::whole(std::string_view key, int32_t low, int32_t high) {
  const double value = number(key);
  if (value != std::floor(value) || value < low || value > high)
    refuse(key, Message("{} is not possible: expected a whole number from {} to {}", value, low, high));
  return static_cast<int32_t>(value);
}

int32_t Table::whole(std::string_view key, int32_t low, int32_t high, int32_t absent) {
  if (has(key)) return whole(key, low, high);
  known_.emplace_back(key);
  return absent;
}

bool Table::flag(std::string_view key, bool absent) {
  const toml::node* node = take(key);
  if (!node) return absent;
  const auto value = node->value_exact<bool>();
  if (!value) refuse(key, Message("{}: expected true or false", what_it_is(*node)));
  return *value;
}

std::vector<double> Table::numbers(std::string_view key) {
  const toml::node* node = take(key);
  if (!node) return {};
  if (!is_list(node)) refuse(key, Message("{}: expected a list of at most 1000 numbers", what_it_is(*node)));
  std::vector<double> out;
  for (const toml::node& item : *node->as_array()) out.push_back(number_of(key, item));
  return out;
}

std::pair<int32_t, int32_t> Table::steps(std::string_view key, int32_t low, int32_t high) {
  const std::vector<double> range = numbers(key);
  if (range.size() != 2 || range[0] < low || range[1] < range[0] || range[1] > high)
    refuse(key, Message("expected [first, last], from {} to {}", low, high));
  return {static_cast<int32_t>(range[0]), static_cast<int32_t>(range[1])};
}

std::vector<std::string> Table::texts(std::string_view key) {
  const toml::node* node = take(key);
  if (!node) return {};
  if (!is_list(node)) refuse(key, Message("{}: expected a list of at most 1000 texts", what_it_is(*node)));
  std::vector<std::string> out;
  for (const toml::node& item : *node->as_array()) {
    const auto text = item.value_exact<std::string>();
    if (!text || text->size() > kLongest)
      refuse(key, Message("{}: expected a text of at most {} bytes", what_it_is(item), kLongest));
    out.push_back(*text);
  }
  return out;
}

size_t Table::choice(std::string_view key, const std::vector<std::string_view>& words,
                     std::optional<size_t> absent) {
  if (absent && !has(key)) {
    known_.emplace_back(key);
    return *absent;
  }
  const std::string word = text(key);
  const auto it = std::ranges::find(words, word);
  if (it == words.end()) refuse(key, Message("'{}' is not known: {}", word, expected(word, words)));
  return static_cast<size_t>(it - words.begin());
}

Table Table::table(std::string_view key) {
  const toml::node& node = need(key, "a table");
  if (!node.is_table()) refuse(key, Message("{}: expected a table", what_it_is(node)));
  return {*node.as_table(), file_, name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key)};
}

std::vector<Table> Table::tables(std::string_view key) {
  const toml::node* node = take(key);
  if (!node) return {};
  if (!is_list(node)) refuse(key, Message("{}: expected a list of at most 1000 tables", what_it_is(*node)));
  std::vector<Table> out;
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_table()) refuse(key, Message("{}: expected a table", what_it_is(item)));
    out.emplace_back(*item.as_table(), file_,
                     fmt::format("{}{}{} {}", name_, name_.empty() ? "" : ".", key, out.size() + 1));
  }
  return out;
}

std::vector<std::pair<std::string, Table>> Table::children(std::string_view key) {
  const toml::node* node = take(key);
  if (!node) return {};
  if (!node->is_table()) refuse(key, Message("{}: expected a table", what_it_is(*node)));
  std::vector<std::pair<std::string, Table>> out;
  for (const auto& [name, child] : *node->as_table()) {
    const std::string path = fmt::format("{}.{}", key, std::string_view(name.str()));
    if (!child.is_table())
      refuse(key, Message("{} is no table: expected [{}]", std::string_view(name.str()), path));
    out.emplace_back(std::string(name.str()), Table(*child.as_table(), file_, path));
  }
  // In the order of the file: toml++ sorts by name.
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.second.table_->source().begin.line < b.second.table_->source().begin.line;
  });
  return out;
}

std::vector<std::pair<std::string, std::string>> Table::rest() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::ranges::find(known_, name) != known_.end()) continue;
    known_.push_back(name);
    if (const toml::table* inner = node.as_table())
      flatten(*inner, name + ".", out);
    else
      out.emplace_back(name, plain_text(node));
  }
  return out;
}

void Table::done() const {
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::ranges::find(known_, name) == known_.end())
      refuse(name, Message("is not known here: expected {}", fmt::join(known_, ", ")));
  }
}

}  // namespace normscope
