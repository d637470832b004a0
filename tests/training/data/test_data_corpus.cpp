// These tests cover the built-in corpus: the same text for a seed, one parse for every sentence, and entropies that a
// sample confirms.
#include "engine/support/helpers.h"
#include "folder.h"
#include "training/data/corpus.h"
#include "training/data/text_source.h"

using namespace normscope;
using namespace normscope::test;

namespace {

// Tries every way to derive a string from a grammar's productions, counting and adding up probabilities.
class Parser {
 public:
  struct Sum {
    uint64_t derivations = 0;
    double probability = 0;
  };

  Parser(const Grammar& grammar, const std::string& text) : grammar_(grammar), text_(text) {}

  Sum whole() {
    const Ends& ends = rule(0, 0);
    const auto end = ends.find(text_.size());
    return end == ends.end() ? Sum{} : end->second;
  }

 private:
  using Ends = std::map<size_t, Sum>;  // end of the match -> how it was reached

  const Ends& rule(int32_t index, size_t start) {
    const auto key = std::make_pair(index, start);
    const auto known = memo_.find(key);
    if (known != memo_.end()) return known->second;
    Ends all;
    for (const auto& production : grammar_.rules()[static_cast<size_t>(index)].productions) {
      Ends ends{{start, {1, production.probability}}};
      for (const auto& part : production.body) ends = extend(ends, part);
      for (const auto& [end, sum] : ends) {
        all[end].derivations += sum.derivations;
        all[end].probability += sum.probability;
      }
    }
    return memo_[key] = all;
  }

  Ends extend(const Ends& ends, const Grammar::Part& part) {
    Ends next;
    for (const auto& [end, sum] : ends) {
      if (part.rule < 0) {
        if (text_.compare(end, part.text.size(), part.text) == 0)
          add(next[end + part.text.size()], sum, {1, 1.0});
        continue;
      }
      for (const auto& [further, tail] : rule(part.rule, end)) add(next[further], sum, tail);
    }
    return next;
  }

  static void add(Sum& to, const Sum& left, const Sum& right) {
    to.derivations += left.derivations * right.derivations;
    to.probability += left.probability * right.probability;
  }

  const Grammar& grammar_;
  const std::string text_;
  std::map<std::pair<int32_t, size_t>, Ends> memo_;
};

std::string sentence(uint64_t seed, uint64_t index) {
  std::string text;
  corpus_grammar().append_sentence(seed, index, text);
  return text;
}

Grammar toy(std::vector<RuleText> rules) { return Grammar(rules); }

struct Moments {
  double mean = 0, standard_error = 0;
};

Moments moments(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  for (double v : values) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

TEST_CASE("corpus: the text is a pure function of seed and length", "[data]") {
  const std::string text = corpus_text(7, 5000);
  CHECK(text.size() == 5000);
  CHECK(corpus_text(7, 5000) == text);
  CHECK(corpus_text(7, 1234) == text.substr(0, 1234));
  CHECK(corpus_text(8, 5000) != text);
  CHECK(corpus_text(7 + (uint64_t{1} << 40), 5000) != text);
  CHECK(corpus_text(7, 0).empty());
}

TEST_CASE("corpus: 29 letters and 102 words, none in two lists", "[data]") {
  std::set<std::string> words;
  std::map<std::string, size_t> sizes;
  for (const auto& rule : corpus_grammar().rules()) {
    if (!rule.lexical) continue;
    sizes[rule.name] = rule.productions.size();
    for (const auto& production : rule.productions) {
      const std::string& word = production.body.at(0).text;
      CAPTURE(word);
      CHECK(words.insert(word).second);
      const bool after_a = rule.name == "noun" || rule.name == "adjective";
      CHECK((!after_a || std::string("aeiou").find(word[0]) == std::string::npos));
    }
  }
  CHECK(words.size() == 102);
  CHECK(sizes["noun"] == 40);
  CHECK(sizes["adjective"] == 17);
  CHECK(sizes["transitive"] + sizes["intransitive"] == 16);
  CHECK(sizes["adverb"] == 10);
  CHECK(sizes["conjunction"] == 5);
  for (uint64_t seed : {1, 2, 3}) {
    const std::string text = corpus_text(seed, 100'000);
    CHECK(std::set<char>(text.begin(), text.end()).size() == 29);
  }
}

TEST_CASE("corpus: every sampled sentence has exactly one derivation", "[data]") {
  for (uint64_t index = 0; index < 2000; ++index) {
    const std::string text = sentence(3, index);
    CAPTURE(text);
    const auto sum = Parser(corpus_grammar(), text).whole();
    REQUIRE(sum.derivations == 1);
    REQUIRE(sum.probability > 0);
  }
  CHECK(Parser(corpus_grammar(), "the dog the cat. ").whole().derivations == 0);
}

TEST_CASE("corpus: the parser of these tests does see ambiguity", "[data]") {
  const Grammar grammar = toy({{"s", {{1, "<a><a>"}}, {}}, {"a", {}, "x xx"}});
  CHECK(Parser(grammar, "xx").whole().derivations == 1);
  CHECK(Parser(grammar, "xxx").whole().derivations == 2);
  CHECK(Parser(grammar, "xxx").whole().probability == Approx(0.5));
}

TEST_CASE("corpus: with one word a list, all clause shapes are distinct strings", "[data]") {
  // Enumerates the derivations of <clause> with lists cut to their first word. Words are in one list only, so
  // equal strings would need equal lists of word classes; distinct strings here mean an unambiguous grammar.
  const auto& rules = corpus_grammar().rules();
  std::function<std::vector<std::string>(int32_t)> all = [&](int32_t index) {
    const auto& rule = rules[static_cast<size_t>(index)];
    std::vector<std::string> strings;
    for (const auto& production : rule.productions) {
      std::vector<std::string> heads{""};
      for (const auto& part : production.body) {
        const std::vector<std::string> tails =
            part.rule < 0 ? std::vector<std::string>{part.text} : all(part.rule);
        std::vector<std::string> longer;
        for (const auto& head : heads) {
          for (const auto& tail : tails) longer.push_back(head + tail);
        }
        heads = std::move(longer);
      }
      strings.insert(strings.end(), heads.begin(), heads.end());
      if (rule.lexical) break;
    }
    return strings;
  };
  REQUIRE(rules[1].name == "clause");
  const std::vector<std::string> clauses = all(1);
  CHECK(clauses.size() > 1000);
  CHECK(std::set<std::string>(clauses.begin(), clauses.end()).size() == clauses.size());
  for (const auto& clause : clauses) REQUIRE(clause.find_first_of(",.") == std::string::npos);
}

TEST_CASE("corpus: expected length and entropy agree with a sample within four standard errors", "[data]") {
  const Grammar& grammar = corpus_grammar();
  std::vector<double> lengths, surprises;
  for (uint64_t index = 0; index < 20'000; ++index) {
    const std::string text = sentence(11, index);
    lengths.push_back(static_cast<double>(text.size()));
    if (index < 4000) surprises.push_back(-std::log(Parser(grammar, text).whole().probability));
  }
  const Moments length = moments(lengths), surprise = moments(surprises);
  CHECK(std::abs(length.mean - grammar.sentence_length()) < 4 * length.standard_error);
  CHECK(std::abs(surprise.mean - grammar.sentence_entropy()) < 4 * surprise.standard_error);
  CHECK(length.standard_error < 0.01 * length.mean);  // the comparison means something
  CHECK(surprise.standard_error < 0.01 * surprise.mean);
}

TEST_CASE("corpus: letter frequencies and unigram entropy agree with a long text", "[data]") {
  const Grammar& grammar = corpus_grammar();
  const std::string text = corpus_text(5, 1'000'000);
  std::vector<double> counts(128, 0.0);
  for (unsigned char c : text) counts[c] += 1e-6;
  double entropy = 0, sum = 0;
  for (size_t c = 0; c < 128; ++c) {
    sum += grammar.letter_frequencies()[c];
    // Letters come in words, about 200 000 of them: an error of a frequency p is about sqrt(p / 200 000) at most.
    const double p = grammar.letter_frequencies()[c];
    CHECK(std::abs(counts[c] - p) <= 5 * std::sqrt(p / 2e5));
    if (counts[c] > 0) entropy -= counts[c] * std::log(counts[c]);
  }
  CHECK(sum == Approx(1.0).epsilon(1e-12));
  CHECK(std::abs(entropy - grammar.unigram_entropy()) < 0.005);
}

TEST_CASE("corpus: the loss has a far ceiling and floor", "[data]") {
  CHECK(corpus_grammar().unigram_entropy() == Approx(2.892).margin(0.005));
  CHECK(corpus_grammar().entropy_rate() == Approx(0.574).margin(0.005));
}

TEST_CASE("grammar: expectations of grammars that can be done by hand", "[data]") {
  // s -> "ab" 1/4 | "a" s 3/4: 2 + 3 letters, geometric with mean 3 repeats.
  const Grammar grammar = toy({{"s", {{1, "ab"}, {3, "a<s>"}}, {}}});
  CHECK(grammar.sentence_length() == Approx(5.0));
  const double choice = -0.25 * std::log(0.25) - 0.75 * std::log(0.75);
  CHECK(grammar.sentence_entropy() == Approx(4 * choice));
  CHECK(grammar.letter_frequencies()['b'] == Approx(0.2));
  CHECK(grammar.letter_frequencies()['a'] == Approx(0.8));

  const Grammar weighted = toy({{"s", {{1, "<w>."}}, {}}, {"w", {}, "one*3 two"}});
  CHECK(weighted.sentence_length() == Approx(4.0));
  CHECK(weighted.sentence_entropy() == Approx(choice));
}

TEST_CASE("grammar: what cannot be used is refused", "[data]") {
  CHECK(error_of([] { toy({}); }) == "[grammar] there are no rules");
  CHECK(error_of([] { toy({{"s", {{1, "<t>"}}, {}}}); }) == "[grammar] no rule is named <t>");
  CHECK(error_of([] { toy({{"s", {{1, "<s"}}, {}}}); }) == "[grammar s] '<' without '>'");
  CHECK(error_of([] { toy({{"s", {{0, "a"}}, {}}}); }) == "[grammar s] a weight is not positive");
  CHECK(error_of([] { toy({{"s", {}, {}}}); }) == "[grammar s] the rule has no productions");
  CHECK(error_of([] { toy({{"s", {}, "a"}, {"s", {}, "b"}}); }) == "[grammar] two rules are named <s>");
  CHECK(error_of([] {
          toy({{"s", {{1, "\xc3\xa9"}}, {}}});
        }) == "[grammar s] a letter outside printable ASCII");
  const std::string endless = "[grammar] sentences have no finite expected length";
  CHECK(error_of([] { toy({{"s", {{1, "a<s>"}}, {}}}); }) == endless);
  CHECK(error_of([] { toy({{"s", {{1, "a"}, {1, "<s><s>"}}, {}}}); }) == endless);
  CHECK(error_of([] { toy({{"s", {{1, "a"}, {3, "<s><s>"}}, {}}}); }) == endless);
}

// UTF-8, the vocabulary and text files: what is read, and what is refused with which words.

TEST_CASE("utf8: code points of every length come back as they went in", "[data]") {
  for (char32_t c :
       {0x1, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff}) {
    std::string text;
    append_utf8(c, text);
    const CodePoint point = read_code_point(text, 0);
    CHECK(point.value == c);
    CHECK(point.bytes == static_cast<int32_t>(text.size()));
    for (size_t cut = 1; cut < text.size(); ++cut) CHECK(read_code_point(text.substr(0, cut), 0).bytes == 0);
  }
}

TEST_CASE("utf8: what the standard forbids is invalid", "[data]") {
  const std::vector<std::string> invalid = {
      "\x80",              // a continuation byte alone
      "\xbf",              //
      "\xc0\x80",          // overlong NUL
      "\xc1\xbf",          // overlong, two bytes
      "\xe0\x80\x80",      // overlong, three bytes
      "\xe0\x9f\xbf",      //
      "\xf0\x80\x80\x80",  // overlong, four bytes
      "\xf0\x8f\xbf\xbf",  //
      "\xed\xa0\x80",      // surrogates
      "\xed\xbf\xbf",      //
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "\xf5\x80\x80\x80",  //
      "\xff",              //
      "\xfe",              //
      "\xc3(",             // second byte is not a continuation
      "\xe2\x82(",         // third
      "\xf0\x9f\x98(",     // fourth
      "\xe2(\xac",         //
  };
  for (const std::string& bytes : invalid) {
    CAPTURE(bytes.size(), static_cast<int>(static_cast<unsigned char>(bytes[0])));
    CHECK(read_code_point(bytes, 0).bytes == 0);
    CHECK(contains(error_of([&] { Vocabulary::from_text("abc" + bytes + "x"); }),
                   "not valid UTF-8 at byte 3 (0x"));
  }
  CHECK(read_code_point("", 0).bytes == 0);
}

TEST_CASE("vocabulary: distinct code points in order, there and back", "[data]") {
  const std::string text = "h\xc3\xa9llo \xe4\xb8\x96\xf0\x9f\x98\x80 hello";
  const Vocabulary vocabulary = Vocabulary::from_text(text);
  CHECK(vocabulary.symbols() == std::vector<char32_t>{' ', 'e', 'h', 'l', 'o', 0xe9, 0x4e16, 0x1f600});
  const auto tokens = vocabulary.encode(text);
  CHECK(tokens.size() == 14);
  CHECK(vocabulary.decode(std::vector<int32_t>(tokens.begin(), tokens.end())) == text);
  CHECK(vocabulary.decode(std::vector<int32_t>{-1, 8, 2}) == "\xef\xbf\xbd\xef\xbf\xbdh");
  CHECK(error_of([&] { vocabulary.encode("hex"); }) ==
        "[text] the character U+0078 at byte 2 is not in the vocabulary");
  CHECK(contains(error_of([&] { vocabulary.encode("h\xff"); }), "not valid UTF-8 at byte 1 (0xff)"));
}

TEST_CASE("vocabulary: 4096 distinct characters are the limit", "[data]") {
  std::string text;
  for (char32_t c = 0x100; c < 0x100 + 4096; ++c) append_utf8(c, text);
  CHECK(Vocabulary::from_text(text).size() == 4096);
  text += "a";
  CHECK(contains(error_of([&] { Vocabulary::from_text(text); }), "more than 4096 different characters"));
  CHECK(contains(error_of([&] { TextSource(text, "many"); }),
                 "[text many] more than 4096 different characters"));
}

TEST_CASE("text: the splits are the first nine tenths and the last tenth", "[data]") {
  const std::string text = corpus_text(1, 12'345);
  const TextSource source(text, "corpus");
  const auto train = source.tokens(Split::Train), validation = source.tokens(Split::Validation);
  CHECK(validation.size() == 1234);
  CHECK(train.size() == 12'345 - 1234);
  CHECK(train.data() + train.size() == validation.data());
  std::vector<int32_t> all(train.begin(), train.end());
  all.insert(all.end(), validation.begin(), validation.end());
  CHECK(source.vocabulary().decode(all) == text);
}

TEST_CASE("text: unigram entropy and hash", "[data]") {
  const TextSource even("abababab", "t"), uneven("aaab", "t");
  CHECK(even.unigram_entropy() == Approx(std::log(2.0)));
  CHECK(uneven.unigram()[0] == Approx(0.75));
  CHECK(uneven.unigram_entropy() == Approx(-0.75 * std::log(0.75) - 0.25 * std::log(0.25)));
  CHECK(hash_bytes("") == 0xcbf29ce484222325u);  // the published values of FNV-1a
  CHECK(hash_bytes("foobar") == 0x85944171f73967e8u);
  CHECK(even.hash() == TextSource("abababab", "other name").hash());
  CHECK(even.hash() != uneven.hash());
}

TEST_CASE("text: a good file loads, its byte order mark and carriage returns do not", "[data]") {
  const Folder folder;
  const std::string file = folder.write("mine.txt", "\xef\xbb\xbfone\r\ntwo\rthree\n");
  const TextSource source = TextSource::load(file);
  const auto train = source.tokens(Split::Train), validation = source.tokens(Split::Validation);
  std::vector<int32_t> all(train.begin(), train.end());
  all.insert(all.end(), validation.begin(), validation.end());
  CHECK(source.vocabulary().decode(all) == "one\ntwo\rthree\n");
  CHECK(source.hash() == hash_bytes("one\ntwo\rthree\n"));
  CHECK(source.name() == file);
}

TEST_CASE("text: files that cannot be used are refused in one line", "[data]") {
  CHECK(error_of([] { TextSource::load("/no/such/file.txt"); }) ==
        "[text /no/such/file.txt] no such file: check the path");
  CHECK(contains(error_of([] { TextSource::load("/"); }), "[text /] is a folder"));
  CHECK(contains(error_of([] { TextSource::load(""); }), "no such file"));
}

TEST_CASE("text: more than 50 MB is refused before it is read", "[data]") {
  const Folder folder;
  const std::string file = folder.write("large.txt", "x");
  std::filesystem::resize_file(file, TextSource::kMaxBytes + 1);  // sparse: costs no disk
  CHECK(
      contains(error_of([&] { TextSource::load(file); }), "is too large (50.0 MB): expected at most 50 MB"));
}

TEST_CASE("text: each split must hold four windows", "[data]") {
  const TextSource enough(corpus_text(1, 2600), "enough"), short_one(corpus_text(1, 2599), "short");
  CHECK(error_of([&] { enough.require_context(64); }) == "no error");
  CHECK(
      error_of([&] { short_one.require_context(64); }) ==
      "[text short] is too short: 2599 characters, of which the last tenth, 259, is for validation; a context "
      "of 64 needs 260 there, so expected at least 2600 characters or a shorter context");
}

TEST_CASE("text: 50 MB load whole", "[data][slow]") {
  std::string text = corpus_text(1, 1'000'000);
  text.replace(10, 2, "\xc3\xa9");
  std::string large;
  while (large.size() + text.size() <= TextSource::kMaxBytes) large += text;
  const Folder folder;
  const TextSource source = TextSource::load(folder.write("large.txt", large));
  CHECK(source.tokens(Split::Train).size() + source.tokens(Split::Validation).size() == 50 * 999'999);
}
