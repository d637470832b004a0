// Reads a file of words: texts become templates, tables become plural forms, all in the order of the file.
#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/toml.h"

namespace normscope::words {
namespace {

constexpr std::pair<std::string_view, Form> kForms[] = {
    {"other", Form::Other}, {"one", Form::One}, {"few", Form::Few}, {"many", Form::Many}};

/// The place "{done}", "{1}" or "{:.1f}" at `from`; empty where no place begins there.
std::string_view place_at(std::string_view text, size_t from) {
  size_t to = from + 1;
  const auto is_name = [&](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  while (to < text.size() && is_name(static_cast<unsigned char>(text[to]))) ++to;
  if (text.substr(to, 1) == ":") to = std::min(text.find('}', to), text.size());
  return text.substr(to, 1) == "}" ? text.substr(from, to + 1 - from) : std::string_view{};
}

/// Returns nothing where a brace stands alone.
std::optional<Template> parsed(std::string_view text) {
  Template out;
  out.pieces.emplace_back();
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '}') {
      const std::string_view place = place_at(text, at);
      if (text.substr(at + 1, 1) == text.substr(at, 1)) {
        ++at;
      } else if (c == '{' && !place.empty()) {
        const std::string_view name = place.substr(1, std::min(place.find(':'), place.size() - 1) - 1);
        out.pieces.back().place = name.empty() ? std::to_string(out.pieces.size() - 1) : name;
        out.pieces.emplace_back();
        out.plain += place;
        at += place.size() - 1;
        continue;
      } else {
        return {};
      }
    }
    out.pieces.back().text += c;
    out.plain += c;
  }
  return out;
}

struct Reader {
  const std::string& file;
  bool by_english = false;  ///< a name is an English text, and no part of a key
  std::vector<std::pair<toml::source_position, Language::Entry>> found{};

  [[noreturn]] void refuse(const std::string& key, const toml::node& node, const char* what) const {
    throw Error("{}:{}: [{}] {}", file, node.source().begin.line, key, what);
  }

  Template text_of(const std::string& key, const toml::node& node) const {
    if (const auto number = node.value_exact<int64_t>()) return *parsed(std::to_string(*number));
    const auto text = node.value_exact<std::string>();
    if (!text || text->empty()) refuse(key, node, "is no text: expected words, or a table of them");
    std::optional<Template> out = parsed(*text);
    if (!out) refuse(key, node, "has a brace that opens no {place}: expected it twice");
    return *std::move(out);
  }

  /// Reads { one = "…", other = "…" } and returns nothing where a name is no form's.
  std::optional<Language::Entry> plural(const std::string& key, const toml::table& table) const {
    Language::Entry entry{key, {}};
    for (const auto& [name, form] : kForms)
      if (const toml::node* node = table.get(name); node && !node->is_table())
        entry.forms.emplace_back(form, text_of(key, *node));
    if (table.empty() || entry.forms.size() != table.size()) return {};
    if (entry.forms.front().first != Form::Other)
      refuse(key, table, "has no form for other numbers: expected other");
    return entry;
  }

  void read(const std::string& key, std::string_view name, const toml::node& node) {
    const toml::table* table = node.as_table();
    std::optional<Language::Entry> entry = table ? plural(key, *table) : std::nullopt;
    if (table && !entry) {
      read_all(key, *table);
      return;
    }
    if (!entry) entry = Language::Entry{key, {{Form::Other, text_of(key, node)}}};
    if (by_english) entry->english = name;
    found.emplace_back(node.source().begin, *std::move(entry));
  }

  void read_all(const std::string& before, const toml::table& table) {
    for (const auto& [name, node] : table) read(before + "." + std::string(name.str()), name.str(), node);
  }
};

}  // namespace

Language::Entry entry_of(std::string_view english) {
  const size_t mark = english.rfind("##");
  const std::string_view text = english.substr(0, mark + 2 < english.size() ? mark : english.npos);
  const auto form = [](std::string_view one) {
    const std::optional<Template> read = parsed(one);
    return read ? *read : Template{std::string(one), {{std::string(one), ""}}};
  };
  constexpr std::string_view kOr = " | ";
  const size_t bar = text.find(kOr);
  if (bar == text.npos) return {std::string(english), {{Form::Other, form(text)}}};
  return {std::string(english),
          {{Form::Other, form(text.substr(bar + kOr.size()))}, {Form::One, form(text.substr(0, bar))}}};
}

void Language::read(std::string_view text, const std::string& file, const std::string& room) {
  Reader reader{file, room == "texts" || room == "training" || room == "errors"};
  reader.read_all(room, parse_toml(text, file));
  std::ranges::stable_sort(reader.found, [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  for (auto& [at, entry] : reader.found) {
    if (!reader.by_english) {
      index_[entry.key] = entries_.size();
    } else if (room == "texts") {
      texts_[entry.english] = entries_.size();
    } else {  // a phrase without places is found as it is said, and its braces are not doubled
      const Template text = entry_of(entry.english).forms.front().second;
      phrases_[room + " " + (text.pieces.size() == 1 ? text.plain : entry.english)] = entries_.size();
    }
    entries_.push_back(std::move(entry));
  }
}

}  // namespace normscope::words
