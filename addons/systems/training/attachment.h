// Attachment scores are the share of words with the right head (UAS), and with the right head and relation (LAS).
//
// They are counted as the CoNLL 2018 shared task's evaluation counts for CoNLL-U with given words: every word counts,
// punctuation too, and only the part of a relation before its colon (nmod of nmod:poss). Without punctuation it is
// the usual count on the Penn Treebank. Called by normscope train, by normscope parse and by tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "addons/systems/training/conllu.h"

namespace normscope {

struct Attachment {
  int64_t words = 0;           ///< words that count
  int64_t heads = 0;           ///< with the right head
  int64_t labelled_heads = 0;  ///< with the right head and relation
  double unlabelled() const;   ///< UAS, 0 to 100; NaN without a word
  double labelled() const;     ///< LAS
};

/// Holds where UPOS is PUNCT; without UPOS, where XPOS is one of the Penn Treebank's five: `` '' : , .
bool is_punctuation(const TreeWord& word);

/// Scores all sentences together. `gold` says what is punctuation. Throws Error where the two differ in
/// their sentences or words.
Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation = true);

/// "UAS 91.20  LAS 88.05"
std::string to_string(const Attachment& attachment);

}  // namespace normscope
