// What the window, the lessons and the worksheets say, as data. assets/words/ROOM.toml holds the English texts of a room or
// a screen, assets/words/de/ROOM.toml those of another language, as far as it has them; CMake puts both into the program. A
// key is room, tables and name: "course.done". A text has named places, "{done} of {all} done", a brace that is meant is
// written twice, and what depends on a number is a table of plural forms, chosen by the place `count`:
//   runs = { one = "{count} run", other = "{count} runs" }
// A text is parsed once; to look one up costs a hash. What the command line prints and what files hold is not here.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace normscope::words {

/// What stands in a place of a text: {"done", 3}. A number that is to be rounded is given as a text (ui::number).
struct Place {
  Place(std::string_view place, std::string_view value) : name(place), text(value) {}
  Place(std::string_view place, char letter) : name(place), text(1, letter) {}
  template <std::integral Number>
  requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
      Place(std::string_view place, Number value)
      : name(place), text(std::to_string(value)), number(static_cast<long long>(value)) {}

  std::string_view name;
  std::string text;
  std::optional<long long> number{};  ///< of `count`: chooses the plural form
};
using Places = std::initializer_list<Place>;

/// Text, place, text, place, …: each piece is a text with the place that follows it; empty: none does.
struct Template {
  struct Piece {
    std::string text, place;
  };
  std::string plain;  ///< as it is said without places
  std::vector<Piece> pieces;
};

enum class Form { One, Few, Many, Other };

/// The form that a language ("de") counts `n` with.
Form form_of(std::string_view language, long long n);

class Language {
 public:
  struct Entry {
    std::string key;
    std::vector<std::pair<Form, Template>> forms;  ///< Other is the first
  };

  /// Adds what a file of this language says. Throws Error for what is no text, "FILE:LINE: …".
  void read(std::string_view text, const std::string& file, const std::string& room);

  /// What the key stands for, of texts without places; in English where this language does not have it. A key that no
  /// file has is said itself.
  const std::string& say(std::string_view key) const;
  /// The same with its places. One that is not given stays as it is written: "{done}".
  std::string say(std::string_view key, Places places) const;
  /// nullptr where no file has it.
  const std::string* find(std::string_view key) const;
  /// The names below a key, in the order of its file: of "glossary" every term's.
  std::vector<std::string_view> below(std::string_view key) const;

  const std::string& name() const { return name_; }
  /// Of this language alone, in the order of its files.
  const std::vector<Entry>& entries() const { return entries_; }

  explicit Language(std::string name, const Language* english = nullptr)
      : name_(std::move(name)), english_(english) {}

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  const Entry* entry(std::string_view key) const;

  std::string name_;         ///< "de"; of English "en"
  const Language* english_;  ///< nullptr: this is it
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> index_;  ///< into entries_, by key
};

/// The texts of a language; of English where none has been written ("" and "en" are English). They stay for good.
const Language& language(std::string_view name);
/// Those that have texts beside the English ones.
std::vector<std::string> languages();

/// The language of the window, English at first. Chosen once, before anything is drawn: what a table said stays.
void use(std::string_view name);
const Language& of_window();
/// In the language of the window.
const std::string& say(std::string_view key);
std::string say(std::string_view key, Places places);

}  // namespace normscope::words
