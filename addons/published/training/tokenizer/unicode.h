// Unicode for tokenizers: characters, their classes, normal forms, graphemes. Only unicode.cpp uses the library
// utf8proc; a program built without it reads no published tokenizer, and says so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace normscope::tokenizer {

/// Empty where utf8proc was built in, else says why not.
std::string unicode_unavailable();

/// U+FFFD in place of bytes that are not UTF-8: one for the longest beginning of a character, as the Unicode
/// standard recommends and Python's bytes.decode(errors="replace") does it. All texts below are well-formed.
std::string well_formed(std::string_view bytes);

/// Reads the character at `at`, and moves `at` past it.
char32_t take_character(std::string_view text, size_t& at);
void put_character(std::string& text, char32_t character);

bool is_letter(char32_t c);           ///< L
bool is_number(char32_t c);           ///< N
bool is_white(char32_t c);            ///< White_Space
bool is_mark(char32_t c);             ///< M
bool is_nonspacing_mark(char32_t c);  ///< Mn
bool is_punctuation(char32_t c);      ///< P, and all ASCII punctuation
bool is_control(char32_t c);          ///< Cc, Cf, Co
bool is_word_character(char32_t c);   ///< what \w finds: Alphabetic, M, Nd, Pc, Join_Control

enum class NormalForm { C, D, KC, KD };
std::string in_form(const std::string& text, NormalForm form);
std::string in_lower_case(const std::string& text);  ///< character by character
/// The end of the extended grapheme cluster that begins at `at`.
size_t grapheme_end(std::string_view text, size_t at);

}  // namespace normscope::tokenizer
