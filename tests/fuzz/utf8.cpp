// A text to learn: its characters and back, its statistics and its splits.
#include <cmath>

#include "fuzz.h"
#include "training/data/text_source.h"

using namespace normscope;

FUZZ_TARGET(utf8) {
  fuzz::accepts([&] {
    const Vocabulary vocabulary = Vocabulary::from_text(input);
    const std::vector<uint16_t> tokens = vocabulary.encode(input);
    fuzz::require(vocabulary.decode(std::vector<int32_t>(tokens.begin(), tokens.end())) == input,
                  "a text is another one after its way to tokens and back");
  });
  fuzz::accepts([&] {
    const TextSource source(input, "fuzz.txt");
    fuzz::require(std::isfinite(source.unigram_entropy()), "an entropy that is no number");
    fuzz::accepts([&] { source.require_context(64); });
  });
}
