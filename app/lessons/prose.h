// The prose of a lesson: Markdown (md4c) with formulas between dollar signs and, between braces, what a page
// of paper cannot do:
//   {A}              the letter tile of run A
//   {value NAME}     a measure, from the learner's own run (a dash before it)
//   {band NAME}      the same from the course's reference runs: mean and range over seeds (measured.json)
//   {ref NAME}       the mean of those alone
//   {drag NAME}      the number of a knob, to be dragged; it acts on the run
//   {text A}         what the model of run A writes, on a line of its own
// Read once with the lesson; formulas are parsed then, so that a mistake is an error of the file and not of
// the screen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/tex/tex.h"

namespace normscope::lessons {

struct Inline {
  enum class Kind : uint8_t { Text, Formula, Tile, Value, Band, Reference, Drag, Sample } kind = Kind::Text;
  std::string text;  ///< Text: the words; otherwise the name
  bool strong = false;
  tex::Formula formula;
  int line = 0;  ///< of the file
};

struct Block {
  enum class Kind : uint8_t { Paragraph, Heading, Item, Note, Display, Rule } kind = Kind::Paragraph;
  std::vector<Inline> inlines;  ///< Display: one formula, then words to its right
};

struct Prose {
  std::string file;
  std::vector<Block> blocks;
  bool drags(std::string_view knob) const;  ///< holds {drag KNOB}
  int32_t words() const;                    ///< as read: a formula, a number and a tile count as one
};

/// Throws Error as "FILE:LINE: what is wrong: expected ...".
Prose parse_prose(std::string_view markdown, const std::string& file);

}  // namespace normscope::lessons
