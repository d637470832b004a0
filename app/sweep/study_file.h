// A study file is a question that sweeps answer together: studies/NAME.toml, a part of it for each grid. `normscope study
// NAME` trains what its parts need and writes one page. The command and the tests call it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/sweep_writers.h"

namespace normscope::sweep {

/// `StudyPart` is one grid of a study, with what its cells show.
struct StudyPart {
  std::string name, title;
  Metric metric = Metric::Loss;
  Plan plan;
};

struct StudyFile {
  std::string name, file;  ///< "streams", and where it was read
  std::string title, question;
  std::vector<std::string> sources;
  std::vector<std::string> found;  ///< what its full run has shown, in sentences with their setting
  std::vector<StudyPart> parts;
};

std::string studies_folder();
/// `study_names` are those of the files in a folder, in alphabetical order.
std::vector<std::string> study_names(const std::string& folder);
/// `parse_study` throws Error naming file, line and key; `read_study` also for a name that is none in the folder.
StudyFile parse_study(std::string_view text, const std::string& file);
StudyFile read_study(const std::string& folder, std::string_view name);
/// `quick` is the same with one seed in each cell.
StudyFile quick(StudyFile study);

/// `jobs_of` are those of all parts, one part after the other, and `grids_of` the parts' grids again.
std::vector<Job> jobs_of(const StudyFile& study);
std::vector<Grid> grids_of(const StudyFile& study, const std::vector<Job>& jobs,
                           const std::vector<std::optional<Record>>& records);

std::string to_text(const StudyFile& study, const std::vector<Grid>& grids);
nlohmann::json to_json(const StudyFile& study, const std::vector<Grid>& grids);
std::string to_csv(const StudyFile& study, const std::vector<Grid>& grids);
/// `to_markdown` writes the page; `pictures` are the paths of the parts' pictures as seen from it, or empty.
std::string to_markdown(const StudyFile& study, const std::vector<Grid>& grids,
                        const std::vector<std::string>& pictures, const std::string& command);

}  // namespace normscope::sweep
