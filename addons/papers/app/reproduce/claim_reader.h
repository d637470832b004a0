// The claim reader reads claims from claims/PAPER/ID.toml (claims/README.md). Errors name file, line, key, the value
// found and what was expected, as errors of lessons do. A broken claim does not stop the others. The command and the
// tests call it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addons/papers/app/reproduce/claim.h"

namespace normscope::reproduce {

/// Reads one file. `pairs` is the folder of the sentence pairs that runs name (data.pairs, data.valid);
/// empty: there is none. Where a file is missing there, [made_up.NAME] replaces [run.NAME]. Throws Error.
Claim read_claim(const std::string& file, const std::string& pairs = {});
/// `parse_claim` does the same from memory; `file` is the name for messages.
Claim parse_claim(std::string_view toml, const std::string& file, const std::string& pairs = {});

/// Lists what can be measured for the line's kind, when line.y is not among it; it is empty when it
/// is.
std::string unknown_number(const Line& line);

struct BrokenClaim {
  std::string file, error;
};
struct Claims {
  std::vector<Claim> claims;  ///< by folder, then by file
  std::vector<BrokenClaim> broken;
  const Claim* find(std::string_view id) const;
};
/// Reads every FOLDER/PAPER/ID.toml. A folder that cannot be read gives no claims and one entry in
/// `broken`.
Claims read_claims(const std::string& folder, const std::string& pairs = {});

/// Claims/ beside the program, or that of the sources; NORMSCOPE_CLAIMS overrides both.
std::string claims_folder();

}  // namespace normscope::reproduce
