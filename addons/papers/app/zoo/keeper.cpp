// A lesson's own wiring becomes an entry of the zoo.
#include <fmt/format.h>

#include "addons/papers/app/zoo/own.h"
#include "app/lesson-player/wiring_keeper.h"

namespace normscope::lessons {

const WiringKeeper& zoo_keeper() {
  static constexpr WiringKeeper keeper{
      .keep =
          [](const std::string& progress_path, const std::vector<std::string>& set) {
            return zoo::enter(zoo::own_path(progress_path), set);
          },
      .label =
          [](const words::Language& words, const std::string& name) {
            return name.empty() ? words.tr("Enter in the zoo")
                                : words.tr("In the zoo: {name}", {{"name", name}});
          },
      .help =
          [](const words::Language& words, bool measured) {
            return words.tr(measured ? "Keeps this wiring as an entry of the zoo, beside the others."
                                     : "First change a slot and run again: what was measured is entered.");
          },
      .told =
          [](const words::Language& words, const std::string& name) {
            return words.tr(
                "Your wiring is {name} in the zoo. In a terminal, {command} trains it with three seeds, "
                "with and without warm-up, beside the two; without --only, beside all.",
                {{"name", name}, {"command", fmt::format("normscope zoo --only {},post,pre", name)}});
          }};
  return keeper;
}

}  // namespace normscope::lessons
