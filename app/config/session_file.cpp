#include "app/config/session_file.h"

#include "engine/core/error.h"

namespace normscope {

std::vector<ConfigRun> session_of(const LabView& view) {
  std::vector<ConfigRun> runs;
  for (const RunView& run : view.runs)
    runs.push_back({run.letter, run.origin ? *run.origin : *run.spec, run.edits});
  return runs;
}

std::vector<RunSpec> session_runs(const std::vector<ConfigRun>& runs) {
  std::vector<RunSpec> specs;
  for (const ConfigRun& run : runs) {
    if (!run.edits.empty())
      fail("run.edits", "run {} was edited: only normscope train replays edits", run.letter);
    specs.push_back(run.spec);
  }
  return specs;
}

}  // namespace normscope
