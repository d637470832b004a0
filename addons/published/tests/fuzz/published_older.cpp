// A tokenizer of before tokenizer.json, as a folder: vocab.txt alone, or vocab.json, merges.txt and
// tokenizer_config.json, which a form feed parts. What is accepted encodes a text, and decodes what it made.
#include <algorithm>
#include <array>
#include <cstdio>

#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_older) {
  constexpr std::array<const char*, 3> kFiles = {"vocab.json", "merges.txt", "tokenizer_config.json"};
  const fuzz::Folder& folder = fuzz::Folder::instance();
  for (const char* file : {"vocab.txt", kFiles[0], kFiles[1], kFiles[2]})
    std::remove(folder.path(file).c_str());
  if (!fuzz::shallow(input)) return;
  if (input.find('\f') == std::string_view::npos) {
    folder.write("vocab.txt", input);
  } else {
    for (const char* file : kFiles) {
      const size_t end = input.find('\f');
      folder.write(file, input.substr(0, end));
      input = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
    }
  }
  fuzz::accepts([&] {
    const auto tokenizer = tokenizer::PublishedTokenizer::load(folder.path());
    const auto ids = tokenizer.encode("The cat's  sat 123\n \u4f60\u597d e\u0301 <s> \xff");
    tokenizer.decode(ids);
    tokenizer.decode(ids, tokenizer::Special::Kept);
  });
}
