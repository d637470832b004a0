// Pairs of sentences and labelled texts, and the lines of a text to translate.
#include "training/data/text_source.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(tsv) {
  fuzz::accepts([&] {
    for (const TsvRow& row : parse_tsv(input, "fuzz.tsv", "source<TAB>target"))
      fuzz::require(row.first.find_first_of("\t\n") == std::string::npos &&
                        row.second.find_first_of("\t\n") == std::string::npos,
                    "a field holds a separator");
  });
}
