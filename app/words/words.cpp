#include "app/words/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "app/words/word_files.h"
#include "training/io/toml.h"

namespace normscope::words {
namespace {

/// Stores an unknown key, so that say() can return a reference to it.
const std::string& unknown(std::string_view key) {
  static std::mutex guard;
  static std::set<std::string, std::less<>> all;
  const std::lock_guard lock(guard);
  const auto at = all.find(key);
  return at != all.end() ? *at : *all.emplace(key).first;
}

/// Splits a path: "de/lessons.toml" -> "de", "lessons"; a path without a folder is English, "en".
std::pair<std::string, std::string> place_of(std::string_view path) {
  const size_t slash = path.find('/'), from = slash == path.npos ? 0 : slash + 1;
  return {slash == path.npos ? "en" : std::string(path.substr(0, slash)),
          std::string(path.substr(from, path.rfind('.') - from))};
}

/// A language that is read at its first use, because most windows use one or two.
struct Reading {
  std::once_flag begun;
  std::optional<Language> texts;
};
using Languages = std::map<std::string, Reading, std::less<>>;

Languages& all_languages() {
  static Languages all = [] {
    Languages named;
    for (const WordFile& file : word_files()) named[place_of(file.path).first];
    return named;
  }();
  return all;
}

Language read_language(const std::string& name, const Language* english) {
  Language read(name, english);
  for (const WordFile& file : word_files())
    if (const auto [of, room] = place_of(file.path); of == name)
      read.read(file.text, "assets/words/" + std::string(file.path), room);
  return read;
}

/// An English text without a translation: parsed at its first use, and cached.
const Language::Entry& as_written(std::string_view english) {
  static std::shared_mutex guard;
  static std::map<std::string, Language::Entry, std::less<>> all;
  {
    const std::shared_lock lock(guard);
    if (const auto at = all.find(english); at != all.end()) return at->second;
  }
  const std::unique_lock lock(guard);
  return all.try_emplace(std::string(english), entry_of(english)).first->second;
}

std::atomic<const Language*> chosen = nullptr;

std::string filled(const Template& text, std::span<const Place> places) {
  std::string out;
  for (const Template::Piece& piece : text.pieces) {
    out += piece.text;
    if (piece.place.empty()) continue;
    const auto given = std::ranges::find(places, piece.place, &Place::name);
    out += given == places.end() ? "{" + piece.place + "}" : given->text;
  }
  return out;
}

}  // namespace

Form form_of(std::string_view language, long long n) {
  const auto one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, language.substr(0, language.find('-'))) != names.end();
  };
  const long long ten = n % 10, hundred = n % 100;
  const bool few = ten >= 2 && ten <= 4 && (hundred < 12 || hundred > 14);
  if (one_of({"ja", "ko", "zh", "vi", "th", "id"})) return Form::Other;
  if (one_of({"fr", "pt"})) return n == 0 || n == 1 ? Form::One : Form::Other;
  if (one_of({"cs", "sk"})) return n == 1 ? Form::One : n >= 2 && n <= 4 ? Form::Few : Form::Other;
  if (one_of({"pl"})) return n == 1 ? Form::One : few ? Form::Few : Form::Many;
  if (one_of({"ru", "uk", "be"})) return ten == 1 && hundred != 11 ? Form::One : few ? Form::Few : Form::Many;
  return n == 1 ? Form::One : Form::Other;
}

const Language::Entry& Language::text(std::string_view english) const {
  const auto at = texts_.find(english);
  return at == texts_.end() ? as_written(english) : entries_[at->second];
}

const Language::Entry* Language::phrase(std::string_view room, std::string_view english) const {
  const auto at = phrases_.find(fmt::format("{} {}", room, english));
  return at == phrases_.end() ? nullptr : &entries_[at->second];
}

const std::string& Language::tr(std::string_view english) const {
  return text(english).forms.front().second.plain;
}

std::string Language::tr(std::string_view english, Places places) const {
  return say(text(english), std::span<const Place>(places.begin(), places.size()));
}

const Language::Entry* Language::entry(std::string_view key) const {
  const auto at = index_.find(key);
  if (at != index_.end()) return &entries_[at->second];
  return english_ ? english_->entry(key) : nullptr;
}

const std::string* Language::find(std::string_view key) const {
  const Entry* there = entry(key);
  return there ? &there->forms.front().second.plain : nullptr;
}

const std::string& Language::say(std::string_view key) const {
  const std::string* text = find(key);
  return text ? *text : unknown(key);
}

std::string Language::say(std::string_view key, std::span<const Place> places) const {
  const Entry* there = entry(key);
  return there ? say(*there, places) : unknown(key);
}

std::string Language::say(const Entry& entry, std::span<const Place> places) const {
  const Template* said = &entry.forms.front().second;
  for (const Place& place : places)
    if (place.name == "count" && place.number)
      for (const auto& [form, text] : entry.forms)
        if (form == form_of(name_, *place.number)) said = &text;
  return filled(*said, places);
}

std::vector<std::string_view> Language::below(std::string_view key) const {
  std::vector<std::string_view> names;
  for (const Entry& one : (english_ ? english_ : this)->entries_) {
    std::string_view name = one.key;
    if (!name.starts_with(key) || name.size() <= key.size() + 1 || name[key.size()] != '.') continue;
    name = name.substr(key.size() + 1);
    name = name.substr(0, name.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

const Language& language(std::string_view name) {
  Languages& all = all_languages();
  const auto there = all.find(name);
  auto& [own, reading] = there == all.end() ? *all.find("en") : *there;
  std::call_once(reading.begun, [&own = own, &reading = reading] {
    reading.texts.emplace(read_language(own, own == "en" ? nullptr : &language("en")));
  });
  return *reading.texts;
}

std::vector<std::string> languages() {
  std::vector<std::string> names;
  for (const auto& [name, reading] : all_languages())
    if (name != "en") names.push_back(name);
  return names;
}

void use(std::string_view name) { chosen = &language(name); }

const Language& of_window() {
  const Language* there = chosen.load();
  return there ? *there : language("en");
}

const std::string& say(std::string_view key) { return of_window().say(key); }

std::string say(std::string_view key, Places places) { return of_window().say(key, places); }

Label label(std::string_view english, Places places) {
  return {language("en").tr(english, places), of_window().tr(english, places)};
}

// ---- Reading a file of texts: texts become templates, tables become plural forms, all in the order of the file.

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

/// Parses a text with its places; nothing where a brace is neither doubled nor part of a place.
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
  bool by_english = false;  ///< names in the file are English texts instead of parts of keys
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

  /// Reads a table of plural forms, { one = "…", other = "…" }; nothing where a name is no plural form.
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
    } else {  // a phrase without places is looked up by its plain text, without doubled braces
      const Template text = entry_of(entry.english).forms.front().second;
      phrases_[room + " " + (text.pieces.size() == 1 ? text.plain : entry.english)] = entries_.size();
    }
    entries_.push_back(std::move(entry));
  }
}

// ---- Messages of engine and training in the window's language: the format is looked up in errors.toml or
// training.toml, and the content of a place is a message again, or a phrase of the same file.

namespace {

constexpr std::string_view kErrors = "errors", kTraining = "training";
constexpr const char* kNumbers[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A phrase of a file's translation; a bare number with the language's decimal sign; any other text unchanged.
std::string phrase_in(std::string_view room, std::string_view text, const Language& language) {
  if (const Language::Entry* entry = language.phrase(room, text)) return entry->forms.front().second.plain;
  const bool number = text.find_first_not_of("0123456789.-+") == text.npos;
  return number ? with_decimal(std::string(text), language) : std::string(text);
}

std::string message_in(std::string_view room, const Message& message, const Language& language) {
  if (message.format.empty()) return phrase_in(room, message, language);
  const Language::Entry* entry = language.phrase(room, message.format);
  if (!entry && room == kErrors) entry = language.phrase(room = kTraining, message.format);
  if (!entry) room = kErrors;
  std::vector<Place> places;
  for (const Message& place : message.places)
    places.emplace_back(kNumbers[places.size()], message_in(room, place, language));
  return language.say(entry ? *entry : language.text(message.format), places);
}

/// Translates a part of a run's name: a phrase, "no warm-up", or one with a number, "warm-up 200", "12 norms moved".
std::string part_of_name(std::string_view part, const Language& language) {
  const auto is_known = [&](std::string_view text) { return language.phrase(kTraining, text) != nullptr; };
  const size_t end = part.rfind(' '), begin = part.find(' ');
  if (end == part.npos || is_known(part)) return phrase_in(kTraining, part, language);
  const std::string_view number = part.substr(0, begin), what = part.substr(begin + 1);
  if (is_known(part.substr(0, end)) || part.ends_with(" (rms)"))
    return part_of_name(part.substr(0, end), language) + " " +
           phrase_in(kTraining, part.substr(end + 1), language);
  const bool counts = number.find_first_not_of("0123456789") == number.npos && is_known(what);
  return counts ? std::string(number) + " " + phrase_in(kTraining, what, language) : std::string(part);
}

}  // namespace

std::string with_decimal(std::string text, const Language& language) {
  const std::string& sign = language.say("format.decimal");
  // Whether no other point with a digit follows the digits next to a point.
  const auto ends = [&](size_t at, int step) {
    do at += static_cast<size_t>(step);
    while (at < text.size() && is_digit(text[at]));
    return at >= text.size() || text[at] != '.' || at + 1 >= text.size() || !is_digit(text[at + 1]);
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    out += text[i] == '.' && inside && ends(i, 1) && ends(i, -1) ? sign : std::string(1, text[i]);
  }
  return out;
}

std::string spoken(const Message& message, const Language& language) {
  if (language.name() == "en") return message;
  if (!message.format.empty()) return message_in(kErrors, message, language);
  for (const std::string_view room : {kTraining, kErrors})
    if (language.phrase(room, message)) return phrase_in(room, message, language);
  const std::string_view name = message;
  std::string out;
  for (size_t from = 0; from <= name.size();) {
    const size_t end = std::min(name.find(", ", from), name.size());
    out += (from > 0 ? ", " : "") + part_of_name(name.substr(from, end - from), language);
    from = end + 2;
  }
  return out;
}

}  // namespace normscope::words

namespace normscope {

const std::string& tr(std::string_view english) { return words::of_window().tr(english); }

std::string tr(std::string_view english, words::Places places) {
  return words::of_window().tr(english, places);
}

}  // namespace normscope
