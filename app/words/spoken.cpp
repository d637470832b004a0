// `spoken` finds the English text in assets/words/de/training.toml that a phrase of the training floor was made after,
// `refused` and `error` the text of a refusal, in errors.toml too.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/words/words.h"

namespace normscope::words {
namespace {

constexpr std::string_view kSaid = "training.said", kRefused = "training.refused", kErrors = "errors";
constexpr size_t kSentence = 6;  ///< letters beside its places that a sentence has at least

/// Takes what stands in the places of a text: "learning since step 21" after "learning since step {step}" is
/// step = 21. Nothing where the phrase is another one.
std::optional<std::vector<Place>> places_in(const Template& text, std::string_view phrase) {
  std::vector<Place> places;
  for (size_t i = 0; i < text.pieces.size(); ++i) {
    const Template::Piece& piece = text.pieces[i];
    if (!phrase.starts_with(piece.text)) return std::nullopt;
    phrase.remove_prefix(piece.text.size());
    if (piece.place.empty()) continue;
    const bool last = i + 1 == text.pieces.size() || text.pieces[i + 1].text.empty();
    const bool closes =
        i + 2 == text.pieces.size() && text.pieces[i + 1].place.empty();  // "{path} is empty."
    const std::string_view next = last ? "" : std::string_view(text.pieces[i + 1].text);
    const size_t end = last ? phrase.size() : closes ? phrase.rfind(next) : phrase.find(next);
    if (end == phrase.npos || end == 0) return std::nullopt;
    places.emplace_back(piece.place, phrase.substr(0, end));
    phrase.remove_prefix(end);
  }
  return phrase.empty() ? std::optional(places) : std::nullopt;
}

/// The phrases that a language has words for: those without a place by their English text, and the others.
struct Known {
  struct WithPlaces {
    const Language::Entry* entry;
    Template english;
    size_t letters;       ///< beside the places
    bool begins = false;  ///< with letters, not with a place
  };
  std::unordered_map<std::string, const Language::Entry*> whole;
  std::vector<WithPlaces> with_places;
};

Known known_in(const Language& language, std::initializer_list<std::string_view> tables) {
  Known found;
  for (const Language::Entry& entry : language.entries()) {
    const auto holds = [&](std::string_view table) { return entry.key.starts_with(table); };
    if (std::none_of(tables.begin(), tables.end(), holds)) continue;
    Template text = entry_of(entry.english).forms.front().second;
    size_t letters = 0;
    for (const Template::Piece& piece : text.pieces) letters += piece.text.size();
    if (text.pieces.size() == 1 && text.pieces.front().place.empty())
      found.whole.emplace(text.plain, &entry);
    else
      found.with_places.push_back({&entry, text, letters, !text.pieces.front().text.empty()});
  }
  return found;
}

/// What `make` makes of a language, once.
const Known& once_for(const Language& language, Known (*make)(const Language&)) {
  static std::mutex guard;
  static std::map<std::pair<const Language*, Known (*)(const Language&)>, Known> all;
  const std::lock_guard lock(guard);
  const auto there = all.find({&language, make});
  return there != all.end() ? there->second
                            : all.emplace(std::pair(&language, make), make(language)).first->second;
}

const Known& known(const Language& language) {
  return once_for(language, [](const Language& of) { return known_in(of, {kSaid}); });
}

/// Tried in the order of how much they say themselves: those that begin with letters, then by their
/// number: "run {letter}: {why}", "{value} is out of range: expected {range}", "{field} is {value}: expected {wanted}".
const Known& known_refusals(const Language& language) {
  return once_for(language, [](const Language& of) {
    Known found = known_in(of, {kRefused, kErrors});
    std::stable_sort(found.with_places.begin(), found.with_places.end(), [](const auto& a, const auto& b) {
      return a.begins != b.begins ? a.begins : a.letters > b.letters;
    });
    return found;
  });
}

/// A phrase without a place; nullptr where it is not among these.
const std::string* whole_of(const Known& all, std::string_view phrase) {
  const auto at = all.whole.find(std::string(phrase));
  return at == all.whole.end() ? nullptr : &at->second->forms.front().second.plain;
}

/// One phrase in a language, with what stands in its places as `say_place` has it; nothing where it is not
/// among these, or only among those of fewer letters than `least`.
template <typename Say>
std::optional<std::string> found_in(const Known& all, const Language& language, std::string_view phrase,
                                    const Say& say_place, size_t least = 0) {
  if (const std::string* whole = whole_of(all, phrase)) return *whole;
  for (const auto& [entry, english, letters, begins] : all.with_places) {
    if (letters < least) continue;
    auto places = places_in(english, phrase);
    if (!places) continue;
    for (Place& place : *places) place.text = say_place(place);
    return language.say(*entry, std::span<const Place>(*places));
  }
  return std::nullopt;
}

/// What stands in a place of a refusal: names of files and keys as they are, `why` as a sentence.
std::string say_refused(const Place& place, const Language& language) {
  for (const char* own : {"path", "file", "key", "name", "tensor", "detail"})
    if (place.name == own) return place.text;
  return place.name == "why" ? error(place.text, language) : refused(place.text, language);
}

/// How much of a line says where something is wrong: "lab.toml:2: ", "/tmp/my-own.toml: ", or the
/// value that holds it, before another place: "'4 computed softmax': ".
size_t place_length(std::string_view line) {
  if (const size_t quoted = line.find("': ["); line.starts_with('\'') && quoted != line.npos)
    return quoted + 3;
  const size_t end = line.find(": ");
  if (end == line.npos) return 0;
  const std::string_view where = line.substr(0, end), name = where.substr(where.rfind('/') + 1);
  const size_t number = where.find_last_not_of("0123456789");
  const bool numbered = number != where.npos && number + 1 < where.size() && where[number] == ':';
  const bool path = name.find_first_of(" '\"") == name.npos && where.find_first_of("/.") != where.npos;
  return numbered || path ? end + 2 : 0;
}

std::string said_of(const Language& language, std::string_view phrase) {
  const auto say = [&](const Place& part) { return said_of(language, part.text); };
  if (const auto said = found_in(known(language), language, phrase, say)) return *said;
  // A setting with its value, "learning rate 0.001".
  if (const size_t space = phrase.rfind(' '); space != phrase.npos)
    if (const std::string* what = whole_of(known(language), phrase.substr(0, space)))
      return *what + " " + said_of(language, phrase.substr(space + 1));
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
  const auto say = [&](const Place& part) { return say_refused(part, language); };
  if (const auto said = found_in(known_refusals(language), language, phrase, say)) return *said;
  return spoken(phrase, language);
}

std::string error(std::string_view line, const Language& language) {
  if (language.name() == "en") return std::string(line);
  const auto after = [&](size_t length) {
    return std::string(line.substr(0, length)) + error(line.substr(length), language);
  };
  const size_t tag = line.starts_with('[') ? line.find("] ") : line.npos;
  if (tag != line.npos)
    return "[" + error(line.substr(1, tag - 1), language) + "] " + error(line.substr(tag + 2), language);
  if (const size_t where = place_length(line); where > 0) return after(where);
  const auto say = [&](const Place& part) { return say_refused(part, language); };
  if (const auto said = found_in(known_refusals(language), language, line, say, kSentence)) return *said;
  const size_t colon = line.find(": ");
  return colon == line.npos ? std::string(line) : after(colon + 2);
}

std::string spoken(std::string_view phrase, const Language& language) {
  if (language.name() == "en") return std::string(phrase);
  if (const std::string* whole = whole_of(known(language), phrase)) return *whole;
  std::string out;
  for (size_t from = 0; from <= phrase.size();) {
    const size_t end = std::min(phrase.find(", ", from), phrase.size());
    out += (from > 0 ? ", " : "") + said_of(language, phrase.substr(from, end - from));
    from = end + 2;
  }
  return out;
}

}  // namespace normscope::words
