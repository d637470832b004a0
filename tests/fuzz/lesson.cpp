// A lesson's definition. Its Markdown comes from the input too: what follows a line "---" is the text of every
// step.
#include "app/course/reader.h"

#include "fuzz.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size), mark = "\n---\n";
  const size_t at = text.find(mark);
  const std::string_view toml = text.substr(0, at),
                         prose = at == text.npos ? "Words." : text.substr(at + mark.size());
  fuzz::accepts([&] {
    const course::Lesson lesson =
        course::parse_lesson(toml, "01-fuzz", [&](const std::string&) { return std::string(prose); });
    course::definition(lesson);
  });
  return 0;
}
