// Attachment scores: the share of words with the right head (UAS), and with the right head and relation (LAS).
//
// Counted as the CoNLL 2018 shared task's evaluation counts them for CoNLL-U where the words are given: every word
// counts, punctuation too, and of a relation the part before its colon (nmod of nmod:poss). Without punctuation it is
// the usual count on the Penn Treebank. Called by normscope train, by normscope parse and by tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "training/data/treebank/conllu.h"

namespace normscope {

struct Attachment {
  int64_t words = 0;           ///< that count
  int64_t heads = 0;           ///< with the right head
  int64_t labelled_heads = 0;  ///< and with the right relation too
  double unlabelled() const;   ///< UAS, 0 to 100; NaN without a word
  double labelled() const;     ///< LAS
};

/// UPOS is PUNCT; where there is no UPOS, XPOS is one of the five of the Penn Treebank: `` '' : , .
bool is_punctuation(const TreeWord& word);

/// Over all sentences together. What is punctuation is read in `gold`. Throws Error where the two differ in their
/// sentences or words.
Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation = true);

/// "UAS 91.20  LAS 88.05"
std::string to_string(const Attachment& attachment);

}  // namespace normscope
