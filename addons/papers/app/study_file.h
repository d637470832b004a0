// A study file, studies/NAME.toml, asks a question that several sweeps answer together, one part for each grid.
// `normscope study NAME` trains what its parts need and writes one page; `normscope zoo` is such a study with options.
// The commands and the tests call it.
#pragma once

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
/// Throws Error for a name that the folder does not have.
void require_study(const std::string& folder, std::string_view name);
/// Throws Error naming file, line and key; `read_study` also as require_study() does.
StudyFile parse_study(std::string_view text, const std::string& file);
StudyFile read_study(const std::string& folder, std::string_view name);
/// The same with one seed in each cell.
StudyFile quick(StudyFile study);

/// All runs and measurements, one part after the other; and the results as a grid for each part.
experiments::Study study_of(const StudyFile& study);
std::vector<Grid> grids_of(const StudyFile& study, const experiments::StudyResults& results);
/// "NAME-PART.svg", of the measured number "NAME-PART-measured.svg".
std::string picture_name(const StudyFile& study, const Plan& part, Metric metric);

std::string to_text(const StudyFile& study, const std::vector<Grid>& grids);
nlohmann::json to_json(const StudyFile& study, const std::vector<Grid>& grids);
std::string to_csv(const std::vector<Grid>& grids);
/// Writes the page; `with_pictures`: with links to the pictures next to it.
std::string to_markdown(const StudyFile& study, const std::vector<Grid>& grids, bool with_pictures,
                        const std::string& command);

}  // namespace normscope::sweep

// The zoo is the study of studies/zoo.toml, limited to the rows, depths and settings of a Choice, with the user's own
// placements as further rows. The command and the tests call it.

namespace normscope::zoo {

struct Choice {
  std::string only{};  ///< names of rows and parts, with commas; empty: all
  std::vector<int32_t> depths = {6};
  int32_t seeds = 3;
  int32_t steps = 0, warmup = 0;   ///< 0: as the file has them
  std::vector<std::string> set{};  ///< on the model that the rows change
};

/// Beyond eight layers the rate is 1e-3 over 400 steps, as at 3e-3 no deep Post-LN learns, whatever is on its skip
/// path; and unless `only` names some, it has only the rows of the question of depth. Parts of another network have a
/// depth of their own. Throws an Error that lists the names.
sweep::StudyFile study_of(const Choice& choice, const std::vector<sweep::Bundle>& own = {});

/// The placements that the user added as files (training/files/placement_file.h), an entry each.
std::vector<sweep::Bundle> own_placements();

}  // namespace normscope::zoo
