// The texts of the window and the lessons, in any language. The command line and files stay English.
// A text is written in English in the code, where it is shown, with named places; a literal brace is written twice:
//   tr("{done} of {all} done", {{"done", 3}, {"all", 12}})
//   tr("{count} run | {count} runs", {{"count", n}})    the number of the place `count` chooses
//   tr("open##verb")                                    ##... distinguishes two texts that are the same in English
// assets/words/de/texts.toml has its German. A text that is looked up by another name, as a term of the glossary or a
// setting, has a key in a file of its own: say("glossary.gradient.text") is in assets/words/glossary.toml in English
// and in de/glossary.toml in German. CMake embeds all files in the program. A text is parsed once, so a look-up costs
// one hash.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/core/error.h"

namespace normscope::words {

/// The content of a place in a text: {"done", 3}. A number that must be rounded is passed as text (ui::number).
struct Place {
  Place(std::string_view place, std::string_view value) : name(place), text(value) {}
  Place(std::string_view place, char letter) : name(place), text(1, letter) {}
  template <std::integral Number>
  requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
      Place(std::string_view place, Number value)
      : name(place), text(std::to_string(value)), number(static_cast<long long>(value)) {}

  std::string_view name;
  std::string text;
  std::optional<long long> number{};  ///< if the place is `count`, it chooses the plural form
};
using Places = std::initializer_list<Place>;

/// A parsed text: each piece is some text and the place after it. The place of the last piece may be
/// empty. The places of a message's format, {} and {:.1f}, have the names 0, 1 and so on.
struct Template {
  struct Piece {
    std::string text, place;
  };
  std::string plain;  ///< the text with its places as written, "{done}"
  std::vector<Piece> pieces;
};

enum class Form { One, Few, Many, Other };

Form form_of(std::string_view language, long long n);

class Language {
 public:
  struct Entry {
    std::string key;
    std::vector<std::pair<Form, Template>> forms;  ///< Form::Other comes first
    std::string english{};  ///< the text by which tr() or phrase() finds the entry; empty: it has a key
  };

  /// Adds the texts of `file`, called `room`.toml. Throws Error, "FILE:LINE: …", for a value that is not a text.
  void read(std::string_view text, const std::string& file, const std::string& room);

  /// An English text in this language, or unchanged where there is no translation.
  const std::string& tr(std::string_view english) const;
  /// This `tr` fills in the places. A place without a value stays as written: "{done}".
  std::string tr(std::string_view english, Places places) const;

  const Entry& text(std::string_view english) const;
  /// The entry of errors.toml or training.toml (`room`) for an English phrase or format; nullptr where it has none.
  const Entry* phrase(std::string_view room, std::string_view english) const;

  /// The text of a key, in English where this language lacks it. For an unknown key it returns the key itself, so that
  /// the gap is visible.
  const std::string& say(std::string_view key) const;
  /// This `say` fills in the places. A place without a value stays as written: "{done}".
  std::string say(std::string_view key, Places places) const {
    return say(key, std::span<const Place>(places.begin(), places.size()));
  }
  std::string say(std::string_view key, std::span<const Place> places) const;
  /// Fills in an entry of this language.
  std::string say(const Entry& entry, std::span<const Place> places) const;
  /// The text of a key, or in English; nullptr where no file has the key.
  const std::string* find(std::string_view key) const;
  /// The names below a key, in the order of the English file: for "glossary" the names of all terms.
  std::vector<std::string_view> below(std::string_view key) const;

  const std::string& name() const { return name_; }
  /// Returns this language's own texts, in the order of its files.
  const std::vector<Entry>& entries() const { return entries_; }

  explicit Language(std::string name, const Language* english = nullptr)
      : name_(std::move(name)), english_(english) {}

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  const Entry* entry(std::string_view key) const;

  std::string name_;         ///< "de"; "en" for English
  const Language* english_;  ///< nullptr: this is English
  std::vector<Entry> entries_;
  using Index = std::unordered_map<std::string, size_t, Hash, std::equal_to<>>;
  Index index_;    ///< into entries_, by key
  Index texts_;    ///< into entries_, by English text: from texts.toml
  Index phrases_;  ///< into entries_, by file and English text: from errors.toml and training.toml
};

/// Parses a text of the code, "{count} run | {count} runs" or "open##verb".
Language::Entry entry_of(std::string_view english);

/// The texts of a language, or English for a name without texts, such as "". They live as long as the program.
const Language& language(std::string_view name);
/// The names of the languages that have texts, other than English.
std::vector<std::string> languages();

/// Chooses the language of the window, from the next text on; the default is English.
void use(std::string_view name);
const Language& of_window();

/// A list that keeps its texts, such as that of the plots. It is made once in each language that is asked for, and stays:
/// what refers into it outlives a change of the window's language.
template <class List>
class Table {
 public:
  using Make = List (*)(const Language&);
  explicit Table(Make make) : make_(make) {}
  const List& in(const Language& language = of_window()) {
    const std::lock_guard lock(guard_);
    if (const auto made = made_.find(&language); made != made_.end()) return made->second;
    return made_.emplace(&language, make_(language)).first->second;
  }

 private:
  const Make make_;
  std::mutex guard_;
  std::map<const Language*, List> made_;
};

/// The text of a key in the language of the window.
const std::string& say(std::string_view key);
std::string say(std::string_view key, Places places);
/// The text of a segment or of a list's entry, and its name, by which scripts refer to it in every language: the
/// English text.
struct Label {
  std::string name, shown;
};
Label label(std::string_view english, Places places = {});
/// Replaces the points in the numbers of a generated text, "−0.1 to 0.35", by the language's decimal sign. Numbers
/// with more than one point, such as versions, stay.
std::string with_decimal(std::string text, const Language& language = of_window());
/// Translates a message of engine or training, which are English only: a refusal, a run's state, a setting's label, a
/// placement's formula. Of a run's name, "Post-LN, no warm-up", each part is translated. A text that neither
/// assets/words/de/errors.toml nor training.toml has stays English; a number gets the language's decimal sign.
std::string spoken(const Message& message, const Language& language = of_window());

}  // namespace normscope::words

namespace normscope {

/// An English text in the window's language.
const std::string& tr(std::string_view english);
std::string tr(std::string_view english, words::Places places);

}  // namespace normscope
