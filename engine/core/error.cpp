#include "engine/core/error.h"

#include <algorithm>

namespace normscope {
namespace {

constexpr std::string_view kSomewhere = "[{}] {}";

}  // namespace

Message::Message(fmt::string_view form, std::initializer_list<const Message*> given,
                 const fmt::format_args& all)
    : std::string(fmt::vformat(form, all)), format(form.data(), form.size()) {
  size_t next = 0;
  for (size_t at = format.find_first_of("{}"); at < format.size(); at = format.find_first_of("{}", at)) {
    if (format[at] == '}' || format[at + 1] == '{') {  // "{{" and "}}" are literal braces
      at += 2;
      continue;
    }
    const size_t end = format.find('}', at), colon = std::min(format.find(':', at), end);
    const std::string number(format.substr(at + 1, colon - at - 1));
    const size_t index = number.empty() ? next++ : std::stoul(number);
    if (const Message* const message = given.begin()[index])
      places.push_back(*message);
    else
      places.emplace_back(
          fmt::vformat(fmt::format("{{{}{}}}", index, format.substr(colon, end - colon)), all));
    at = end + 1;
  }
}

const Message& without_where(const Message& message) {
  return message.format == kSomewhere ? message.places[1] : message;
}

const Message& where_of(const Message& message) {
  static const Message nowhere;
  return message.format == kSomewhere ? message.places[0] : nowhere;
}

Message on_one_line(Message message, size_t most) {
  if (message.size() > most) message.replace(most, message.npos, "...");
  std::ranges::replace_if(
      message, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  for (Message& place : message.places) place = on_one_line(std::move(place), most);
  return message;
}

}  // namespace normscope
