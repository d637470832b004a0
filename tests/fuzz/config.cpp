// A configuration: what is accepted is written and read back equal.
#include "fuzz.h"
#include "training/files/config_file.h"

using namespace normscope;

FUZZ_TARGET(config) {
  std::vector<ConfigRun> runs;
  if (!fuzz::accepts([&] { runs = parse_config(input, "fuzz.toml"); })) return;
  const std::vector<ConfigRun> again = parse_config(write_config(runs), "written.toml");
  fuzz::require(again.size() == runs.size(), "a configuration lost runs on its way to a file and back");
  for (size_t i = 0; i < runs.size(); ++i)
    fuzz::require(
        again[i].letter == runs[i].letter && again[i].spec == runs[i].spec && again[i].edits == runs[i].edits,
        "a run is another one after its way to a file and back");
}
