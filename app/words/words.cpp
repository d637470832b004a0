#include "app/words/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "app/words/word_files.h"

namespace normscope::words {
namespace {

/// Keeps a key that no file has, so that it can be returned like a text.
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

/// A language that is read when it is first asked for, because most windows speak one or two.
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

/// A text that a language has no other words for: parsed when it is first said, and kept.
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

}  // namespace normscope::words

namespace normscope {

const std::string& tr(std::string_view english) { return words::of_window().tr(english); }

std::string tr(std::string_view english, words::Places places) {
  return words::of_window().tr(english, places);
}

}  // namespace normscope
