// A text for which the present letter is not enough: two texts of the built-in grammar, a letter of each in turn. A letter
// belongs to the text of the letter two places back, so who attends to nothing but the present one knows the other text
// alone.
#include "training/data/corpus.h"
#include "training/data/task.h"
#include "training/data/text_source.h"

namespace normscope {
namespace {

std::string interleaved(const std::string& letters) {
  const size_t half = letters.size() / 2;
  std::string text;
  text.reserve(2 * half);
  for (size_t i = 0; i < half; ++i) text.append({letters[i], letters[half + i]});
  return text;
}

std::shared_ptr<const Task> make_interleaved(const DataSpec& spec) {
  return make_text_task(
      TextSource(interleaved(corpus_text(spec.data_seed, kCorpusLetters)), "of two interleaved texts"),
      spec.context, spec.consecutive);
}

}  // namespace

constinit const TaskKind kInterleavedKind{.name = "interleaved",
                                          .make = make_interleaved,
                                          .learners = "decoder",
                                          .unit = "character",
                                          .made_up = "two interleaved texts",
                                          .seeded = true,
                                          .goes_on = true};

}  // namespace normscope
