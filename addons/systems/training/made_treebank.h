// The made-up treebank is the embedded default of the parser, drawn from a grammar of this program.
//
// It has sentences of about fifteen words in the relations of Universal Dependencies. Where a phrase attaches is
// decided by the classes of the words and never by their tags, so that a parser has to learn the words:
//   "V the N1 with the N2": to the verb if the verb handles things (repairs) and N2 is a tool (hammer), else to N1;
//   "V the N1 in the N2":   to the verb if the verb puts things somewhere (leaves), else to N1; "of" always to N1;
//   "N1 of the N2 who ..., which ...": the clause belongs to the person ("who") or to the thing ("which");
//   "N1 of the N2 and the N3": N3 is joined to the noun of its own kind, person or thing.
// The deciding words are among those that the parser's features show at that moment. In one of fifty sentences a
// relative clause follows the verb, away from its noun: such a tree is not projective. A sentence is a pure function
// of (seed, index). Called by the parsing task and by tests.
#pragma once

#include <cstdint>
#include <vector>

#include "addons/systems/training/conllu.h"

namespace normscope {

inline constexpr uint64_t kMadeTraining = 3000,
                          kMadeValidation = 500;  ///< sentences: of one seed, in this order

DependencyTree made_tree(uint64_t seed, uint64_t index);
/// The sentences first, first + 1, ...
std::vector<DependencyTree> made_treebank(uint64_t seed, uint64_t first, uint64_t count);

}  // namespace normscope
