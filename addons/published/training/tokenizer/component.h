// The components of tokenizer.json are objects with a "type"; each key has a table of the types that it may have.
// Every `read_` below throws Error for a component that is not known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

/// Limits: components in a sequence, bytes in a text of a component, added tokens.
inline constexpr size_t kMaxParts = 32, kMaxWord = 1000, kMaxAdded = 200'000;

template <typename Made>
struct ComponentReader {
  std::string_view type;
  Made (*read)(const InputValue& value);
};

/// Throws Error, which names all types of the table, for any other type.
template <typename Made, size_t count>
Made read_component(const InputValue& value, const ComponentReader<Made> (&table)[count]) {
  std::array<std::string_view, count> types;
  for (size_t i = 0; i < count; ++i) types[i] = table[i].type;
  return table[value.at("type").choice(types)].read(value);
}

/// Changes a text before it is cut into words: "normalizer".
using Normalizer = std::function<void(std::string&)>;

/// The most bytes of a text while it is encoded or decoded: components may lengthen it.
inline constexpr size_t kMaxText = size_t{1} << 26;

/// Throws Error for a text longer than kMaxText.
void require_short(const std::string& text);

/// Has none for null.
Normalizer read_normalizer(const InputValue& value);

/// A component Replace, which normalizers and decoders have.
Normalizer read_replacement(const InputValue& value);

/// A part of a text: not yet encoded, or a token that was found in it.
struct Piece {
  std::string text;
  bool first = false;  ///< begins where the whole text begins
  int32_t token = -1;  ///< -1: none yet
};

/// Cuts a text into the words that a model encodes one by one: "pre_tokenizer".
using PreTokenizer = std::function<void(std::vector<Piece>&)>;

/// Throws Error also for a regular expression that word_rule() does not know. null: the text stays whole.
PreTokenizer read_pre_tokenizer(const InputValue& value);

enum class Prepend { Never, First, Always };
/// Metaspace's, which as a decoder has the same fields.
Prepend read_prepend_scheme(const InputValue& value);
/// The character that Metaspace writes for a blank.
std::string read_metaspace(const InputValue& value);

/// Put around an encoded text: "post_processor", as far as one text is concerned.
struct Surroundings {
  std::vector<int32_t> before, behind;
};

/// Throws Error also for a template without the text in it, or with it twice. null: no tokens around.
Surroundings read_surroundings(const InputValue& value);

/// Turns tokens into text ("decoder"): it changes the texts of the tokens; their concatenation is the text.
using Decoder = std::function<void(std::vector<std::string>&)>;

/// For null it puts a blank between tokens.
Decoder read_decoder(const InputValue& value);

/// Writes every byte as a visible character, as byte-level vocabularies do: visible bytes of Latin-1 stay themselves,
/// the others follow from U+0100 on (Radford et al. 2019).
std::string in_byte_alphabet(std::string_view bytes);
/// The inverse; nothing where a character of the text is not in this alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

/// Writes the tokenizer.json that is equivalent to older files of a folder and its tokenizer_config.json, if any:
/// vocab.txt (BERT), or vocab.json with merges.txt (GPT-2, RoBERTa, OPT). Throws Error.
std::string from_older_files(const std::string& folder);
/// The same from the keys of a GGUF file, "tokenizer.ggml.tokens" and others.
std::string from_gguf(const InputValue& keys);

// How the published byte-level vocabularies cut a text into words. Files state it as a regular expression. The program
// has no engine for these: it knows the published expressions by their exact text, each as a rule of one scanner.

struct WordRule {
  bool any_case;        ///< 's, 't, 're, 've, 'm, 'll and 'd in capitals too
  bool any_before;      ///< before a word's letters: any character but a number or line break; else a blank
  size_t most_numbers;  ///< characters of one number; 0: as many as come, and a blank before them
  bool lines_end;       ///< line breaks join the signs or blanks before them
};

/// The rule that the pre-tokenizer ByteLevel has by itself.
inline constexpr WordRule kGpt2Words{false, false, 0, false};
inline constexpr WordRule kLlama3Words{true, true, 3, true}, kQwen2Words{true, true, 1, true};

/// BLOOM's has a class within a class: a word has no character of either, except a blank before it.
inline constexpr std::string_view kBloomExpression = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";
inline constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";  ///< Falcon's

/// nullptr for an expression that is not one of the published ones.
const WordRule* word_rule(std::string_view expression);
/// The first published expression with this rule.
std::string_view expression_of(const WordRule& rule);

/// The end of the word that begins at `at`; every character belongs to a word.
size_t word_end(std::string_view text, size_t at, const WordRule& rule);

}  // namespace normscope::tokenizer
