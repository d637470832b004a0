#include "training/files/session_file.h"

namespace normscope {

std::vector<ConfigRun> session_of(const LabView& view) {
  std::vector<ConfigRun> runs;
  for (const RunView& run : view.runs) {
    runs.push_back({run.letter, run.origin ? *run.origin : *run.spec, run.edits});
    runs.back().edits.insert(runs.back().edits.end(), run.scheduled.begin(), run.scheduled.end());
  }
  return runs;
}

session::ReplaceRuns replacing(const std::vector<ConfigRun>& runs, bool play) {
  session::ReplaceRuns command{.runs = {}, .play = play};
  for (const ConfigRun& run : runs) {
    command.runs.push_back(run.spec);
    command.edits.push_back(run.edits);
    command.letters += run.letter;
  }
  if (!command.letters.starts_with('A')) command.letters.clear();
  return command;
}

}  // namespace normscope
