// Every text that code says has its German, nothing in the tables of words is left over, and a translation has the
// places of the English text.
#include <algorithm>
#include <regex>

#include "addons.h"
#include "app/panels/panels.h"
#include "app/support/literals.h"
#include "app/ui/widgets.h"
#include "app/view/screen.h"
#include "app/words/word_files.h"
#include "app/words/words.h"
#include "catch.hpp"
#include "engine/core/error.h"

namespace normscope::test_words {
namespace fs = std::filesystem;
using fixture::literal_at, fixture::literals_of, words::Form, words::Language;

Language made(const std::string& text, const std::string& name = "en", const Language* english = nullptr) {
  Language language(name, english);
  language.read(text, "t.toml", "t");
  return language;
}

std::set<std::string> places_of(const words::Template& text) {
  std::set<std::string> names;
  for (const words::Template::Piece& piece : text.pieces)
    if (!piece.place.empty()) names.insert(piece.place);
  return names;
}

std::set<std::string> places_of(const Language::Entry& entry) {
  std::set<std::string> names;
  for (const auto& [form, text] : entry.forms) names.merge(places_of(text));
  return names;
}

/// The texts that stand in the first argument of a call, outside of calls in it and of comparisons; or, `all`, anywhere
/// in its arguments.
std::vector<std::string> said_at(const std::string& source, size_t at, bool all = false) {
  std::vector<std::string> found;
  for (int deep = 0; at < source.size();) {
    const char c = source[at];
    if (c == '"' && source[at - 1] != '\'') {
      const bool compared = at > 3 && source.compare(at - 3, 2, "==") == 0;
      std::string text = literal_at(source, at);
      if (all || (deep == 0 && !compared)) found.push_back(std::move(text));
      continue;
    }
    if (c == '(' || c == '{' || c == '[') ++deep;
    if (c == ')' || c == '}' || c == ']') --deep;
    if (deep < 0 || (c == ',' && deep == 0 && !all)) break;
    ++at;
  }
  return found;
}

/// The C++ of the app and of the add-ons' apps, but for the room of words, whose comments have examples, and the site's
/// Python files.
std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  std::vector<std::string> apps{"app"};
  for (const std::string& folder : test::addon_folders()) apps.push_back(folder + "/app");
  for (const std::string& name : apps) {
    const fs::path app = fs::path(NORMSCOPE_SOURCE_DIR) / name;
    if (!fs::exists(app)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(app))
      if ((entry.path().extension() == ".cpp" || entry.path().extension() == ".h") &&
          entry.path().parent_path().filename() != "words")
        files.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(NORMSCOPE_SOURCE_DIR "/platforms/site"))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  return files;
}

struct WordKeys {
  std::set<std::string> keys;
  std::vector<std::regex> patterns;  ///< of keys that code puts together
  std::vector<std::string> missing;  ///< "FILE: key"
};

/// The literals that begin with a words file's name. "{}" in one stands for every key that fits.
WordKeys asked_by_code() {
  const Language& english = words::language("en");
  std::set<std::string> rooms;
  for (const Language::Entry& entry : english.entries())
    rooms.insert(entry.key.substr(0, entry.key.find('.')));
  const std::set<std::string> files{"toml", "json", "jsonl", "csv", "svg", "png", "html"};
  WordKeys asked;
  for (const fs::path& file : sources()) {
    const std::string source = test::read_all(file.string());
    for (const std::string& text : literals_of(source)) {
      const size_t dot = text.find('.');
      if (dot == text.npos || text.find(' ') != text.npos || !rooms.contains(text.substr(0, dot))) continue;
      const std::string last = text.substr(text.rfind('.') + 1);
      if (last.empty() || files.contains(last)) continue;  // the name of a file: "settings.toml", "sweep."
      if (text.find("{}") != text.npos) {
        std::string pattern = std::regex_replace(text, std::regex("[.*]"), "\\$&");
        asked.patterns.emplace_back(std::regex_replace(pattern, std::regex("\\{\\}"), ".+"));
      } else if (!english.find(text) && english.below(text).empty()) {
        asked.missing.push_back(file.filename().string() + ": " + text);
      } else {
        asked.keys.insert(text);
      }
    }
  }
  return asked;
}

TEST_CASE("every screen has the words of its tab") {
  for (const std::string_view screen : kScreenNames)
    for (const char* what : {"title", "help", "subject"}) {
      const std::string key = fmt::format("shell.tab.{}.{}", screen, what);
      INFO(key);
      CHECK(words::language("en").find(key) != nullptr);
    }
}

TEST_CASE("every text that code says has its German, and no German is left over") {
  const Language& german = words::language("de");
  std::set<std::string> there, literals, said;
  for (const Language::Entry& entry : german.entries())
    if (entry.key.starts_with("texts.")) there.insert(entry.english);
  static const std::regex call("\\b(tr|words::label)\\(");
  for (const fs::path& file : fixture::code_files()) {
    const std::string path = file.generic_string(), source = test::read_all(path);
    for (std::string& text : literals_of(source)) literals.insert(std::move(text));
    const bool shown = path.find("/app/") != path.npos || path.find("/platforms/") != path.npos;
    if (!shown || path.find("/words/") != path.npos) continue;
    for (std::sregex_iterator it(source.begin(), source.end(), call), end; it != end; ++it)
      for (std::string& text : said_at(source, static_cast<size_t>(it->position() + it->length())))
        said.insert(std::move(text));
  }
  for (const std::string& text : said)
    if (!text.empty() && !there.contains(text)) FAIL_CHECK("no German for: " << text);
  for (const std::string& text : there)
    if (!literals.contains(text)) FAIL_CHECK("nobody says: " << text);
  CHECK(said.size() > (NORMSCOPE_EVERY_ADDON ? 900 : 800));
}

/// What add-ons list in their files tests/german_readers, a path a line.
const std::string& shown_readers() {
  static const std::string readers = test::text_with_addons("", "tests/german_readers");
  return readers;
}

/// Whether a window can show what a file refuses: the rooms of the core that read files, settings and links, and what
/// add-ons list.
bool is_shown(const std::string& file) {
  static const std::regex rooms(
      "(app/(course|tex|link|shell|lessons|grid|settings|lab|panels|view|window)|engine/(core|io|model)|"
      "training/(data|files|io|run|session|spec))/.*");
  return std::regex_match(file, rooms) || shown_readers().find(file) != std::string::npos;
}

TEST_CASE("the readers that an add-on lists as shown are there") {
  std::istringstream readers(shown_readers());
  for (std::string file; std::getline(readers, file);)
    if (!file.empty() && !fs::is_regular_file(NORMSCOPE_SOURCE_DIR "/" + file))
      FAIL_CHECK("tests/german_readers: no such file: " << file);
}

TEST_CASE("every message that a window can show has its German, and no German is left over") {
  const Language& german = words::language("de");
  static const std::regex made(
      "\\b(fail|Message|Error|(refuse|unusable|fault|note|need)[a-z_]*)( [a-z_]+)?[({]"),
      words_of("[a-z]{2,} [a-z0-9{]|^[a-z]+ \\{|\\} [a-z]{2,}");
  std::set<std::string> literals, texts;
  for (const Language::Entry& entry : german.entries())
    if (entry.key.starts_with("texts.")) texts.insert(entry.english);
  size_t messages = 0;
  for (const fs::path& path : fixture::code_files()) {
    const std::string source = test::read_all(path.string()),
                      file = fs::relative(path, NORMSCOPE_SOURCE_DIR).generic_string();
    for (std::string& text : literals_of(source)) literals.insert(std::move(text));
    if (!is_shown(file)) continue;
    for (std::sregex_iterator it(source.begin(), source.end(), made), end; it != end; ++it)
      for (const std::string& text :
           said_at(source, static_cast<size_t>(it->position() + it->length()), true)) {
        if (!std::regex_search(text, words_of)) continue;
        ++messages;
        if (!german.phrase("errors", text) && !german.phrase("training", text) && !texts.contains(text))
          FAIL_CHECK(file << ": no German for: " << text);
      }
  }
  CHECK(messages > 500);
  std::string all;
  for (const std::string& text : literals) all += text + '\n';
  for (const Language::Entry& entry : german.entries()) {
    if (!entry.key.starts_with("errors.") || entry.key.starts_with("errors.system.")) continue;
    const words::Template text = words::entry_of(entry.english).forms.front().second;
    if (!literals.contains(entry.english) && !literals.contains(text.plain))
      FAIL_CHECK("nobody says: " << entry.english);
  }
  for (const Language::Entry& entry : german.entries()) {  // names and units are put together of words
    const std::string& text = entry.english;
    const size_t space = std::min(text.rfind(' '), text.size());
    if (entry.key.starts_with("training.") && all.find(text) == all.npos &&
        (all.find(text.substr(0, space)) == all.npos || all.find(text.substr(space)) == all.npos))
      FAIL_CHECK("nobody says: " << text);
  }
}

TEST_CASE("a row of a table of texts has its German") {
  const Language& german = words::language("de");
  std::set<std::string> there;
  for (const Language::Entry& entry : german.entries()) there.insert(entry.english);
  const auto check = [&](const char* text) {
    INFO(text);
    CHECK((!*text || there.contains(text)));
  };
  for (const Number* m : panels::metrics())
    for (const char* text :
         {m->label, m->by_layer, m->over_time, m->question, m->brief, m->note, m->axis, m->help})
      check(text);
  for (const panels::Panel& p : panels::panels()) {
    for (const char* text : {p.title, p.question, p.brief, p.axis, p.help, p.words}) check(text);
    for (const panels::PanelControl& own : p.controls)
      for (const char* text : {own.title, own.help, own.words}) check(text);
  }
}

TEST_CASE("every key that code asks for has words, and every key with words is asked for") {
  const WordKeys asked = asked_by_code();
  for (const std::string& missing : asked.missing) FAIL_CHECK("no words for " << missing);
  for (const Language::Entry& entry : words::language("en").entries()) {
    const bool used =
        asked.keys.contains(entry.key) || std::ranges::any_of(asked.patterns, [&](const std::regex& pattern) {
          return std::regex_match(entry.key, pattern);
        });
    INFO(entry.key);
    CHECK(used);
  }
}

TEST_CASE("the places of a text are given where it is said") {
  std::map<std::string, std::set<std::string>> places;
  for (const Language::Entry& entry : words::language("en").entries()) places[entry.key] = places_of(entry);
  for (const Language::Entry& entry : words::language("de").entries())
    if (entry.key.starts_with("texts.")) places[entry.english] = places_of(entry);
  static const std::regex given("\\{\\s*\"([a-z_]+)\","), in_python("\\b([a-z_]+)=");
  for (const fs::path& file : sources()) {
    const std::string source = test::read_all(file.string());
    std::set<std::string> names;
    const std::regex& place = file.extension() == ".py" ? in_python : given;
    for (std::sregex_iterator it(source.begin(), source.end(), place), end; it != end; ++it)
      names.insert((*it)[1].str());
    for (const std::string& text : literals_of(source)) {
      const auto at = places.find(text);
      if (at == places.end()) continue;
      for (const std::string& name : at->second) {
        INFO(file.filename().string() << ": " << text << " has the place {" << name << "}");
        CHECK(names.contains(name));
      }
    }
  }
}

TEST_CASE("a translation says what there is in English, with the same places") {
  const Language& english = words::language("en");
  std::map<std::string, std::set<std::string>> places;
  for (const Language::Entry& entry : english.entries()) places[entry.key] = places_of(entry);
  CHECK(words::languages() == std::vector<std::string>{"de"});
  for (const std::string& name : words::languages())
    for (const Language::Entry& entry : words::language(name).entries()) {
      INFO(name << " " << entry.key);
      if (entry.english.empty()) {
        REQUIRE(places.contains(entry.key));
        CHECK(places_of(entry) == places[entry.key]);
      } else {
        CHECK(places_of(entry) == places_of(words::entry_of(entry.english)));
      }
    }
}

TEST_CASE("a norm is the piece of the model: how large something is has another word") {
  // English: of the gradient, the state, a matrix. German: "Norm" is what a lecture calls ‖·‖, the piece is a
  // Normalisierung.
  const std::regex english(
      "(gradient|state|update|weight)s? norms?|norms? of (the (loss|gradient|step|weights)|∂)"),
      german("(^|[^-A-Za-zäöüß])Norm(en)?([^-A-Za-zäöüß]|$)");
  for (const std::string name : {"en", "de"})
    for (const Language::Entry& entry : words::language(name).entries()) {
      if (entry.key.ends_with(".words") || entry.key.starts_with("controls.other"))
        continue;  // to search for
      for (const auto& [form, text] : entry.forms) {
        std::string all;
        for (const words::Template::Piece& piece : text.pieces) all += piece.text + "{" + piece.place + "}";
        INFO(name << " " << entry.key << ": " << all);
        CHECK_FALSE(std::regex_search(all, name == "en" ? english : german));
        CHECK_FALSE(std::regex_search(entry.english, english));
      }
    }
}

TEST_CASE(
    "the files of words are those of assets/words and of the add-ons, and no key stands in them twice") {
  std::set<std::pair<std::string, std::string>> shipped, there;
  for (const words::WordFile& file : words::word_files()) shipped.emplace(file.path, file.text);
  std::vector<std::string> folders{"assets/words"};
  for (const std::string& folder : test::addon_folders()) folders.push_back(folder + "/words");
  for (const std::string& name : folders) {
    const fs::path folder = fs::path(NORMSCOPE_SOURCE_DIR) / name;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".toml")
        there.emplace(fs::relative(entry.path(), folder).generic_string(),
                      test::read_all(entry.path().string()));
  }
  CHECK(shipped.size() == there.size());
  CHECK((shipped == there));
  for (const std::string name : {"en", "de"}) {
    std::map<std::string, std::string> keys;
    for (const Language::Entry& entry : words::language(name).entries()) {
      INFO(entry.key);
      const std::string& text = entry.forms.front().second.plain;
      const auto [there, fresh] = keys.emplace(entry.key, text);
      const bool by_text = entry.key.starts_with("texts.") || entry.key.starts_with("errors.tag.");
      CHECK((fresh || (by_text && there->second == text)));  // two add-ons say it
    }
  }
}

TEST_CASE("places are filled by name, forms are chosen by the count, and what is missing is said as it is") {
  const Language english = made(
      "plain = \"a {{brace}}\"\nsome = \"{done} of {all} done\"\n"
      "[deep]\nruns = { one = \"{count} run of {name}\", other = \"{count} runs of {name}\" }\n");
  CHECK(english.say("t.plain") == "a {brace}");
  CHECK(english.say("t.some", {{"all", 12}, {"done", 3}}) == "3 of 12 done");
  CHECK(english.say("t.some", {{"done", "no"}}) == "no of {all} done");
  CHECK(english.say("t.deep.runs", {{"count", 1}, {"name", "A"}}) == "1 run of A");
  CHECK(english.say("t.deep.runs", {{"count", 0}, {"name", "A"}}) == "0 runs of A");
  CHECK(english.say("t.nothing") == "t.nothing");
  CHECK(english.say("t.nothing", {{"done", 3}}) == "t.nothing");
  CHECK(english.find("t.nothing") == nullptr);
  CHECK(english.below("t") == std::vector<std::string_view>{"plain", "some", "deep"});
  const Language polish = made(
      "[deep]\nruns = { one = \"{count} bieg {name}\", few = \"{count} biegi {name}\", "
      "other = \"{count} biegów {name}\" }\n",
      "pl", &english);
  CHECK(polish.say("t.deep.runs", {{"count", 3}, {"name", "A"}}) == "3 biegi A");
  CHECK(polish.say("t.deep.runs", {{"count", 13}, {"name", "A"}}) == "13 biegów A");
  CHECK(polish.say("t.some", {{"all", 2}, {"done", 1}}) == "1 of 2 done");
  CHECK(polish.below("t").size() == 3);
}

TEST_CASE("a text is found by its English one, and said as it is where it has no other") {
  Language german("de");
  german.read(
      "\"{count} run | {count} runs\" = { one = \"{count} Lauf\", other = \"{count} Läufe\" }\n"
      "\"open##verb\" = \"öffnen\"\n\"{a} of {b}\" = \"{b} hat {a}\"\n",
      "texts.toml", "texts");
  CHECK(german.tr("{count} run | {count} runs", {{"count", 1}}) == "1 Lauf");
  CHECK(german.tr("{count} run | {count} runs", {{"count", 2}}) == "2 Läufe");
  CHECK(german.tr("open##verb") == "öffnen");
  CHECK(german.tr("open") == "open");
  CHECK(german.tr("{a} of {b}", {{"b", 5}, {"a", 2}}) == "5 hat 2");
  CHECK(german.tr("expected # or ##") == "expected # or ##");
  CHECK(german.tr("|x| = {length}", {{"length", 3}}) == "|x| = 3");
  CHECK(german.tr("{{done}}") == "{done}");
  const Language& english = words::language("en");
  CHECK(english.tr("{count} run | {count} runs", {{"count", 1}}) == "1 run");
  CHECK(english.tr("{count} run | {count} runs", {{"count", 0}}) == "0 runs");
  CHECK(english.tr("open##verb") == "open");
}

TEST_CASE("a message is its English text, and is said by its format, with what stands in its places") {
  Language german("de", &words::language("en"));
  german.read(
      "\"{} is {}: expected {} to {:.1f}\" = \"erwartet {2} bis {3}: {0} ist {1}\"\n\"a folder\" = \"ein Ordner\"\n"
      "\"{{{}}} of {}\" = \"{{{}}} von {}\"\n",
      "errors.toml", "errors");
  const Message range("{} is {}: expected {} to {:.1f}", "x", Message("a folder"), 1, 2.25);
  CHECK(range == "x is a folder: expected 1 to 2.2");
  CHECK(words::spoken(range, german) == "erwartet 1 bis 2.2: x ist ein Ordner");
  CHECK(words::spoken({"lab.toml:{}: {}", 3, range}, german) ==
        "lab.toml:3: erwartet 1 bis 2.2: x ist ein Ordner");
  CHECK(words::spoken({"{{{}}} of {}", "a", 2}, german) == "{a} von 2");
  CHECK(words::spoken("a folder is here", german) == "a folder is here");
  try {
    fail({"session {}", "x"}, "is {}", Message("a folder"));
  } catch (const Error& error) {
    CHECK(error.what() == std::string("[session x] is a folder"));
    CHECK(where_of(error.message) == "session x");
    CHECK(without_where(error.message) == "is a folder");
    CHECK(without_where(error.message).places.front() == "a folder");
  }
  const Message cut = on_one_line({"{}: {}", "a\nb", std::string(9, 'x')}, 6);
  CHECK(cut == "a b: x...");
  CHECK(cut.places.back() == "xxxxxx...");
}

TEST_CASE("languages count in their own forms") {
  CHECK(words::form_of("de", 1) == Form::One);
  CHECK(words::form_of("de", 0) == Form::Other);
  CHECK(words::form_of("fr", 0) == Form::One);
  CHECK(words::form_of("pt-BR", 1) == Form::One);
  CHECK(words::form_of("ja", 1) == Form::Other);
  CHECK(words::form_of("cs", 4) == Form::Few);
  CHECK(words::form_of("cs", 22) == Form::Other);
  CHECK(words::form_of("ru", 21) == Form::One);
  CHECK(words::form_of("ru", 11) == Form::Many);
  CHECK(words::form_of("ru", 102) == Form::Few);
  CHECK(words::form_of("pl", 21) == Form::Many);
}

TEST_CASE("a broken file of words is refused with its line") {
  CHECK_THROWS_WITH(made("\na = [1]"), Catch::Contains("t.toml:2: [t.a] is no text"));
  CHECK_THROWS_WITH(made("a = \"\""), Catch::Contains("t.toml:1: [t.a] is no text"));
  CHECK_THROWS_WITH(made("a = \"x {Done}\""), Catch::Contains("has a brace that opens no {place}"));
  CHECK_THROWS_WITH(made("a = \"x }\""), Catch::Contains("has a brace that opens no {place}"));
  CHECK_THROWS_WITH(made("a = { one = \"x\", few = \"y\" }"),
                    Catch::Contains("has no form for other numbers"));
  CHECK(made("a = { other = \"x\", two = \"y\" }").say("t.a.two") == "y");
}

}  // namespace normscope::test_words
