// The table of the glossary, as assets/words/glossary.toml has it. See glossary.h.
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "app/view/glossary.h"
#include "app/words/words.h"

namespace normscope::shell {
namespace {

Term term_of(std::string_view id) {
  const words::Language& said = words::of_window();
  const auto text = [&](std::string_view what) {
    const std::string* found = said.find(fmt::format("glossary.{}.{}", id, what));
    return found ? std::string_view(*found) : std::string_view{};
  };
  Term term{id, text("title"), text("text"), text("source"), text("places"), text("words")};
  const std::string_view lesson = text("lesson");
  std::from_chars(lesson.data(), lesson.data() + lesson.size(), term.lesson);
  return term;
}

}  // namespace

std::span<const Term> glossary() {
  static const std::vector<Term> all = [] {
    std::vector<Term> terms;
    for (const std::string_view id : words::of_window().below("glossary")) terms.push_back(term_of(id));
    return terms;
  }();
  return all;
}

}  // namespace normscope::shell
