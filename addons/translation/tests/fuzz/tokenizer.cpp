// A SentencePiece model, as far as it is ours to refuse: what is accepted encodes and decodes.
#include "addons/translation/training/tokenizer.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(tokenizer) {
  fuzz::accepts([&] {
    const Tokenizer tokenizer = Tokenizer::parse(std::string(input), "fuzz.model");
    tokenizer.decode(tokenizer.encode("the cat sat on the mat"));
  });
}
