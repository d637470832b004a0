#include "app/files/session_file.h"

namespace normscope {

std::vector<ConfigRun> session_of(const LabView& view) {
  std::vector<ConfigRun> runs;
  for (const RunView& run : view.runs)
    runs.push_back({run.letter, run.origin ? *run.origin : *run.spec, run.edits});
  return runs;
}

std::vector<RunSpec> session_runs(const std::vector<ConfigRun>& runs) {
  std::vector<RunSpec> specs;
  for (const ConfigRun& run : runs) specs.push_back(run.spec);
  return specs;
}

std::vector<std::vector<Edit>> session_edits(const std::vector<ConfigRun>& runs) {
  std::vector<std::vector<Edit>> edits;
  for (const ConfigRun& run : runs) edits.push_back(run.edits);
  return edits;
}

std::string session_letters(const std::vector<ConfigRun>& runs) {
  std::string letters;
  for (const ConfigRun& run : runs) letters += run.letter;
  return letters.starts_with('A') ? letters : "";
}

}  // namespace normscope
