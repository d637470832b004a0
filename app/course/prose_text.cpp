// What is read of a parsed prose: its words, its parts, the form of a sentence that holds. See prose.h.
#include <algorithm>
#include <cctype>

#include "app/course/prose.h"

namespace normscope::course {
namespace {

using Kind = Inline::Kind;

int32_t words_in(const Inline& piece) {
  if (piece.kind != Kind::Text) return 1;
  int32_t count = 0;
  bool inside = false;
  for (char c : piece.text) {
    const bool part = static_cast<uint8_t>(c) > 127 || std::isalnum(static_cast<uint8_t>(c));
    if (part && !inside) ++count;
    if (part || c == ' ') inside = part;
  }
  return count;
}

}  // namespace

int32_t Prose::words() const {
  int32_t count = 0;
  for (const Block& block : blocks) {
    int32_t form = 0, longest = 0;
    bool within = false;
    for (const Inline& piece : block.inlines) {
      if (opens(piece.kind)) {
        within = true;
        form = longest = 0;
      } else if (piece.kind == Kind::Otherwise || piece.kind == Kind::End) {
        longest = std::max(longest, form);
        form = 0;
        if (piece.kind == Kind::End) {
          count += longest;
          within = false;
        }
      } else {
        (within ? form : count) += words_in(piece);
      }
    }
  }
  return count;
}

std::pair<Prose, Prose> Prose::at_heading() const {
  const auto heading = std::find_if(blocks.begin(), blocks.end(),
                                    [](const Block& b) { return b.kind == Block::Kind::Heading; });
  const auto below = heading == blocks.end() ? heading : heading + 1;
  return {{file, {blocks.begin(), heading}}, {file, {below, blocks.end()}}};
}

bool Condition::holds(double value) const {
  return sign == "<"    ? value < limit
         : sign == "<=" ? value <= limit
         : sign == ">"  ? value > limit
                        : value >= limit;
}

std::vector<Inline> read_as(const std::vector<Inline>& inlines, const Number& number,
                            const std::string& unknown) {
  std::vector<Inline> out;
  enum class State : uint8_t { Outside, Waiting, Inside, Over } state = State::Outside;
  const auto choose = [&](const Inline& piece) {
    State next = State::Inside;
    for (const Condition& condition : piece.conditions) {
      const std::optional<double> value = number(condition.measure);
      if (!value) {
        Inline later = piece;
        later.kind = Kind::Text;
        later.text = unknown;
        later.conditions.clear();
        out.push_back(std::move(later));
        return State::Over;
      }
      if (!condition.holds(*value)) next = State::Waiting;
    }
    return next;
  };
  for (const Inline& piece : inlines) {
    if (opens(piece.kind))
      state = choose(piece);
    else if (piece.kind == Kind::Otherwise)
      state = state == State::Waiting ? choose(piece) : State::Over;
    else if (piece.kind == Kind::End)
      state = State::Outside;
    else if (state == State::Outside || state == State::Inside)
      out.push_back(piece);
  }
  return out;
}

}  // namespace normscope::course
