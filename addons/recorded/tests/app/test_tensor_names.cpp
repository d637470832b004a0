// These tests read names of other people's models: each family's own, what no rule knows, and the mapping file.

#include <regex>

#include "addons/recorded/training/tensor_names.h"
#include "answers.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "test_paths.h"

namespace normscope::records {
using test::error_of;

namespace {

/// The texts in quotes that match a pattern.
std::set<std::string> quoted(const std::string& source, const char* pattern) {
  const std::regex text(std::string("\"(") + pattern + ")\"");
  std::set<std::string> all;
  for (std::sregex_iterator it(source.begin(), source.end(), text), end; it != end; ++it)
    all.insert(it->str(1));
  return all;
}

}  // namespace

TEST_CASE("names: what the Python package may write is read here, and it writes nothing else") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/recorded/python/normscope/",
                    table = test::read_all(folder + "_names.py");
  const std::set<std::string> outside = quoted(table, "[a-z]+\\.[a-z]+"), sublayers = quoted(table, "[a-z]+");
  CHECK(outside.contains("out.b"));
  for (const std::string& name : outside) {
    INFO(name);
    CHECK(parse_own_name(name).known());
    CHECK_NOTHROW(name_rule("theirs", name));
  }
  CHECK(sublayers == std::set<std::string>{"attn", "cross", "ffn"});
  for (const std::string& kind : sublayers) CHECK(parse_own_name("enc.L01." + kind + ".before.gain").known());
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".py")
      for (const std::string& name :
           quoted(test::read_all(file.path()), "(?:emb|out|final|class)\\.[a-z.]+")) {
        INFO(file.path() << ": " << name);
        CHECK(outside.contains(name));
      }
}

TEST_CASE("names: each has the engine's name, or none", "[listing]") {
  std::string rules;
  test::check_answers("tensor-names", [&](const std::string& line) -> std::string {
    const auto [verb, theirs] = test::verb_and_rest(line);
    if (verb == "mapping") {  // another rule, or none any more
      rules = theirs.empty() ? "" : rules + theirs + "\n";
      return "";
    }
    const TensorName name = resolve(theirs, verb.starts_with("output") ? NameOf::Output : NameOf::Parameter,
                                    rules.empty() ? NameMapping{} : parse_name_mapping(rules, "m.toml"));
    if (!name.known()) return name.layer > 0 ? fmt::format("unknown, of layer {}", name.layer) : "unknown";
    return engine_name(name, verb == "both" || verb == "outputs") + (name.output ? ", an output" : "");
  });
}

TEST_CASE("names: a mapping that is wrong is refused with its line") {
  const auto says = [](const std::string& text) {
    return error_of([&] { parse_name_mapping("# names\n" + text, "m.toml"); });
  };
  CHECK(says("\"a.{layer}\" = \"L{layer}.attn.query\"") == "no error");
  for (const std::vector<std::string>& row : test::refusals("name-mapping")) CHECK(says(row[0]) == row[1]);
  CHECK(test::contains(says("\"a\" ="), "m.toml:2: not valid TOML"));
  CHECK(test::contains(error_of([] { read_name_mapping("/nowhere/m.toml"); }), "/nowhere/m.toml"));
}

}  // namespace normscope::records
