// Reads, checks and writes CoNLL-U (https://universaldependencies.org/format): sentences with dependency trees.
//
// Promises: every fault is reported in one line with file and line, and with the column if one is wrong, counted from
// 1 (not UTF-8, not ten columns, an empty column, an ID out of order, a HEAD outside the sentence, no root or several,
// a circle). Reading and writing again changes nothing but what is left out: multiword tokens (ID 1-2), empty nodes
// (ID 8.1) and the enhanced graph (DEPS), which are not part of the tree of words. Called by the parsing task and by
// normscope parse.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

inline constexpr int32_t kNoHead = -1;  ///< HEAD is _: the sentence is not parsed yet
inline constexpr size_t kMaxWords = 10'000;

struct TreeWord {
  std::string form, lemma = "_", upos = "_", xpos = "_", feats = "_";
  int32_t head = kNoHead;   ///< number of its head word, from 1; 0: the root
  std::string label = "_";  ///< DEPREL
  std::string misc = "_";
  bool operator==(const TreeWord&) const = default;
};

struct DependencyTree {
  std::vector<std::string> comments;  ///< whole lines, with their #
  std::vector<TreeWord> words;
  bool operator==(const DependencyTree&) const = default;
};

/// The columns that each word needs: Unparsed accepts _ as HEAD and DEPREL, in all words of a sentence or in none.
enum class TreeColumns : uint8_t { Required, Unparsed };

/// Throws Error; a file without a sentence is a fault.
std::vector<DependencyTree> read_conllu(const std::string& path, TreeColumns columns = TreeColumns::Required);
/// Reads the same from memory; `name` begins the messages.
std::vector<DependencyTree> parse_conllu(std::string_view text, const std::string& name,
                                         TreeColumns columns = TreeColumns::Required);

/// Writes ten columns for each word, DEPS always _, and a blank line after each sentence.
std::string conllu_text(std::span<const DependencyTree> trees);

/// The head of word w at place w - 1.
std::vector<int32_t> heads_of(const DependencyTree& tree);
/// Whether the words below every word, itself included, are adjacent: then no two arcs cross,
/// including those from a root in front of the first word. It takes time linear in the words. `heads` is a tree.
bool is_projective(std::span<const int32_t> heads);

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

inline constexpr uint64_t kMadeTraining = 3000,
                          kMadeValidation = 500;  ///< sentences: of one seed, in this order

DependencyTree made_tree(uint64_t seed, uint64_t index);
/// The sentences first, first + 1, ...
std::vector<DependencyTree> made_treebank(uint64_t seed, uint64_t first, uint64_t count);

}  // namespace normscope
