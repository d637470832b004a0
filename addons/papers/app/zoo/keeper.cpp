// A lesson's own wiring becomes an entry of the zoo.
#include <fmt/format.h>

#include "addons/papers/app/zoo/own.h"
#include "app/lessons/wiring_keeper.h"

namespace normscope::lessons {

const WiringKeeper& zoo_keeper() {
  static constexpr WiringKeeper keeper{
      .keep =
          [](const std::string& progress_path, const std::vector<std::string>& set) {
            return zoo::enter(zoo::own_path(progress_path), set);
          },
      .label =
          [](const words::Language& words, const std::string& name) {
            return name.empty() ? words.say("zoo.keep.enter")
                                : words.say("zoo.keep.entered", {{"name", name}});
          },
      .help = [](const words::Language& words,
                 bool measured) { return words.say(measured ? "zoo.keep.help" : "zoo.keep.not_yet"); },
      .told =
          [](const words::Language& words, const std::string& name) {
            return words.say(
                "zoo.keep.told",
                {{"name", name}, {"command", fmt::format("normscope zoo --only {},post,pre", name)}});
          }};
  return keeper;
}

}  // namespace normscope::lessons
