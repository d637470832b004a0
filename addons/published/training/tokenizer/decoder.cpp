#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "addons/published/training/tokenizer/word_model.h"
#include "training/io/text.h"

namespace normscope::tokenizer {
namespace {

using Tokens = std::vector<std::string>;

/// Reads <0x0A>.
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

// Consecutive byte tokens become a text; if it is not UTF-8, each byte becomes U+FFFD.
Decoder read_bytes(const InputValue&) {
  return [](Tokens& tokens) {
    Tokens made;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (well_formed(bytes) == bytes)
        made.push_back(bytes);
      else
        made.insert(made.end(), bytes.size(), "\xef\xbf\xbd");
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes += *byte;
        continue;
      }
      flush();
      made.push_back(std::move(token));
    }
    flush();
    tokens = std::move(made);
  };
}

void join(Tokens& tokens, std::string_view between = {}) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i)
    text.append(i > 0 ? between : std::string_view()).append(tokens[i]);
  tokens.assign(1, std::move(text));
}

Decoder read_fuse(const InputValue&) {
  return [](Tokens& tokens) { join(tokens); };
}

Decoder read_replace(const InputValue& value) {
  return [replace = read_replacement(value)](Tokens& tokens) {
    for (std::string& token : tokens) replace(token);
  };
}

Decoder read_cut(const InputValue& value) {
  const std::string mark = value.at("content").text(4);
  const auto left = value.at("start").whole(0, 1000), right = value.at("stop").whole(0, 1000);
  return [=](Tokens& tokens) {
    if (mark.empty()) return;
    for (std::string& token : tokens) {
      size_t begin = 0, end = token.size();
      for (int32_t i = 0; i < left && std::string_view(token).substr(begin).starts_with(mark); ++i)
        begin += mark.size();
      for (int32_t i = 0; i < right && end > begin && std::string_view(token).substr(0, end).ends_with(mark);
           ++i)
        end -= mark.size();
      token = token.substr(begin, end - begin);
    }
  };
}

Decoder read_byte_texts(const InputValue&) {
  return [](Tokens& tokens) {
    for (std::string& token : tokens)
      if (auto bytes = from_byte_alphabet(token)) token = std::move(*bytes);
    join(tokens);
    tokens[0] = well_formed(tokens[0]);
  };
}

// The blanks that BERT's own decoder removes again, in this order.
void clean_up(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRows[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRows) replace_each(text, from, to);
}

Decoder read_word_pieces(const InputValue& value) {
  return [inside = value.at("prefix").text(kMaxWord), cleans = value.at("cleanup").flag()](Tokens& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(inside))
        tokens[i].erase(0, inside.size());
      else if (i > 0)
        tokens[i].insert(0, 1, ' ');
      if (cleans) clean_up(tokens[i]);
    }
  };
}

Decoder read_metaspace_texts(const InputValue& value) {
  const std::string mark = read_metaspace(value);
  const bool prepended = read_prepend_scheme(value) != Prepend::Never;
  return [=](Tokens& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) replace_each(tokens[i], mark, i == 0 && prepended ? "" : " ");
  };
}

Decoder read_decoder_sequence(const InputValue& value) {
  std::vector<Decoder> parts;
  for (const InputValue& part : value.at("decoders").list(0, kMaxParts)) parts.push_back(read_decoder(part));
  return [parts = std::move(parts)](Tokens& tokens) {
    for (const Decoder& part : parts) part(tokens);
  };
}

int32_t read_id(const InputValue& value) { return value.whole(0, kMaxTokens - 1); }

std::vector<int32_t> read_special(const InputValue& tokens, const std::string& name) {
  const auto found = tokens.find(name);
  if (!found) tokens.refuse({"an object with {}", shown_text(name)});
  std::vector<int32_t> ids;
  for (const InputValue& id : found->at("ids").list(1, kMaxParts)) ids.push_back(read_id(id));
  return ids;
}

Surroundings read_template(const InputValue& value) {
  Surroundings made;
  const InputValue single = value.at("single");
  int texts = 0;
  for (const InputValue& part : single.list(1, kMaxParts)) {
    if (const auto special = part.find("SpecialToken")) {
      const auto ids = read_special(value.at("special_tokens"), special->at("id").text(kMaxWord));
      auto& to = texts == 0 ? made.before : made.behind;
      to.insert(to.end(), ids.begin(), ids.end());
      continue;
    }
    const InputValue sequence = part.at("Sequence").at("id");
    if (!sequence.is("A")) sequence.refuse("\"A\", as there is one text");
    ++texts;
  }
  if (texts != 1) single.refuse("the text in it once");
  return made;
}

/// Reads BertProcessing and RobertaProcessing, which for one text are the same.
Surroundings read_pair_of_tokens(const InputValue& value) {
  const auto id = [&](const char* key) { return read_id(value.at(key).list(2, 2)[1]); };
  return {{id("cls")}, {id("sep")}};
}

Surroundings read_nothing_around(const InputValue&) { return {}; }

// Each processor puts its tokens around the result of those before it.
Surroundings read_around_sequence(const InputValue& value) {
  Surroundings made;
  for (const InputValue& part : value.at("processors").list(0, kMaxParts)) {
    const Surroundings next = read_surroundings(part);
    made.before.insert(made.before.begin(), next.before.begin(), next.before.end());
    made.behind.insert(made.behind.end(), next.behind.begin(), next.behind.end());
  }
  return made;
}

constexpr char32_t kFirstOfOthers = 0x100;

constexpr bool can_be_seen(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct ByteAlphabet {
  std::array<char32_t, 256> character{};
  std::array<uint8_t, 2 * kFirstOfOthers> byte{};
  std::array<bool, 2 * kFirstOfOthers> stands{};
};

constexpr ByteAlphabet make_byte_alphabet() {
  ByteAlphabet made;
  char32_t next = kFirstOfOthers;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t c = can_be_seen(byte) ? byte : next++;
    made.character[byte] = c;
    made.byte[c] = static_cast<uint8_t>(byte);
    made.stands[c] = true;
  }
  return made;
}

constexpr ByteAlphabet kByteAlphabet = make_byte_alphabet();

}  // namespace

Decoder read_decoder(const InputValue& value) {
  constexpr ComponentReader<Decoder> kDecoders[] = {{"Sequence", read_decoder_sequence},
                                                    {"ByteFallback", read_bytes},
                                                    {"Fuse", read_fuse},
                                                    {"Replace", read_replace},
                                                    {"Strip", read_cut},
                                                    {"ByteLevel", read_byte_texts},
                                                    {"WordPiece", read_word_pieces},
                                                    {"Metaspace", read_metaspace_texts}};
  if (value.is_null()) return [](Tokens& tokens) { join(tokens, " "); };
  return read_component(value, kDecoders);
}

Surroundings read_surroundings(const InputValue& value) {
  constexpr ComponentReader<Surroundings> kProcessors[] = {{"Sequence", read_around_sequence},
                                                           {"TemplateProcessing", read_template},
                                                           {"BertProcessing", read_pair_of_tokens},
                                                           {"RobertaProcessing", read_pair_of_tokens},
                                                           {"ByteLevel", read_nothing_around}};
  if (value.is_null()) return {};
  return read_component(value, kProcessors);
}

std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes) put_character(text, kByteAlphabet.character[static_cast<uint8_t>(byte)]);
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    if (c >= kByteAlphabet.stands.size() || !kByteAlphabet.stands[c]) return std::nullopt;
    bytes += static_cast<char>(kByteAlphabet.byte[c]);
  }
  return bytes;
}

}  // namespace normscope::tokenizer
