// The page docs/coverage.md lists what the sources state, where the program has it, and what became of it. Its verdicts
// are those of the recorded numbers, and no claim is missing.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "addons/papers/app/reproduce/claim_reader.h"
#include "addons/papers/app/reproduce/finding.h"
#include "addons/papers/app/reproduce/recorded.h"
#include "catch.hpp"
#include "test_paths.h"

namespace normscope::test_coverage {
namespace {

using namespace reproduce;

/// The verdict of each claim by its id, as the page of reproductions has it.
std::map<std::string, std::string> verdicts_of(const Claims& all) {
  const RecordedClaims recorded = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/papers/claims/recorded.json");
  std::map<std::string, std::string> verdicts;
  for (const Claim& claim : all.claims) {
    const auto outcome = judge_recorded(claim, claim.seeds, recorded);
    verdicts[claim.id] = outcome ? verdict_of(*outcome) : to_string(Finding::Beyond);
  }
  return verdicts;
}

}  // namespace

TEST_CASE(
    "coverage: a statement has the verdicts of the claims that stand beside it, and every claim stands there") {
  const std::map<std::string, std::string> verdicts =
      verdicts_of(read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims"));
  static const std::regex row(R"(\| (.+) \| (.+) \| (.+) \|)"), quoted("`([^`]+)`");
  std::set<std::string> missing;
  for (const auto& [id, verdict] : verdicts) missing.insert(id);
  std::ifstream page(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/coverage.md");
  size_t rows = 0;
  std::smatch cells;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, cells, row) || cells[1] == "statement") continue;
    INFO(line);
    ++rows;
    std::string expected;
    const std::string where = cells[2];
    for (std::sregex_iterator at(where.begin(), where.end(), quoted), end; at != end; ++at) {
      const auto claim = verdicts.find((*at)[1]);
      if (claim == verdicts.end()) continue;
      expected += (expected.empty() ? "" : "; ") + claim->second;
      missing.erase(claim->first);
    }
    CHECK(cells[3] == (expected.empty() ? "–" : expected));
  }
  CHECK(rows > verdicts.size() / 2);
  CHECK(missing == std::set<std::string>{});
}

}  // namespace normscope::test_coverage
