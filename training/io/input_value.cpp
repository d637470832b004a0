#include "training/io/input_value.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace normscope {
namespace {

using Json = nlohmann::json;

constexpr size_t kShown = 60;

/// Makes texts of NaN and Infinity, which Python writes and JSON does not know: whoever wants a number there
/// then names its place.
std::string with_quotes(std::string_view json) {
  constexpr std::string_view kWords[] = {"NaN", "Infinity", "-Infinity"};
  std::string made;
  for (size_t at = 0; at < json.size();) {
    const std::string_view rest = json.substr(at);
    size_t length = 1;
    if (rest[0] == '"') {
      while (length < rest.size() && rest[length] != '"') length += rest[length] == '\\' ? 2 : 1;
      ++length;
    }
    const auto word =
        std::ranges::find_if(kWords, [&](std::string_view one) { return rest.starts_with(one); });
    if (word != std::end(kWords)) length = word->size();
    made += word != std::end(kWords) ? fmt::format("\"{}\"", *word) : std::string(rest.substr(0, length));
    at += length;
  }
  return made;
}

Message whole_range(int64_t low, int64_t high) {
  return low == high ? Message("{}", low) : Message("a whole number from {} to {}", low, high);
}

}  // namespace

struct InputValue::Document {
  Json root;
  Message where;
};

InputValue InputValue::parse(std::string_view json, Message where, std::string path) {
  auto document = std::make_shared<Document>();
  document->where = std::move(where);
  const auto refuse = [&](const Message& what) {
    fail(document->where, path.empty() ? what : Message("{} {}", path, what));
  };
  bool deep = false;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kInputDepth;
    return !deep;  // deeper values are not kept
  };
  const auto read = [&](std::string_view text) -> size_t {  // the byte at which it is no JSON, from 1
    try {
      document->root = Json::parse(text, check);
      return 0;
    } catch (const Json::parse_error& error) {
      return error.byte;
    } catch (const Json::exception&) {  // a number beyond all doubles
      refuse("is damaged: it holds a number that is too large");
      return 0;
    }
  };
  if (const size_t wrong = read(json); wrong > 0)
    if (const std::string quoted = with_quotes(json); quoted == json || read(quoted) > 0)
      refuse({"is damaged: no JSON at byte {}", wrong});
  if (deep) refuse({"is nested too deeply: expected at most {} levels", kInputDepth});
  const Json& root = document->root;
  return {std::move(document), root, std::move(path)};
}

InputValue::InputValue(std::shared_ptr<const Document> document, const Json& json, std::string path)
    : document_(std::move(document)), json_(&json), path_(std::move(path)) {}

InputValue InputValue::below(const Json& json, std::string_view key) const {
  std::string shown(key.substr(0, kShown));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return {document_, json, path_.empty() ? shown : fmt::format("{}.{}", path_, shown)};
}

Message InputValue::shown() const {
  if (json_->is_object()) return "an object";
  if (json_->is_array()) return Message("a list of {}", json_->size());
  if (json_->is_string()) return shown_text(json_->get_ref<const std::string&>());
  return json_->dump();
}

void InputValue::refuse(const Message& expected) const {
  fail(document_->where, "{} is {}: expected {}", path_.empty() ? "the whole" : path_, shown(), expected);
}

std::optional<InputValue> InputValue::find(std::string_view key) const {
  if (!json_->is_object()) refuse(Message("an object with {}", key));
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return below(*found, key);
}

InputValue InputValue::at(std::string_view key) const {
  if (auto found = find(key)) return std::move(*found);
  fail(document_->where, "{} is missing",
       path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

std::vector<std::pair<std::string, InputValue>> InputValue::members(size_t most) const {
  if (!json_->is_object()) refuse("an object");
  if (json_->size() > most)
    fail(document_->where, "{} has {} members: expected at most {}", path_, json_->size(), most);
  std::vector<std::pair<std::string, InputValue>> all;
  all.reserve(json_->size());
  for (const auto& [key, value] : json_->items()) all.emplace_back(key, below(value, key));
  return all;
}

std::vector<InputValue> InputValue::list(size_t least, size_t most) const {
  const Message expected =
      least == most ? Message("a list of {}", least) : Message("a list of {} to {}", least, most);
  if (!json_->is_array() || json_->size() < least || json_->size() > most) refuse(expected);
  std::vector<InputValue> all;
  all.reserve(json_->size());
  for (size_t i = 0; i < json_->size(); ++i)
    all.push_back({document_, (*json_)[i], fmt::format("{}[{}]", path_, i)});
  return all;
}

bool InputValue::is_null() const { return json_->is_null(); }
bool InputValue::is_list() const { return json_->is_array(); }
bool InputValue::is_object() const { return json_->is_object(); }
bool InputValue::is_text() const { return json_->is_string(); }

bool InputValue::is(std::string_view text) const {
  return is_text() && json_->get_ref<const std::string&>() == text;
}

bool InputValue::flag() const {
  if (!json_->is_boolean()) refuse("true or false");
  return json_->get<bool>();
}

int64_t InputValue::whole64(int64_t low, int64_t high) const {
  const bool large = json_->is_number_unsigned() && json_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!json_->is_number_integer() || large) refuse(whole_range(low, high));
  const auto value = json_->get<int64_t>();
  if (value < low || value > high) refuse(whole_range(low, high));
  return value;
}

double InputValue::number(double low, double high) const {
  const double value = json_->is_number() ? json_->get<double>() : std::nan("");
  constexpr double kMax = std::numeric_limits<double>::max();
  if (!(value >= low && value <= high))
    refuse(low <= -kMax && high >= kMax ? "a number" : Message("a number from {} to {}", low, high));
  return value;
}

std::string InputValue::text(size_t most) const {
  if (!json_->is_string()) refuse("a text");
  return of_at_most(most, json_->get_ref<const std::string&>());
}

std::string InputValue::json_text(size_t most) const { return of_at_most(most, json_->dump()); }

std::string InputValue::object_text(size_t most) const {
  if (!is_object()) refuse("an object");
  return json_text(most);
}

std::string InputValue::of_at_most(size_t most, std::string text) const {
  if (text.size() > most)
    fail(document_->where, "{} has {} bytes: expected at most {}", path_, text.size(), most);
  return text;
}

std::string InputValue::scalar(size_t most) const {
  if (json_->is_number() || json_->is_boolean()) return json_->dump();
  if (!json_->is_string()) refuse("a text, a number, true or false");
  return text(most);
}

size_t InputValue::choice(std::span<const std::string_view> words) const {
  if (json_->is_string()) {
    const auto found = std::ranges::find(words, json_->get_ref<const std::string&>());
    if (found != words.end()) return static_cast<size_t>(found - words.begin());
  }
  refuse(Message("one of {}", fmt::join(words, ", ")));
}

void require_range(const Message& where, std::string_view path, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) fail(where, "{} is {}: expected {}", path, value, whole_range(low, high));
}

void require_each(const Message& where, std::string_view path, std::span<const int32_t> values, int32_t low,
                  int32_t high) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < low || values[i] > high)
      require_range(where, fmt::format("{}[{}]", path, i), values[i], low, high);
}

void require_ascending(const Message& where, std::string_view path, std::span<const int32_t> values,
                       int32_t low, int32_t high) {
  require_each(where, path, values, low, high);
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] <= values[i - 1])
      fail(where, "{}[{}] is {} after {}: expected ascending numbers", path, i, values[i], values[i - 1]);
}

}  // namespace normscope
