// What the window says is data: every key that code asks for is in assets/words, every key there is asked for, and a
// translation has the places of the English text.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "addons.h"
#include "app/support/program.h"
#include "app/ui/widgets.h"
#include "app/view/screen.h"
#include "app/words/word_files.h"
#include "app/words/words.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "test_paths.h"

namespace normscope::test_words {
namespace fs = std::filesystem;
using words::Form;
using words::Language;

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

/// The texts between quotes of a source file, adjacent ones joined.
std::vector<std::string> literals_of(const std::string& source) {
  std::vector<std::string> found;
  static const std::regex literal("\"((?:[^\"\\\\\\n]|\\\\.)*)\"");
  for (std::sregex_iterator it(source.begin(), source.end(), literal), end; it != end; ++it)
    found.push_back((*it)[1].str());
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

struct Asked {
  std::set<std::string> keys;
  std::vector<std::regex> patterns;  ///< of keys that code puts together
  std::vector<std::string> missing;  ///< "FILE: key"
};

/// The literals that begin with a words file's name. "{}" in one stands for every key that fits.
Asked asked_by_code() {
  const Language& english = words::language("en");
  std::set<std::string> rooms;
  for (const Language::Entry& entry : english.entries())
    rooms.insert(entry.key.substr(0, entry.key.find('.')));
  const std::set<std::string> files{"toml", "json", "jsonl", "csv", "svg", "png", "html"};
  Asked asked;
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

TEST_CASE("every key that code asks for has words, and every key with words is asked for") {
  const Asked asked = asked_by_code();
  for (const std::string& missing : asked.missing) FAIL_CHECK("no words for " << missing);
  for (const Language::Entry& entry : words::language("en").entries()) {
    const bool used =
        entry.key.starts_with("training.said.") ||     // found by their text: words::spoken
        entry.key.starts_with("training.refused.") ||  // and words::refused
        entry.key.starts_with("errors.") ||            // and words::error
        asked.keys.contains(entry.key) ||
        std::any_of(asked.patterns.begin(), asked.patterns.end(),
                    [&](const std::regex& pattern) { return std::regex_match(entry.key, pattern); });
    INFO(entry.key);
    CHECK(used);
  }
  CHECK(asked.keys.size() > 60);
}

TEST_CASE("the places of a text are given where it is said") {
  std::map<std::string, std::set<std::string>> places;
  for (const Language::Entry& entry : words::language("en").entries()) places[entry.key] = places_of(entry);
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
      REQUIRE(places.contains(entry.key));
      CHECK(places_of(entry) == places[entry.key]);
    }
}

TEST_CASE("a norm is the piece of the model: how large something is has another word") {
  // English: of the gradient, the state, a matrix. German: "Norm" is what a lecture calls ‖·‖, the piece is a Normalisierung.
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
    std::set<std::string> keys;
    for (const Language::Entry& entry : words::language(name).entries()) {
      INFO(entry.key);
      CHECK(keys.insert(entry.key).second);
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
