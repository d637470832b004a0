// Says a message of the floors below in the window's language: its format is found in errors.toml or training.toml,
// and what stands in its places is a message again, or a phrase of the same file.
#include <string_view>
#include <vector>

#include "app/words/words.h"

namespace normscope::words {
namespace {

constexpr std::string_view kErrors = "errors", kTraining = "training";
constexpr const char* kNumbers[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A phrase of the room; a number with the language's sign; anything else as it is.
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

/// A part of a name, "no warm-up", or words and their number: "warm-up 200", "12 norms moved".
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
