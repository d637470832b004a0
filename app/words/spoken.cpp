// `spoken` finds the text in assets/words/training.toml that a phrase of the training floor was made after.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/words/words.h"

namespace normscope::words {
namespace {

constexpr std::string_view kSaid = "training.said", kRefused = "training.refused";

/// `places_in` takes what stands in the places of a text: "learning since step 21" after "learning since step {step}" is
/// step = 21. Nothing where the phrase is another one.
std::optional<std::vector<Place>> places_in(const Template& text, std::string_view phrase) {
  std::vector<Place> places;
  for (size_t i = 0; i < text.pieces.size(); ++i) {
    const Template::Piece& piece = text.pieces[i];
    if (!phrase.starts_with(piece.text)) return std::nullopt;
    phrase.remove_prefix(piece.text.size());
    if (piece.place.empty()) continue;
    const bool last = i + 1 == text.pieces.size() || text.pieces[i + 1].text.empty();
    const size_t end = last ? phrase.size() : phrase.find(text.pieces[i + 1].text);
    if (end == phrase.npos || end == 0) return std::nullopt;
    places.emplace_back(piece.place, phrase.substr(0, end));
    phrase.remove_prefix(end);
  }
  return phrase.empty() ? std::optional(places) : std::nullopt;
}

/// `Known` are the phrases of the training floor: those without a place by their English text, and the others.
struct Known {
  std::unordered_map<std::string_view, std::string_view> keys;
  std::vector<const Language::Entry*> with_places;
};

Known known_in(std::string_view table) {
  Known found;
  for (const Language::Entry& entry : words::language("en").entries()) {
    if (!entry.key.starts_with(table)) continue;
    const Template& text = entry.forms.front().second;
    if (text.pieces.size() == 1 && text.pieces.front().place.empty())
      found.keys.emplace(text.plain, entry.key);
    else
      found.with_places.push_back(&entry);
  }
  return found;
}

const Known& known() {
  static const Known all = known_in(kSaid);
  return all;
}

const Known& known_refusals() {
  static const Known all = known_in(kRefused);
  return all;
}

/// `whole_of` is a phrase without a place in a language; nullptr where it is not among these.
const std::string* whole_of(const Known& all, const Language& language, std::string_view phrase) {
  const auto at = all.keys.find(phrase);
  return at == all.keys.end() ? nullptr : &language.say(at->second);
}

/// `found_in` is one phrase in a language, with what stands in its places as `say_place` has it; nothing where it is not
/// among these.
template <typename Say>
std::optional<std::string> found_in(const Known& all, const Language& language, std::string_view phrase,
                                    const Say& say_place) {
  if (const std::string* whole = whole_of(all, language, phrase)) return *whole;
  for (const Language::Entry* entry : all.with_places) {
    auto places = places_in(entry->forms.front().second, phrase);
    if (!places) continue;
    for (Place& place : *places) place.text = say_place(place.text);
    return language.say(entry->key, std::span<const Place>(*places));
  }
  return std::nullopt;
}

std::string said_of(const Language& language, std::string_view phrase) {
  const auto say = [&](std::string_view part) { return said_of(language, part); };
  if (const auto said = found_in(known(), language, phrase, say)) return *said;
  const bool number = phrase.find_first_not_of("0123456789.-+") == phrase.npos;
  return number ? with_decimal(std::string(phrase), language) : std::string(phrase);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string with_decimal(std::string text, const Language& language) {
  const std::string& sign = language.say("format.decimal");
  const auto ends = [&](size_t at,
                        int step) {  // the run of digits beside a point has no other point behind it
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

std::string refused(std::string_view phrase, const Language& language) {
  if (language.name() == "en") return std::string(phrase);
  const auto say = [&](std::string_view part) { return refused(part, language); };
  if (const auto said = found_in(known_refusals(), language, phrase, say)) return *said;
  return spoken(phrase, language);
}

std::string spoken(std::string_view phrase, const Language& language) {
  if (language.name() == "en") return std::string(phrase);
  if (const std::string* whole = whole_of(known(), language, phrase)) return *whole;
  std::string out;
  for (size_t from = 0; from <= phrase.size();) {
    const size_t end = std::min(phrase.find(", ", from), phrase.size());
    out += (from > 0 ? ", " : "") + said_of(language, phrase.substr(from, end - from));
    from = end + 2;
  }
  return out;
}

}  // namespace normscope::words
