// Computes BLEU as sacreBLEU does (Post 2018; signature nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp): the score that
// papers report for translation. Called by the command line; a test compares it with a golden file made with sacreBLEU.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// Splits a line by the rules of mteval-v13a: punctuation apart, but not inside numbers.
std::vector<std::string> tokenize_13a(std::string_view line);

struct Bleu {
  double score = 0;                       ///< 0 to 100
  std::array<double, 4> precisions = {};  ///< per cent, of 1- to 4-grams; smoothed where none matches
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0, reference_length = 0;  ///< tokens
};

/// Takes one reference for each hypothesis. Throws Error when their numbers differ or there are none.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references);

/// "BLEU 23.41 (58.1/30.2/18.0/11.2, BP 0.987, 10234/10369 tokens)"
std::string to_string(const Bleu& bleu);

}  // namespace normscope
