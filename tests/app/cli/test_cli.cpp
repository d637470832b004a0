// These tests use the command line as a user does: exit codes, one-line errors, help.
#include <fmt/ranges.h>

#include <cmath>
#include <regex>

#include "app/cli/build_facts.h"
#include "app/support/commands.h"
#include "engine/cpu/isa.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("commands: outputs", "[listing]") { check_commands("outputs"); }

TEST_CASE("commands: help, exit codes, runs, interrupts, scripts", "[listing]") {
  check_commands("command-line");
}

TEST_CASE("version") {
  const Outcome version = run_program("--version");
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("normscope " NORMSCOPE_VERSION "\ncommit: "));
  CHECK(contains(version.out, "\ncompiler: " + cli::compiler() + ", "));
  std::string kernels;  // as the engine that this test is linked with has them, best first
  for (const std::string& isa : cpu::compiled_isas()) kernels += (kernels.empty() ? "" : ", ") + isa;
  CHECK(contains(version.out, "\nkernels: " + kernels + "\n"));
  for (const std::string& isa : cpu::available_isas()) CHECK(contains(kernels, isa));
  const bool cuda = std::filesystem::exists(std::filesystem::path(NORMSCOPE_PROGRAM).parent_path() /
                                            "libnormscope_cuda.so");
  CHECK(contains(version.out, cuda ? "\nCUDA backend: CUDA " : "\nCUDA backend: no\n"));
  CHECK((version.out.ends_with("\nSentencePiece: yes\n") || version.out.ends_with("\nSentencePiece: no\n")));
}

TEST_CASE("every field of a configuration is documented") {
  const std::string text = read_all(NORMSCOPE_SOURCE_DIR "/docs/configuration.md");
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    const size_t row = text.find("| `" + std::string(field.key) + "` |");
    REQUIRE(row != std::string::npos);
    const std::string said = text.substr(row, text.find('\n', row) - row);
    if (field.choices.empty()) continue;
    // Catches a choice (an activation, an optimizer, ...) that the manual does not name.
    if (NORMSCOPE_EVERY_ADDON) CHECK(contains(said, fmt::format(" {} |", fmt::join(field.choices, ", "))));
    for (const auto& choice : field.choices) CHECK(contains(said, std::string(choice)));
  }
}

TEST_CASE("every number of a configuration has the range that the manual prints, and both of its ends") {
  const std::string text = read_all(NORMSCOPE_SOURCE_DIR "/docs/configuration.md");
  for (const Field& field : spec_fields()) {
    if (field.type != FieldType::Integer && field.type != FieldType::Real) continue;
    const std::string key(field.key);
    INFO(key);
    const std::regex row("\\| `" + std::regex_replace(key, std::regex("\\."), "\\.") +
                         R"(` \| [^|]* \| (int )?(-?[0-9.e+-]+)…(-?[0-9.e+-]+) \|)");
    std::smatch range;
    REQUIRE(std::regex_search(text, range, row));
    CHECK(range[1].matched == (field.type == FieldType::Integer));
    const std::string low = range[2], high = range[3];
    CHECK(std::stod(low) == field.low);
    CHECK(std::stod(high) == field.high);
    RunSpec spec;
    for (const std::string& end : {low, high}) CHECK_NOTHROW(set_field(spec, key, end));
    // The next number beyond each end, in the precision of the field.
    const bool whole = field.type == FieldType::Integer;
    const auto beyond = [&](const std::string& end, int side) {
      if (whole) return std::to_string(std::stoll(end) + side);
      return fmt::format("{:.9g}", std::nextafter(std::stof(end), static_cast<float>(side) * INFINITY));
    };
    CHECK_THROWS_WITH(set_field(spec, key, beyond(low, -1)), Catch::Contains("is out of range"));
    CHECK_THROWS_WITH(set_field(spec, key, beyond(high, 1)), Catch::Contains("is out of range"));
  }
}
