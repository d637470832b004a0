// What follows --edit and --set, one argument a line, on the three runs of the default comparison.
#include "fuzz.h"
#include "training/files/command_text.h"
#include "training/spec/spec.h"

using namespace normscope;

FUZZ_TARGET(edits) {
  std::vector<ConfigRun> runs;
  for (const char letter : {'A', 'B', 'C'}) runs.push_back({letter, RunSpec(), {}});
  for (int lines = 0; lines < 20 && !input.empty(); ++lines) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    fuzz::accepts([&] { apply_set(runs, line); });
    fuzz::accepts([&] { apply_edit(runs, line); });
  }
  static const RunSpec untouched;
  for (const ConfigRun& run : runs) {
    if (run.spec == untouched) continue;  // every line was refused
    const bool valid = fuzz::accepts([&] { validate(run.spec); });
    RunSpec again;
    // What was taken is said again in the same words, and taken again.
    if (valid)
      for (const auto& [key, value] : field_values(run.spec)) set_field(again, key, value);
    fuzz::require(!valid || again == run.spec,
                  "a specification is another one after its way to text and back");
  }
}
