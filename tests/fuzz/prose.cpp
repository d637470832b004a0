// The text of a lesson: Markdown with formulas, and each formula laid out.
#include "app/course/prose.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(prose) {
  const auto width = [](ui::TextStyle, std::string_view text) {
    return 6.f * static_cast<float>(text.size());
  };
  fuzz::accepts([&] {
    const course::Prose prose = course::parse_prose(input, "fuzz.md");
    prose.words();
    for (const course::Block& block : prose.blocks)
      for (const course::Inline& one : block.inlines)
        if (one.formula.root) tex::layout(one.formula, 16, block.kind == course::Block::Kind::Display, width);
  });
  // The same as one formula.
  fuzz::accepts([&] { tex::layout(tex::parse(input), 16, true, width); });
}
