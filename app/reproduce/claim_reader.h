// Reads claims from claims/PAPER/ID.toml (claims/README.md). Errors say file, line, key, what stands there and what was
// expected, as those of lessons do. A broken claim does not stop the others. Called by the command and the tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/reproduce/claim.h"

namespace normscope::reproduce {

/// `pairs`: the folder of the sentence pairs that runs name (data.pairs, data.valid); empty: there is none. Where a file is
/// missing there, [made_up.NAME] stands for [run.NAME]. Throws Error.
Claim read_claim(const std::string& file, const std::string& pairs = {});
/// The same from memory; `file` stands for it.
Claim parse_claim(std::string_view toml, const std::string& file, const std::string& pairs = {});

/// What is measured for that kind of line, when line.y is not among it; empty when it is.
std::string unknown_number(const Line& line);

struct BrokenClaim {
  std::string file, error;
};
struct Claims {
  std::vector<Claim> claims;  ///< by folder, then by file
  std::vector<BrokenClaim> broken;
  const Claim* find(std::string_view id) const;
};
/// Every FOLDER/PAPER/ID.toml. A folder that cannot be read gives no claims and one entry in broken.
Claims read_claims(const std::string& folder, const std::string& pairs = {});

/// The folder claims/ beside the program, or that of the sources; NORMSCOPE_CLAIMS overrides both.
std::string claims_folder();

}  // namespace normscope::reproduce
