// A text to learn: its characters and back, its statistics and its splits.
#include <cmath>

#include "fuzz.h"
#include "training/data/text_source.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts([&] {
    const Vocabulary vocabulary = Vocabulary::from_text(text);
    const std::vector<uint16_t> tokens = vocabulary.encode(text);
    fuzz::require(vocabulary.decode(std::vector<int32_t>(tokens.begin(), tokens.end())) == text,
                  "a text is another one after its way to tokens and back");
  });
  fuzz::accepts([&] {
    const TextSource source(text, "fuzz.txt");
    fuzz::require(std::isfinite(source.unigram_entropy()), "an entropy that is no number");
    fuzz::accepts([&] { source.require_context(64); });
  });
  return 0;
}
