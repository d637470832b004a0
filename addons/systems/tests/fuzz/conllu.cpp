// Dependency trees in CoNLL-U: what is read and written is read back equal.
#include "addons/systems/training/conllu.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(conllu) {
  for (const TreeColumns columns : {TreeColumns::Required, TreeColumns::Unparsed})
    fuzz::accepts([&] {
      const std::vector<DependencyTree> trees = parse_conllu(input, "fuzz.conllu", columns);
      fuzz::require(parse_conllu(conllu_text(trees), "again", columns) == trees,
                    "what is written reads back as other trees");
    });
}
