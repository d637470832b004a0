// A lesson's definition. Its Markdown comes from the input too: what follows a line "---" is the text of every step.
#include "app/course/reader.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(lesson) {
  const std::string_view mark = "\n---\n";
  const size_t at = input.find(mark);
  const std::string_view toml = input.substr(0, at),
                         prose = at == input.npos ? "Words." : input.substr(at + mark.size());
  fuzz::accepts([&] {
    const course::Lesson lesson =
        course::parse_lesson(toml, "01-fuzz", [&](const std::string&) { return std::string(prose); });
    course::definition(lesson);
  });
}
