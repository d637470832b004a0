// A study file is a question that sweeps answer together: studies/NAME.toml, a part of it for each grid. `normscope study
// NAME` trains what its parts need and writes one page; `normscope zoo` is such a study with options. The commands and
// the tests call it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addons/sweep/app/sweep_writers.h"

namespace normscope::sweep {

struct StudyFile {
  std::string name, file;  ///< "streams", and where it was read
  std::string title, question;
  std::vector<std::string> sources;
  std::vector<std::string> found;  ///< what its full run has shown, in sentences with their setting
  std::vector<Plan> parts;
};

std::string studies_folder();
/// The names of the studies in a folder, in alphabetical order.
std::vector<std::string> study_names(const std::string& folder);
/// Throws Error naming file, line and key; `read_study` also for a name that is none in the folder.
StudyFile parse_study(std::string_view text, const std::string& file);
StudyFile read_study(const std::string& folder, std::string_view name);
/// The same with one seed in each cell.
StudyFile quick(StudyFile study);

/// What is trained and measured, one part after the other, and `grids_of` what came of it.
experiments::Study study_of(const StudyFile& study);
std::vector<Grid> grids_of(const StudyFile& study, const experiments::StudyResults& results);
/// "NAME-PART.svg", of the measured number "NAME-PART-measured.svg".
std::string picture_name(const StudyFile& study, const Plan& part, Metric metric);

std::string to_text(const StudyFile& study, const std::vector<Grid>& grids);
nlohmann::json to_json(const StudyFile& study, const std::vector<Grid>& grids);
std::string to_csv(const std::vector<Grid>& grids);
/// Writes the page; `with_pictures`: they lie beside it.
std::string to_markdown(const StudyFile& study, const std::vector<Grid>& grids, bool with_pictures,
                        const std::string& command);

}  // namespace normscope::sweep
